/// How help texts are laid out: labels on the left, wrapped text on the right.
package enum HelpLayout {
    /// Characters of the widest line.
    package static let width = 100

    /// The label of an option.
    package static func label(_ option: Option) -> String {
        (option.letter.map { "  -\($0), " } ?? "      ") + option.synopsis
    }

    /// What is said of an option.
    package static func help(_ option: Option) -> String {
        option.help + (option.isRepeatable ? " (may be repeated)" : "")
    }

    /// The lines of a label and its text.
    package static func row(_ label: String, _ help: String, column: Int) -> [String] {
        let text = wrap(help, indent: 0, width: width - column)
        let first = label.count < column ? [pad(label, to: column) + (text.first ?? "")] : [label]
        let rest = label.count < column ? text.dropFirst() : text[...]
        return first + rest.map { String(repeating: " ", count: column) + $0 }
    }

    /// Breaks a text into lines at its spaces; all but the first begin with `indent` spaces.
    package static func wrap(_ text: String, indent: Int, width: Int = width) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += line.isEmpty ? "\(word)" : " \(word)"
            }
        }
        return lines + [line]
    }

    /// Fills a text up with spaces.
    package static func pad(_ text: String, to column: Int) -> String {
        text + String(repeating: " ", count: max(0, column - text.count))
    }
}
