/// How a command is written: what its parser, its help, its manual page and its completions are made from.
package struct CommandSyntax: Hashable, Sendable {
    /// Options of which at most one, or exactly one, may be given.
    package struct Choice: Hashable, Sendable {
        /// The long names.
        package let names: [String]
        /// Whether one of them must be given.
        package var isRequired = false

        /// Names the options.
        package init(names: [String], isRequired: Bool = false) {
            self.names = names
            self.isRequired = isRequired
        }
    }

    /// What is typed to run it: `nsh-pkgtool store apps`.
    package var invocation: String
    /// What its messages call it: `store apps`.
    package var name: String
    /// What it takes besides options, in order.
    package var operands: [Operand]
    /// Its options, in the order in which they are shown.
    package var options: [Option]
    /// Options that go without saying: those of every verb.
    package var commonOptions: [Option]
    /// Options that exclude each other.
    package var choices: [Choice]
    /// What to type for more help.
    package var help: String

    /// Describes a command.
    package init(
        invocation: String, name: String, operands: [Operand], options: [Option], commonOptions: [Option],
        choices: [Choice], help: String
    ) {
        self.invocation = invocation
        self.name = name
        self.operands = operands
        self.options = options
        self.commonOptions = commonOptions
        self.choices = choices
        self.help = help
    }

    /// Its own options and the common ones.
    package var allOptions: [Option] { options + commonOptions }

    /// The line that shows how it is written.
    package var usage: String {
        var parts = [invocation] + operands.map(\.synopsis)
        var shown: Set<String> = []
        for option in options where !shown.contains(option.name) {
            if let choice = choices.first(where: { $0.names.contains(option.name) }) {
                let members = choice.names.compactMap { name in options.first { $0.name == name } }
                shown.formUnion(choice.names)
                let text = members.map { $0.synopsis + ($0.isRepeatable ? "…" : "") }.joined(separator: " | ")
                parts.append(choice.isRequired ? "(\(text))" : "[\(text)]")
            } else {
                shown.insert(option.name)
                let text = option.letter == "o" ? option.shortSynopsis : option.synopsis
                parts.append(option.isRequired ? text : "[\(text)]")
                if option.isRepeatable { parts[parts.count - 1] += "…" }
            }
        }
        return parts.joined(separator: " ")
    }
}
