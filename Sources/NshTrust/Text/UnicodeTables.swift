import CUtf8proc
import Glibc

/// The Unicode 15.0 facts that names and texts are judged by, from utf8proc.
///
/// The tables are part of the format: a code point unassigned in 15.0 is refused, and normalisation and folding of the
/// assigned ones are stable, so two hosts always judge a name alike.
///
/// - Spec: TXT-2, TXT-4, PTH-3
package enum UnicodeTables {
    /// Tells whether a scalar may stand in text that people read or in a path.
    ///
    /// Refused are control, format, line- and paragraph-separator, surrogate, private-use and unassigned code points.
    package static func isDisplayable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch utf8proc_category(Int32(bitPattern: scalar.value)) {
        case UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS, UTF8PROC_CATEGORY_CO,
            UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP:
            return false
        default:
            return true
        }
    }

    /// Returns the text in normalisation form C, as UTF-8 bytes.
    ///
    /// - Parameter text: Valid Unicode text of any length.
    /// - Returns: UTF-8.
    package static func composed(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.utf8) }
        return mapped(text, options: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
    }

    /// Returns NFC(full case folding), the form in which two paths are one on a file system that folds case.
    ///
    /// - Parameter text: Valid Unicode text of any length.
    /// - Returns: UTF-8.
    package static func folded(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        }
        let options = UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_CASEFOLD.rawValue
        return mapped(text, options: options)
    }

    private static func mapped(_ text: String, options: UInt32) -> [UInt8] {
        let source = Array(text.utf8)
        var result: UnsafeMutablePointer<UInt8>?
        let count = utf8proc_map(source, source.count, &result, utf8proc_option_t(rawValue: options))
        defer { free(result) }
        // A Swift String is valid UTF-8, so the only failure left is memory: the process ends as for any allocation.
        guard count >= 0, let result else { fatalError("utf8proc_map: \(count)") }
        return Array(UnsafeBufferPointer(start: result, count: count))
    }
}
