import NshCommandLine

/// Completion for zsh, made from the table of verbs.
enum ZshCompletion {
    /// The script.
    static var text: String {
        let firsts = BashCompletion.unique(
            VerbTable.shown.map { $0.name.split(separator: " ").first.map(String.init) ?? "" })
        var lines = [
            "#compdef nsh-pkgtool",
            "# Made by `nsh-pkgtool document zsh`; do not edit.",
            "_nsh_pkgtool() {",
            "    local verb",
            "    if ((CURRENT == 2)); then",
            "        local -a verbs=(",
        ]
        for first in firsts {
            let summary = VerbTable.shown.first { $0.name == first }?.summary
            lines.append("            '\(first):\(quote(summary ?? "work on the \(first)"))'")
        }
        lines += ["        )", "        _describe verb verbs", "        return", "    fi", "    verb=$words[2]"]
        for first in firsts where !BashCompletion.seconds(of: first).isEmpty {
            lines += [
                "    if [[ $verb == \(first) ]]; then", "        if ((CURRENT == 3)); then",
                "            local -a seconds=(",
            ]
            for verb in VerbTable.shown where verb.name.hasPrefix(first + " ") {
                lines.append("                '\(verb.name.dropFirst(first.count + 1)):\(quote(verb.summary))'")
            }
            lines += [
                "            )", "            _describe \(first) seconds", "            return", "        fi",
                "        verb=\"\(first) $words[3]\"", "        shift words; ((CURRENT--))", "    fi",
            ]
        }
        lines += ["    shift words; ((CURRENT--))", "    case $verb in"]
        for verb in VerbTable.shown {
            lines.append("        '\(verb.name)') _arguments -S \\")
            for option in verb.allOptions { lines.append("            \(argument(option)) \\") }
            for operand in verb.operands {
                let action = action(operand.kind)
                let place = operand.count == .oneOrMore ? "*" : operand.count == .optional ? ":" : ""
                lines.append("            '\(place):\(quote(operand.name)):\(action)' \\")
            }
            lines[lines.count - 1] = String(lines[lines.count - 1].dropLast(2))
            lines.append("            ;;")
        }
        lines += ["    esac", "}", "_nsh_pkgtool \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func argument(_ option: Option) -> String {
        let star = option.isRepeatable ? "*" : ""
        let help = "[\(quote(option.help))]"
        let value = option.value.map { ":\(quote($0)):\(action(option.kind))" } ?? ""
        guard let letter = option.letter else { return "'\(star)--\(option.name)\(help)\(value)'" }
        let excluded = option.isRepeatable ? "" : "'(-\(letter) --\(option.name))'"
        return "\(excluded)\(star){-\(letter),--\(option.name)}'\(help)\(value)'"
    }

    private static func action(_ kind: Option.Kind) -> String {
        switch kind {
        case .file(let endings) where endings.isEmpty: "_files"
        case .file(let endings): "_files -g \"*(\(endings.joined(separator: "|")))\""
        case .directory: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .text: " "
        }
    }

    private static func quote(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "'": result += "'\\''"
            case "[", "]", ":": result += "\\\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}
