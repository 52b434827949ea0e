/// A SHA-256 digest: of a package header, of `SHA256SUMS`, of a public key.
///
/// Decisions always compare the whole digest.
///
/// - Spec: KEY-10, PKG-16
package struct Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let storage: Bytes32

    /// Thirty-two zero bytes: stands where a digest goes until it is known; nothing hashes to it.
    package static let zero = Digest(storage: .zero)

    private init(storage: Bytes32) { self.storage = storage }

    /// Makes a digest, or nil unless there are exactly 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let storage = Bytes32(bytes) else { return nil }
        self.storage = storage
    }

    /// Makes a digest of 32 bytes that lie in memory; nil for any other number.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let storage = Bytes32(bytes) else { return nil }
        self.storage = storage
    }

    /// Reads 64 lower-case hex digits; nil for anything else.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex.utf8, count: 32) else { return nil }
        self.init(bytes)
    }

    /// Reads 64 ASCII digits of lower-case hex out of many bytes, the quick way; nil for anything else.
    package init?(hexDigits digits: UnsafeRawBufferPointer) {
        guard let storage = Bytes32(hexDigits: digits) else { return nil }
        self.storage = storage
    }

    /// The digests that stand one behind the other; what is left behind the last whole one is none.
    package static func each(in bytes: [UInt8]) -> [Digest] {
        var digests: [Digest] = []
        digests.reserveCapacity(bytes.count / 32)
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, through: bytes.count - 32, by: 32) {
                guard let digest = Digest(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 32)])) else { return }
                digests.append(digest)
            }
        }
        return digests
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { storage.bytes }

    /// Appends the 64 lower-case hex digits to ASCII text.
    package func appendHex(to text: inout [UInt8]) { storage.appendHex(to: &text) }

    /// The 64 lower-case hex digits.
    package var hex: String { Hex.encode(bytes) }

    /// Tells whether 64 ASCII digits are the digest in lower-case hex, without making text of it.
    package func hasHex(_ digits: UnsafeRawBufferPointer) -> Bool { storage.hasHex(digits) }

    /// The first eight bytes as a number, by which digests are ordered first.
    package var prefix: UInt64 { storage.prefix }

    /// A number that spreads digests evenly; not one that an attacker could not choose.
    package var shardNumber: UInt64 { storage.prefix }

    /// The first 16 hex digits: a hint for people, never compared.
    package var shortHex: String { Hex.encode(bytes.prefix(8)) }

    /// The 64 lower-case hex digits.
    package var description: String { hex }

    /// Orders as the bytes do.
    package static func < (left: Digest, right: Digest) -> Bool { left.storage < right.storage }
}
