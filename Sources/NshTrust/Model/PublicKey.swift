/// An Ed25519 public key: 32 bytes, compared whole.
///
/// Holding one says nothing about the point that the bytes encode; signatures by a bad point never verify, and
/// `PinnedRoots` refuses one at the door.
///
/// - Spec: KEY-1
package struct PublicKey: Hashable, Comparable, Sendable {
    private let storage: Bytes32

    /// Makes a key, or nil unless there are exactly 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let storage = Bytes32(bytes) else { return nil }
        self.storage = storage
    }

    /// Reads canonical base64 of 32 bytes; nil for anything else.
    package init?(base64: some Collection<UInt8>) {
        guard let bytes = Base64.decode(base64) else { return nil }
        self.init(bytes)
    }

    /// Reads the content of a `.pub` file: base64 of 32 bytes with at most one newline after it.
    package init?(fileContent: some BidirectionalCollection<UInt8>) {
        let text = fileContent.last == 0x0A ? fileContent.dropLast() : fileContent.dropLast(0)
        self.init(base64: Array(text))
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { storage.bytes }

    /// The canonical base64 text, 44 characters.
    package var base64: String { Base64.encode(bytes) }

    /// Orders as the bytes do.
    package static func < (left: PublicKey, right: PublicKey) -> Bool { left.storage < right.storage }
}
