/// A certificate's serial: 16 random bytes, written as 32 lower-case hex digits, held inline and ordered as bytes.
///
/// - Spec: CRT-5
package struct Serial: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Makes a serial, or nil unless there are exactly 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads 32 ASCII digits of lower-case hex out of many bytes; nil for anything else.
    package init?(hexDigits digits: UnsafeRawBufferPointer) {
        guard digits.count == 32, let high = Hex.word(digits, at: 0), let low = Hex.word(digits, at: 16) else {
            return nil
        }
        self.high = high
        self.low = low
    }

    /// Reads 32 lower-case hex digits; nil for anything else.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex.utf8, count: 16) else { return nil }
        self.init(bytes)
    }

    /// The first eight bytes as a number, by which serials are ordered first.
    package var prefix: UInt64 { high }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// The 32 lower-case hex digits.
    package var hex: String { Hex.encode(bytes) }

    /// The 32 lower-case hex digits.
    package var description: String { hex }

    /// Orders as the bytes do.
    package static func < (left: Serial, right: Serial) -> Bool { (left.high, left.low) < (right.high, right.low) }
}
