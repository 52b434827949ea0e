/// Pieces of manual pages, in the macros of man(7).
package enum Roff {
    /// The paragraph of an option.
    package static func entry(_ option: Option) -> [String] {
        let short = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let value = option.value.map { " \\fI\(escape($0))\\fR" } ?? ""
        let repeated = option.isRepeatable ? " (may be repeated)" : ""
        return [".TP", "\(short)\\fB\\-\\-\(escape(option.name))\\fR\(value)", escape(option.help + repeated)]
    }

    /// Returns the text so that roff shows it as it is.
    package static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "“": result += "\\(lq"
            case "”": result += "\\(rq"
            case "’": result += "\\(cq"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
