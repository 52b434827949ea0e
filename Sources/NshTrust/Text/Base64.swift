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
        let encoded = bytes.withContiguousStorageIfAvailable { encode(buffer: $0) }
        return encoded ?? Array(bytes).withUnsafeBufferPointer { encode(buffer: $0) }
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let full = bytes.count / 3 * 3
        return [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, count in
            alphabet.withUnsafeBufferPointer { alphabet in
                func write(_ group: UInt32) {
                    text.initializeElement(at: count, to: alphabet[Int(group >> 18 & 63)])
                    text.initializeElement(at: count + 1, to: alphabet[Int(group >> 12 & 63)])
                    text.initializeElement(at: count + 2, to: alphabet[Int(group >> 6 & 63)])
                    text.initializeElement(at: count + 3, to: alphabet[Int(group & 63)])
                    count += 4
                }
                for at in stride(from: 0, to: full, by: 3) {
                    write(UInt32(bytes[at]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]))
                }
                guard full < bytes.count else { return }
                let second = full + 1 < bytes.count ? UInt32(bytes[full + 1]) : nil
                write(UInt32(bytes[full]) << 16 | (second ?? 0) << 8)
                text[count - 1] = pad
                if second == nil { text[count - 2] = pad }
            }
        }
    }

    /// Returns the decoded bytes, or nil when the text is not canonical base64.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let decoded = text.withContiguousStorageIfAvailable { decode(buffer: $0) }
        return decoded ?? Array(text).withUnsafeBufferPointer { decode(buffer: $0) }
    }

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var isCanonical = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, count in
            guard let decoded = decode(text, into: bytes) else { return }
            isCanonical = true
            count = decoded
        }
        return isCanonical ? bytes : nil
    }

    /// Decodes text that stands in an array into the front of the same array, over whatever stands there.
    ///
    /// - Parameters:
    ///   - bytes: Holds the text, and afterwards what it says; worth nothing when the text was not canonical base64.
    ///   - text: Where the text stands.
    /// - Returns: How many bytes were decoded; nil when the text is not canonical base64.
    package static func decodeInPlace(_ bytes: inout [UInt8], text: Range<Int>) -> Int? {
        bytes.withUnsafeMutableBufferPointer { bytes in
            // A group of four is read before the three bytes that it stands for are written, at its place or before it.
            decode(UnsafeBufferPointer(rebasing: bytes[text]), into: bytes)
        }
    }

    /// The one decoder: any other alphabet, length, padding or spare bits that are not zero are refused.
    ///
    /// - Returns: The number of bytes; nil when the text is not canonical, or there is no room.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        guard text.count % 4 == 0, text.count / 4 * 3 <= bytes.count else { return nil }
        guard let last = text.last else { return 0 }
        let padding = last != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
        let full = text.count - (padding > 0 ? 4 : 0)
        return values.withUnsafeBufferPointer { values in
            var (at, count) = (0, 0)
            while at < full {
                let (a, b) = (values[Int(text[at])], values[Int(text[at &+ 1])])
                let (c, d) = (values[Int(text[at &+ 2])], values[Int(text[at &+ 3])])
                guard (a | b | c | d) < 64 else { return nil }
                bytes[count] = a << 2 | b >> 4
                bytes[count &+ 1] = b << 4 | c >> 2
                bytes[count &+ 2] = c << 6 | d
                at &+= 4
                count &+= 3
            }
            guard padding > 0 else { return count }
            let (a, b) = (values[Int(text[full])], values[Int(text[full + 1])])
            guard (a | b) < 64 else { return nil }
            if padding == 2 {
                guard b & 15 == 0 else { return nil }
                bytes.initializeElement(at: count, to: a << 2 | b >> 4)
                return count + 1
            }
            let c = values[Int(text[full + 2])]
            guard c < 64, c & 3 == 0 else { return nil }
            bytes.initializeElement(at: count, to: a << 2 | b >> 4)
            bytes.initializeElement(at: count + 1, to: b << 4 | c >> 2)
            return count + 2
        }
    }
}
