import NshCommandLine

/// `document`: writes the manual page and the completions that the project keeps, from the table of verbs.
enum DocumentVerb {
    static let verb = Verb(
        name: "document",
        operands: [
            Operand(name: "KIND", kind: .words(Array(kinds.keys).sorted()), help: "man, bash, zsh or fish")
        ],
        summary: "write the manual page or a completion, made from the table of verbs",
        isHidden: true,
        run: { invocation in
            let kind = try invocation.arguments.operand(0)
            guard let make = kinds[kind] else {
                throw UsageError("“\(Terminal.safe(kind))” is none of man, bash, zsh, fish")
            }
            try invocation.console.raw(Array(make().utf8))
            return .done
        })

    private static let kinds: [String: @Sendable () -> String] = [
        "man": { ManualPage.text }, "bash": { BashCompletion.text }, "zsh": { ZshCompletion.text },
        "fish": { FishCompletion.text },
    ]
}
