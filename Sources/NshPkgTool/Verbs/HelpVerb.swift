import NshCommandLine
import NshTrust

/// `help`, `--help` and `--version`.
enum HelpVerb {
    static let verb = Verb(
        name: "help",
        operands: [
            Operand(name: "VERB", kind: .text, count: .optional, help: "the verb to explain"),
            Operand(name: "WORD", kind: .text, count: .optional, help: "its second word, as in “store apps”"),
        ],
        summary: "list the verbs or explain one",
        run: { invocation in
            let words = invocation.arguments.operands
            guard let first = words.first else {
                try invocation.console.raw(Array(Help.overview.utf8))
                return .done
            }
            let family = VerbTable.shown.filter { $0.name.hasPrefix(first + " ") }
            if words.count == 1, !family.isEmpty {
                for verb in family {
                    try invocation.console.line(HelpLayout.wrap(verb.usage, indent: 4).joined(separator: "\n"))
                }
                return .done
            }
            let (verb, _) = try CommandLineParser.verb(words, among: VerbTable.all)
            guard verb.name == words.joined(separator: " ") else {
                throw UsageError("there is no verb “\(Terminal.safe(words.joined(separator: " ")))”")
            }
            try invocation.console.raw(Array(Help.text(of: verb).utf8))
            return .done
        })

    static let version = Verb(
        name: "--version", summary: "name the version", isHidden: true,
        run: { invocation in
            try invocation.console.answer(["version": .text(NshTrust.version)], text: "nsh-pkgtool \(NshTrust.version)")
            return .done
        })
}
