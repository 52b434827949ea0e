/// Thirty-two bytes held inline, ordered as bytes: the storage of digests and keys.
package struct Bytes32: Hashable, Comparable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Thirty-two zero bytes.
    package static let zero = Bytes32(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// Makes the value, or nil unless there are exactly 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var iterator = bytes.makeIterator()
        func word() -> UInt64 {
            var value: UInt64 = 0
            for _ in 0..<8 { value = value << 8 | UInt64(iterator.next() ?? 0) }
            return value
        }
        words = (word(), word(), word(), word())
    }

    /// Makes the value of 32 bytes that lie in memory; nil for any other number.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        func word(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        words = (word(0), word(8), word(16), word(24))
    }

    /// Reads 64 ASCII digits of lower-case hex without making anything else of them; nil for anything else.
    package init?(hexDigits digits: UnsafeRawBufferPointer) {
        guard digits.count == 64, let first = Hex.word(digits, at: 0), let second = Hex.word(digits, at: 16),
            let third = Hex.word(digits, at: 32), let fourth = Hex.word(digits, at: 48)
        else { return nil }
        words = (first, second, third, fourth)
    }

    /// Appends the 64 digits of lower-case hex.
    package func appendHex(to text: inout [UInt8]) {
        for word in [words.0, words.1, words.2, words.3] {
            for half in [UInt32(truncatingIfNeeded: word >> 32), UInt32(truncatingIfNeeded: word)] {
                let digits = Hex.digits(of: half).bigEndian
                withUnsafeBytes(of: digits) { text += $0 }
            }
        }
    }

    /// The 32 bytes in order.
    package var bytes: [UInt8] {
        let ordered = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return withUnsafeBytes(of: ordered) { Array($0) }
    }

    /// The first eight bytes as a number.
    package var prefix: UInt64 { words.0 }

    /// Tells whether 64 ASCII digits are these bytes in lower-case hex.
    package func hasHex(_ digits: UnsafeRawBufferPointer) -> Bool {
        guard digits.count == 64 else { return false }
        func difference(_ word: UInt64, _ offset: Int) -> UInt64 {
            func found(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: digits.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            return (found(offset) ^ Hex.digits(of: UInt32(truncatingIfNeeded: word >> 32)))
                | (found(offset + 8) ^ Hex.digits(of: UInt32(truncatingIfNeeded: word)))
        }
        return difference(words.0, 0) | difference(words.1, 16) | difference(words.2, 32) | difference(words.3, 48) == 0
    }

    /// Tells whether two values hold the same bytes.
    package static func == (left: Bytes32, right: Bytes32) -> Bool { left.words == right.words }

    /// Orders as the bytes do.
    package static func < (left: Bytes32, right: Bytes32) -> Bool { left.words < right.words }

    /// Feeds all 32 bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
