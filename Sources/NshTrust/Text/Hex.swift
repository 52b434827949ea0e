/// Lower-case hexadecimal, the only form in which digests and serials are written.
///
/// - Spec: JSN-10
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lower-case digits a byte.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes, or nil unless the text is lower-case hex of exactly `count` bytes.
    package static func decode(_ text: some Collection<UInt8>, count: Int) -> [UInt8]? {
        guard text.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var high: UInt8?
        for digit in text {
            guard let value = value(digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    /// Reads the sixteen digits that stand at a place as one number; nil when one of them is no digit.
    ///
    /// - Parameters:
    ///   - digits: ASCII text with at least sixteen bytes from `offset` on.
    ///   - offset: Where the digits begin.
    /// - Returns: The number, the first digit highest.
    package static func word(_ digits: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
        var word: UInt64 = 0
        var isHex = true
        // Without a branch a digit: a list has sixty million of them.
        for at in offset..<(offset + 16) {
            let (number, letter) = (digits[at] &- 0x30, digits[at] &- 0x61)
            isHex = isHex && (number < 10 || letter < 6)
            word = word << 4 | UInt64(number < 10 ? number : letter &+ 10)
        }
        return isHex ? word : nil
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
