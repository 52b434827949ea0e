import NshCommandLine

/// The help texts, made from the table of verbs.
enum Help {
    /// What the tool says about itself: the list of verbs.
    static var overview: String {
        var lines = [
            "usage: nsh-pkgtool VERB [operands] [options]",
            "",
            "Makes, checks and opens signed packages (.nshpkg).",
            "",
        ]
        let names = VerbTable.shown.map { verb in ([verb.name] + verb.operands.map(\.synopsis)).joined(separator: " ") }
        let column = (names.map(\.count).max() ?? 0) + 4
        for (verb, name) in zip(VerbTable.shown, names) {
            lines.append(HelpLayout.pad("  \(name)", to: column) + verb.summary)
        }
        lines += [
            "",
            "nsh-pkgtool help VERB explains a verb; nsh-pkgtool --version names the version.",
            exitStatus,
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The line about exit statuses.
    static let exitStatus = "Exit status: 0 accepted or done, 1 refused, 2 wrong usage, 3 could not decide."

    /// The explanation of one verb.
    static func text(of verb: Verb) -> String {
        var lines = HelpLayout.wrap("usage: \(verb.usage)", indent: 11)
        lines += ["", sentence(verb.summary)]
        for paragraph in verb.details { lines += [""] + HelpLayout.wrap(paragraph, indent: 0) }
        let operands = verb.operands.map { (label: "  \($0.synopsis)", help: $0.help) }
        let own = verb.options.map { (label: HelpLayout.label($0), help: HelpLayout.help($0)) }
        let common = Option.common.map { (label: HelpLayout.label($0), help: HelpLayout.help($0)) }
        let column = min(((operands + own + common).map(\.label.count).max() ?? 0) + 2, 36)
        for (title, rows) in [("operands", operands), ("options", own), ("options of every verb", common)]
        where !rows.isEmpty {
            lines += ["", "\(title):"]
            for row in rows { lines += HelpLayout.row(row.label, row.help, column: column) }
        }
        if !verb.examples.isEmpty { lines += ["", "examples:"] + verb.examples.flatMap(example) }
        lines += ["", exitStatus]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the text with a capital letter and a full stop.
    static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    /// Returns an example, with a backslash at the end of each line that goes on.
    static func example(_ text: String) -> [String] {
        let lines = HelpLayout.wrap("  " + text, indent: 6, width: HelpLayout.width - 2)
        return lines.dropLast().map { "  \($0) \\" } + lines.suffix(1).map { $0.hasPrefix("  ") ? $0 : "  \($0)" }
    }
}
