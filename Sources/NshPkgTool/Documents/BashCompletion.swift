import NshCommandLine

/// Completion for bash, made from the table of verbs.
enum BashCompletion {
    /// The script.
    static var text: String {
        let firsts = unique(VerbTable.shown.map { $0.name.split(separator: " ").first.map(String.init) ?? "" })
        var lines = [
            "# Made by `nsh-pkgtool document bash`; do not edit.",
            "_nsh_pkgtool() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}",
            "    local files='' words='' options=''",
            "    COMPREPLY=()",
            "    if ((COMP_CWORD == 1)); then",
            "        mapfile -t COMPREPLY < <(compgen -W '\(firsts.joined(separator: " ")) --help --version' -- \"$current\")",
            "        return",
            "    fi",
        ]
        for first in firsts where !seconds(of: first).isEmpty {
            lines += [
                "    if [[ $verb == \(first) ]]; then",
                "        if ((COMP_CWORD == 2)); then",
                "            mapfile -t COMPREPLY < <(compgen -W '\(seconds(of: first).joined(separator: " "))' -- \"$current\")",
                "            return",
                "        fi",
                "        verb=\"\(first) ${COMP_WORDS[2]}\"",
                "    fi",
            ]
        }
        lines.append("    case $verb in")
        for verb in VerbTable.shown { lines += clause(of: verb) }
        lines += [
            "        help) words='\(firsts.joined(separator: " "))' ;;",
            "    esac",
            "    if [[ $current == -* && -z $words ]]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")",
            "    elif [[ -n $words ]]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")",
            "    elif [[ $files == directory ]]; then",
            "        compopt -o filenames",
            "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\")",
            "    elif [[ $files == none ]]; then",
            "        return",
            "    else",
            "        compopt -o filenames",
            "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\"; [[ -z $files ]] || compgen -f -X \"!*@($files)\" -- \"$current\")",
            "    fi",
            "}",
            "shopt -s extglob",
            "complete -F _nsh_pkgtool nsh-pkgtool",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func clause(of verb: Verb) -> [String] {
        guard verb.name != "help" else { return [] }
        let names = verb.allOptions.map { "--\($0.name)" }.joined(separator: " ")
        var lines = [
            "        '\(verb.name)')",
            "            options='\(names)' \(assignment(verb.operands.last?.kind ?? .text))",
        ]
        let withValues = verb.allOptions.filter { $0.value != nil }
        if !withValues.isEmpty {
            lines.append("            case $previous in")
            for option in withValues {
                let names = "--\(option.name)" + (option.letter.map { " | -\($0)" } ?? "")
                lines.append("                \(names)) \(assignment(option.kind)) ;;")
            }
            lines.append("            esac")
        }
        return lines + ["            ;;"]
    }

    private static func assignment(_ kind: Option.Kind) -> String {
        switch kind {
        case .file(let endings):
            "files='\(endings.isEmpty ? "" : endings.joined(separator: "|"))'" + (endings.isEmpty ? " files='*'" : "")
        case .directory: "files=directory"
        case .words(let words): "words='\(words.joined(separator: " "))'"
        case .text: "files=none"
        }
    }

    /// The second words of a family of verbs.
    static func seconds(of first: String) -> [String] {
        VerbTable.shown.map(\.name).filter { $0.hasPrefix(first + " ") }.map { String($0.dropFirst(first.count + 1)) }
    }

    /// The words, each once, in their order.
    static func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }
}
