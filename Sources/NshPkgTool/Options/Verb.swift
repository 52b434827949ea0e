import NshCommandLine

/// One verb of the tool: the row from which parsing, help, manual page and completions come, and what it runs.
struct Verb: Sendable {
    typealias Choice = CommandSyntax.Choice

    /// One or two words: `verify`, `store apps`.
    let name: String
    /// What it takes besides options, in order.
    var operands: [Operand] = []
    /// One line, lower case, no full stop, for the list of verbs.
    let summary: String
    /// Paragraphs of the explanation.
    var details: [String] = []
    /// Its own options, in the order in which they are shown.
    var options: [Option] = []
    /// Options that exclude each other.
    var choices: [Choice] = []
    /// Command lines that show how it is used.
    var examples: [String] = []
    /// How many of the first operands are files that get an object of their own in JSON, also when nothing can be judged.
    var judgedOperands = 0
    /// Whether the help passes it over.
    var isHidden = false
    /// Does it.
    ///
    /// - Returns: How it ended; what it has to say has been printed.
    /// - Throws: `UsageError`, `Failure`, `OutputFailure`, or an error of the library.
    let run: @Sendable (Invocation) throws -> ExitStatus

    /// Its own options and those of every verb.
    var allOptions: [Option] { options + Option.common }

    /// The option with this long name.
    func option(named name: String) -> Option? { allOptions.first { $0.name == name } }

    /// How it is written.
    var syntax: CommandSyntax {
        CommandSyntax(
            invocation: "nsh-pkgtool \(name)", name: name, operands: operands, options: options,
            commonOptions: Option.common, choices: choices, help: "nsh-pkgtool help \(name)")
    }

    /// The line that shows how it is written.
    var usage: String { syntax.usage }
}

extension CommandSyntax.Choice {
    /// The two doors to a trust store.
    static let store = CommandSyntax.Choice(names: [Option.state.name, Option.socket.name])
}

extension Option {
    /// The options of every verb.
    static let common: [Option] = [
        .flag("json", nil, "answer with one JSON object a line, for programs"),
        .flag("quiet", "q", "print nothing but refusals and errors"),
        .flag("verbose", "v", "say more: the chain of trust, what was passed over, what runs out soon"),
        .flag("help", "h", "explain this verb"),
    ]
}
