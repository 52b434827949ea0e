/// One option of a verb: how it is written, what it takes and what it says about itself.
///
/// The parser, the help, the manual page and the completions are all made from these, so they cannot disagree.
struct Option: Hashable, Sendable {
    /// What a value or an operand is, so that a shell can complete it.
    enum Kind: Hashable, Sendable {
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
    let name: String
    /// The one-letter form.
    var letter: Character?
    /// The name of its value in the help, such as `FILE`; nil for a switch.
    var value: String?
    /// What its value is.
    var kind = Kind.text
    /// Whether it may be given more than once.
    var isRepeatable = false
    /// Whether the verb is nothing without it.
    var isRequired = false
    /// One line of help, lower case, no full stop.
    let help: String

    /// Describes an option that takes no value.
    static func flag(_ name: String, _ letter: Character? = nil, _ help: String) -> Option {
        Option(name: name, letter: letter, help: help)
    }

    /// Describes an option that takes a value.
    static func value(
        _ name: String, _ letter: Character? = nil, _ value: String, _ kind: Kind = .text, required: Bool = false,
        repeatable: Bool = false, help: String
    ) -> Option {
        Option(
            name: name, letter: letter, value: value, kind: kind, isRepeatable: repeatable, isRequired: required,
            help: help)
    }

    /// How it is written on the command line, with its value: `--root FILE`.
    var synopsis: String { "--\(name)" + (value.map { " \($0)" } ?? "") }

    /// The short form when there is one, as the usage line shows it: `-o FILE`.
    var shortSynopsis: String {
        guard let letter else { return synopsis }
        return "-\(letter)" + (value.map { " \($0)" } ?? "")
    }
}

/// What a verb takes besides options.
struct Operand: Hashable, Sendable {
    /// How many there are.
    enum Count: Hashable, Sendable { case one, optional, oneOrMore }

    /// Its name in the help, such as `FILE`.
    let name: String
    /// What it is.
    let kind: Option.Kind
    /// How many there are.
    var count = Count.one
    /// One line of help, lower case, no full stop.
    let help: String

    /// How the usage line shows it.
    var synopsis: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        }
    }
}
