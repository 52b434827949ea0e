/// Untrusted text made safe for one line of a terminal or a log.
package enum Printable {
    /// Returns the text with every code point that is not displayable escaped, cut after `limit` characters.
    ///
    /// Escapes, bidirectional overrides, line ends and unassigned code points come out as `\u{1B}`; a backslash is
    /// doubled, so that the output can be told from the text.
    ///
    /// - Parameters:
    ///   - text: Any text, hostile or not.
    ///   - limit: The most code points kept; what is cut shows as `…`.
    /// - Returns: One line.
    package static func escaped(_ text: String, limit: Int = 255) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit { return result + "…" }
            if scalar == "\\" {
                result += "\\\\"
            } else if UnicodeTables.isDisplayable(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            }
        }
        return result
    }

    /// Returns bytes that may not be UTF-8 as escaped text; a byte that is not part of a character shows as U+FFFD.
    package static func escaped(bytes: some Sequence<UInt8>, limit: Int = 255) -> String {
        escaped(String(decoding: Array(bytes), as: UTF8.self), limit: limit)
    }
}
