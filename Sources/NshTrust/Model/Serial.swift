/// A certificate's serial: 16 random bytes, written as 32 lower-case hex digits.
///
/// - Spec: CRT-5
package struct Serial: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Makes a serial, or nil unless there are exactly 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 lower-case hex digits; nil for anything else.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex.utf8, count: 16) else { return nil }
        self.bytes = bytes
    }

    /// The 32 lower-case hex digits.
    package var hex: String { Hex.encode(bytes) }

    /// The 32 lower-case hex digits.
    package var description: String { hex }
}
