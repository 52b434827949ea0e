/// Well-formed UTF-8, decided byte by byte: no overlong form, no surrogate, nothing above U+10FFFF.
///
/// - Spec: JSN-1, PTH-1, SUM-3
package enum UTF8Sequence {
    /// Returns the length in bytes of the well-formed sequence that starts at `start`, 1–4, or 0 when there is none.
    package static func count(startingAt start: Int, in bytes: [UInt8], end: Int) -> Int {
        let first = bytes[start]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch first {
            case 0x00...0x7F: (1, 0x80...0xBF)
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (3, 0x80...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard end - start >= length else { return 0 }
        if length > 1 {
            guard second.contains(bytes[start + 1]) else { return 0 }
            for byte in bytes[(start + 2)..<max(start + 2, start + length)] where byte & 0xC0 != 0x80 { return 0 }
        }
        return length
    }

    /// Returns the text of the bytes, or nil when they are not well-formed UTF-8.
    package static func text(_ bytes: [UInt8]) -> String? {
        var at = 0
        while at < bytes.count {
            let count = count(startingAt: at, in: bytes, end: bytes.count)
            guard count > 0 else { return nil }
            at += count
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
