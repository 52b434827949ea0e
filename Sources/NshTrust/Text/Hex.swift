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
        precondition(offset >= 0 && offset + 16 <= digits.count, "there are sixteen digits")
        guard let high = number(digits, at: offset), let low = number(digits, at: offset + 8) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// Reads eight digits, all of them at once: a list of a million entries has sixty million.
    private static func number(_ text: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
        let text = UInt64(bigEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let isLetter = text >> 6 & 0x0101_0101_0101_0101
        var number = text & 0x0F0F_0F0F_0F0F_0F0F + isLetter * 9
        number = (number | number >> 4) & 0x00FF_00FF_00FF_00FF
        number = (number | number >> 8) & 0x0000_FFFF_0000_FFFF
        let read = UInt32(truncatingIfNeeded: number | number >> 16)
        // Whatever was no digit is read as if it were one, and is written in another way.
        return digits(of: read) == text ? read : nil
    }

    /// The eight ASCII digits of a number, the first of them the highest byte.
    package static func digits(of number: UInt32) -> UInt64 {
        // One byte for each four bits: 0x1234_5678 becomes 0x0102_0304_0506_0708.
        var digits = UInt64(number)
        digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
        digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
        digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits + 0x3030_3030_3030_3030 + isLetter * 0x27
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
