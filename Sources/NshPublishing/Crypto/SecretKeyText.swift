import CSodium
internal import NshTrust

/// The text of a secret key file, parted in locked memory into what is secret and what is not.
///
/// The secret is decoded from one locked place into another. What the JSON reader gets is the same document with zeros
/// for the secret, so that no copy of it lies in memory that may be swapped out, dumped, or given away unwiped.
struct SecretKeyText: ~Copyable, Sendable {
    /// The document with as many zeros in place of the secret.
    let document: [UInt8]
    private let secret: SecretMemory
    private let secretCount: Int

    private static let (quote, backslash, zero): (UInt8, UInt8, UInt8) = (0x22, 0x5C, 0x41)
    private static let name = Array("secret".utf8)

    /// Parts the text.
    ///
    /// - Parameter text: The bytes of the file; nothing of them is kept.
    /// - Throws: `ioFailure` without memory.
    init(parting text: UnsafeRawBufferPointer) throws {
        let values = Self.values(in: text)
        var (document, count): ([UInt8], Int) = ([], 0)
        var at = 0
        for value in values {
            document += text[at..<value.lowerBound]
            at = value.upperBound
            let range = UnsafeRawBufferPointer(rebasing: text[value])
            let plain = try SecretMemory(count: range.count + 1) { count = Self.unescape(range, into: $0) }
            plain.withBytes { bytes in
                for index in 0..<count { document.append(Self.isLetter(bytes[index]) ? Self.zero : bytes[index]) }
            }
        }
        document += text[at...]

        let first = UnsafeRawBufferPointer(rebasing: text[values.first ?? 0..<0])
        let plain = try SecretMemory(count: first.count + 1) { count = Self.unescape(first, into: $0) }
        var decoded = 0
        let secret = try SecretMemory(count: first.count + 1) { buffer in
            guard let base = buffer.bindMemory(to: UInt8.self).baseAddress else { return }
            plain.withBytes { bytes in
                let status = sodium_base642bin(
                    base, buffer.count, UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self), count, nil,
                    &decoded, nil,
                    sodium_base64_VARIANT_ORIGINAL)
                if status != 0 { decoded = 0 }
            }
        }
        self.document = document
        self.secret = secret
        secretCount = decoded
    }

    /// Lends what “secret” holds, which must not be kept; no bytes when it is not canonical base64.
    borrowing func withSecret<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try secret.withBytes { try body(UnsafeRawBufferPointer(start: $0, count: secretCount)) }
    }

    /// The text of a document whose secret is a key's seed as it is, and a line feed, in locked memory.
    ///
    /// - Parameters:
    ///   - document: The text of an unsealed key's document, its “secret” empty.
    ///   - key: The key.
    /// - Returns: The text.
    /// - Throws: `ioFailure` without memory.
    static func text(of document: [UInt8], holding key: borrowing SecretKey) throws -> SecretMemory {
        // “secret” is the last of the sorted names: the text ends with its empty value.
        let front = document.dropLast(2)
        let end = Array("\"}\n".utf8)
        let count = sodium_base64_encoded_len(SecretKey.seedCount, sodium_base64_VARIANT_ORIGINAL) - 1
        return try SecretMemory(count: front.count + count + end.count) { buffer in
            buffer.copyBytes(from: front)
            guard let base = buffer.baseAddress else { return }
            // A zero is written behind the letters, where the end goes then.
            _ = key.withSeed { seed in
                sodium_bin2base64(
                    (base + front.count).assumingMemoryBound(to: CChar.self), count + 1, seed, SecretKey.seedCount,
                    sodium_base64_VARIANT_ORIGINAL)
            }
            UnsafeMutableRawBufferPointer(rebasing: buffer[(front.count + count)...]).copyBytes(from: end)
        }
    }

    // MARK: - Scanning

    /// Where the values of members named “secret” lie, without their quotes: of one in a document that is right.
    private static func values(in text: UnsafeRawBufferPointer) -> [Range<Int>] {
        var values: [Range<Int>] = []
        var at = 0
        while at < text.count {
            guard text[at] == quote else {
                at += 1
                continue
            }
            let end = self.end(of: at, in: text)
            let word = UnsafeRawBufferPointer(rebasing: text[(at + 1)..<end])
            at = end + 1
            guard isName(word), let opening = valueOpening(behind: at, in: text) else { continue }
            let value = (opening + 1)..<self.end(of: opening, in: text)
            values.append(value)
            at = value.upperBound + 1
        }
        return values
    }

    /// Where the quote is that ends the text which begins with a quote here; the end of everything when there is none.
    private static func end(of opening: Int, in text: UnsafeRawBufferPointer) -> Int {
        var at = opening + 1
        while at < text.count, text[at] != quote { at += text[at] == backslash ? 2 : 1 }
        return min(at, text.count)
    }

    /// Where a text value begins behind a name, or nil when something else follows.
    private static func valueOpening(behind name: Int, in text: UnsafeRawBufferPointer) -> Int? {
        var (at, isColonSeen) = (name, false)
        while at < text.count {
            switch text[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            case 0x3A where !isColonSeen: (at, isColonSeen) = (at + 1, true)
            default: return isColonSeen && text[at] == quote ? at : nil
            }
        }
        return nil
    }

    private static func isName(_ word: UnsafeRawBufferPointer) -> Bool {
        // Six letters, each written with at most six.
        guard word.count >= name.count, word.count <= name.count * 6 else { return false }
        return withUnsafeTemporaryAllocation(byteCount: word.count, alignment: 1) { buffer in
            let count = unescape(word, into: buffer)
            return buffer[..<count].elementsEqual(name)
        }
    }

    /// Undoes the escapes of ASCII letters; any other stays as it is, and no reader takes it.
    private static func unescape(_ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var (at, filled) = (0, 0)
        while at < text.count {
            var (byte, length) = (text[at], 1)
            if byte == backslash, at + 1 < text.count, text[at + 1] == 0x2F {
                (byte, length) = (0x2F, 2)
            } else if byte == backslash, at + 5 < text.count, text[at + 1] == 0x75,
                let letter = letter(UnsafeRawBufferPointer(rebasing: text[(at + 2)..<(at + 6)]))
            {
                (byte, length) = (letter, 6)
            }
            buffer[filled] = byte
            filled += 1
            at += length
        }
        return filled
    }

    /// The letter of four hex digits, when it is one of base64 or of a name.
    private static func letter(_ digits: UnsafeRawBufferPointer) -> UInt8? {
        var value = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | Int(digit - 0x30)
            case 0x41...0x46: value = value << 4 | Int(digit - 0x41 + 10)
            case 0x61...0x66: value = value << 4 | Int(digit - 0x61 + 10)
            default: return nil
            }
        }
        guard let letter = UInt8(exactly: value), isLetter(letter) || letter == 0x3D else { return nil }
        return letter
    }

    /// Whether base64 is written with it, the padding apart.
    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F: true
        default: false
        }
    }
}
