/// One option of a command: how it is written, what it takes and what it says about itself.
///
/// The parser, the help, the manual page and the completions are all made from these, so they cannot disagree.
package struct Option: Hashable, Sendable {
    /// What a value or an operand is, so that a shell can complete it.
    package enum Kind: Hashable, Sendable {
        /// A file, best one whose name ends in one of these.
        case file([String])
        /// A directory.
        case directory
        /// One of these words.
        case words([String])
        /// Anything.
        case text
    }

    /// The long name without its dashes.
    package let name: String
    /// The one-letter form.
    package var letter: Character?
    /// The name of its value in the help, such as `FILE`; nil for a switch.
    package var value: String?
    /// What its value is.
    package var kind = Kind.text
    /// Whether it may be given more than once.
    package var isRepeatable = false
    /// Whether the verb is nothing without it.
    package var isRequired = false
    /// One line of help, lower case, no full stop.
    package let help: String

    /// Describes an option.
    package init(
        name: String, letter: Character? = nil, value: String? = nil, kind: Kind = .text, isRepeatable: Bool = false,
        isRequired: Bool = false, help: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.kind = kind
        self.isRepeatable = isRepeatable
        self.isRequired = isRequired
        self.help = help
    }

    /// Describes an option that takes no value.
    package static func flag(_ name: String, _ letter: Character? = nil, _ help: String) -> Option {
        Option(name: name, letter: letter, help: help)
    }

    /// Describes an option that takes a value.
    package static func value(
        _ name: String, _ letter: Character? = nil, _ value: String, _ kind: Kind = .text, required: Bool = false,
        repeatable: Bool = false, help: String
    ) -> Option {
        Option(
            name: name, letter: letter, value: value, kind: kind, isRepeatable: repeatable, isRequired: required,
            help: help)
    }

    /// How it is written on the command line, with its value: `--root FILE`.
    package var synopsis: String { "--\(name)" + (value.map { " \($0)" } ?? "") }

    /// The short form when there is one, as the usage line shows it: `-o FILE`.
    package var shortSynopsis: String {
        guard let letter else { return synopsis }
        return "-\(letter)" + (value.map { " \($0)" } ?? "")
    }
}

/// What a command takes besides options.
package struct Operand: Hashable, Sendable {
    /// How many there are.
    package enum Count: Hashable, Sendable { case one, optional, oneOrMore }

    /// Its name in the help, such as `FILE`.
    package let name: String
    /// What it is.
    package let kind: Option.Kind
    /// How many there are.
    package var count = Count.one
    /// One line of help, lower case, no full stop.
    package let help: String

    /// Describes an operand.
    package init(name: String, kind: Option.Kind, count: Count = .one, help: String) {
        self.name = name
        self.kind = kind
        self.count = count
        self.help = help
    }

    /// How the usage line shows it.
    package var synopsis: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        }
    }
}
