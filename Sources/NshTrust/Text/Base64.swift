/// Standard base64 with padding in its one canonical form: no white space, no URL alphabet, no spare bits.
///
/// Two texts never decode to the same bytes, so a signed document cannot be given another digest by respelling it.
///
/// - Spec: ENV-3
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    private static let pad: UInt8 = 0x3D

    /// Returns the padded text of the bytes.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encodeBytes(bytes), as: UTF8.self)
    }

    /// Returns the padded text of the bytes, as ASCII bytes.
    package static func encodeBytes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                for shift in [18, 12, 6, 0] as [UInt32] { text.append(alphabet[Int(group >> shift & 63)]) }
                group = 0
                held = 0
            }
        }
        if held == 1 {
            text += [alphabet[Int(group >> 2)], alphabet[Int(group << 4 & 63)], pad, pad]
        } else if held == 2 {
            text += [alphabet[Int(group >> 10)], alphabet[Int(group >> 4 & 63)], alphabet[Int(group << 2 & 63)], pad]
        }
        return text
    }

    /// Returns the decoded bytes, or nil when the text is not canonical base64.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        return decode(text, appendingTo: &bytes) ? bytes : nil
    }

    /// Appends the decoded bytes, and tells whether the text was canonical base64.
    ///
    /// - Parameters:
    ///   - text: ASCII text; its length is a multiple of 4.
    ///   - bytes: Where the decoded bytes go; holds a part of them when the answer is false.
    /// - Returns: False for any other alphabet, length, padding or for spare bits that are not zero.
    package static func decode(_ text: some Collection<UInt8>, appendingTo bytes: inout [UInt8]) -> Bool {
        let decoded = text.withContiguousStorageIfAvailable { decode(buffer: $0, appendingTo: &bytes) }
        if let decoded { return decoded }
        return Array(text).withUnsafeBufferPointer { decode(buffer: $0, appendingTo: &bytes) }
    }

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>, appendingTo bytes: inout [UInt8]) -> Bool {
        guard text.count % 4 == 0 else { return false }
        guard let last = text.last else { return true }
        let padding = last != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
        let full = (text.count - (padding > 0 ? 4 : 0))
        bytes.reserveCapacity(bytes.count + text.count / 4 * 3)
        return values.withUnsafeBufferPointer { values in
            var at = 0
            while at < full {
                let a = values[Int(text[at])]
                let b = values[Int(text[at + 1])]
                let c = values[Int(text[at + 2])]
                let d = values[Int(text[at + 3])]
                guard (a | b | c | d) < 64 else { return false }
                bytes.append(a << 2 | b >> 4)
                bytes.append(b << 4 | c >> 2)
                bytes.append(c << 6 | d)
                at += 4
            }
            guard padding > 0 else { return true }
            let a = values[Int(text[full])]
            let b = values[Int(text[full + 1])]
            guard (a | b) < 64 else { return false }
            bytes.append(a << 2 | b >> 4)
            if padding == 2 { return b & 15 == 0 }
            let c = values[Int(text[full + 2])]
            guard c < 64, c & 3 == 0 else { return false }
            bytes.append(b << 4 | c >> 2)
            return true
        }
    }
}
