import NshCommandLine

/// Completion for fish, made from the table of verbs.
enum FishCompletion {
    /// The script.
    static var text: String {
        var lines = [
            "# Made by `nsh-pkgtool document fish`; do not edit.",
            "function __nsh_pkgtool_is",
            "    set -l words (commandline -opc)",
            "    set -l wanted (string split ' ' -- $argv[1])",
            "    test \"$words[2]\" = \"$wanted[1]\"; or return 1",
            "    test (count $wanted) -lt 2; or test \"$words[3]\" = \"$wanted[2]\"",
            "end",
            "function __nsh_pkgtool_at",
            "    test (count (commandline -opc)) -eq $argv[1]",
            "end",
            "complete -c nsh-pkgtool -f",
        ]
        let firsts = BashCompletion.unique(
            VerbTable.shown.map { $0.name.split(separator: " ").first.map(String.init) ?? "" })
        for first in firsts {
            let summary = VerbTable.shown.first { $0.name == first }?.summary ?? "work on the \(first)"
            lines.append("complete -c nsh-pkgtool -n '__nsh_pkgtool_at 1' -a \(first) -d '\(quote(summary))'")
        }
        for verb in VerbTable.shown {
            let words = verb.name.split(separator: " ")
            if words.count == 2 {
                let condition = "__nsh_pkgtool_at 2; and __nsh_pkgtool_is \(words[0])"
                lines.append("complete -c nsh-pkgtool -n '\(condition)' -a \(words[1]) -d '\(quote(verb.summary))'")
            }
            let condition = "__nsh_pkgtool_is \"\(verb.name)\""
            for option in verb.allOptions {
                let short = option.letter.map { " -s \($0)" } ?? ""
                lines.append(
                    "complete -c nsh-pkgtool -n '\(condition)'\(short) -l \(option.name)\(value(option)) -d '\(quote(option.help))'"
                )
            }
            if verb.operands.contains(where: { $0.kind.isPath }) {
                lines.append("complete -c nsh-pkgtool -n '\(condition)' -F")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func value(_ option: Option) -> String {
        guard option.value != nil else { return "" }
        switch option.kind {
        case .file: return " -r -F"
        case .directory: return " -x -a '(__fish_complete_directories)'"
        case .words(let words): return " -x -a '\(words.joined(separator: " "))'"
        case .text: return " -x"
        }
    }

    private static func quote(_ text: String) -> String {
        text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'")
    }
}

extension Option.Kind {
    /// Whether it is a path.
    fileprivate var isPath: Bool {
        switch self {
        case .file, .directory: true
        case .words, .text: false
        }
    }
}
