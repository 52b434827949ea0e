/// Turns the words of a command line into a verb and its arguments, or says what is wrong with them.
enum CommandLineParser {
    /// Finds the verb that the words name.
    ///
    /// - Returns: The verb, and the words after its name.
    /// - Throws: `UsageError` naming the closest verb.
    static func verb(_ words: [String], among verbs: [Verb]) throws(UsageError) -> (Verb, [String]) {
        guard let first = words.first else {
            throw UsageError("a verb is missing", hint: "nsh-pkgtool help lists them")
        }
        if let verb = verbs.first(where: { $0.name == first }) { return (verb, Array(words.dropFirst())) }
        let family = verbs.filter { $0.name.hasPrefix(first + " ") && !$0.isHidden }
        let seconds = family.compactMap { $0.name.split(separator: " ").last.map(String.init) }
        if !family.isEmpty {
            guard words.count > 1, !words[1].hasPrefix("-") else {
                throw UsageError("\(first) needs a second word: \(seconds.joined(separator: ", "))")
            }
            if let verb = family.first(where: { $0.name == "\(first) \(words[1])" }) {
                return (verb, Array(words.dropFirst(2)))
            }
            throw unknown(
                "\(first) \(words[1])", closest: ClosestName.to(words[1], among: seconds).map { "\(first) \($0)" })
        }
        if first.hasPrefix("-") {
            throw UsageError(
                "the verb comes first, then its options", hint: "nsh-pkgtool help lists the verbs")
        }
        let names = verbs.filter { !$0.isHidden }.map(\.name)
        throw unknown(first, closest: ClosestName.to(first, among: names))
    }

    private static func unknown(_ name: String, closest: String?) -> UsageError {
        UsageError(
            "there is no verb “\(Terminal.safe(name))”",
            hint: closest.map { "did you mean “\($0)”?" } ?? "nsh-pkgtool help lists the verbs")
    }

    /// Reads the words after a verb's name.
    ///
    /// `--help` anywhere is honoured before anything else is found wrong.
    ///
    /// - Throws: `UsageError` naming the closest option, the missing or the surplus operand.
    static func arguments(_ words: [String], of verb: Verb) throws(UsageError) -> Arguments {
        var arguments = Arguments()
        let elements = OptionReader.read(words, options: verb.allOptions)
        if elements.contains(where: { $0.isHelp }) {
            arguments.add("help", "")
            return arguments
        }
        for element in elements {
            switch element {
            case .operand(let text): arguments.add(operand: text)
            case .option(let option, let value):
                guard option.isRepeatable || option.value == nil || !arguments.has(option.name) else {
                    throw UsageError("--\(option.name) is given twice", hint: help(verb))
                }
                arguments.add(option.name, value ?? "")
            case .missingValue(let option):
                throw UsageError("--\(option.name) needs a value: \(option.synopsis)", hint: help(verb))
            case .unwantedValue(let option):
                throw UsageError("--\(option.name) takes no value", hint: help(verb))
            case .unknown(let name): throw unknownOption(name, verb)
            }
        }
        try checkOperands(arguments, verb)
        try checkOptions(arguments, verb)
        return arguments
    }

    private static func unknownOption(_ name: String, _ verb: Verb) -> UsageError {
        let closest =
            name.hasPrefix("--") ? ClosestName.to(String(name.dropFirst(2)), among: verb.allOptions.map(\.name)) : nil
        return UsageError(
            "\(verb.name) has no option \(Terminal.safe(name))",
            hint: closest.map { "did you mean --\($0)?" } ?? help(verb))
    }

    private static func checkOperands(_ arguments: Arguments, _ verb: Verb) throws(UsageError) {
        let count = arguments.operands.count
        let least = verb.operands.filter { $0.count != .optional }.count
        if count < least {
            let missing = verb.operands.filter { $0.count != .optional }[count]
            throw UsageError("\(verb.name) needs \(missing.name): \(missing.help)", hint: "usage: \(verb.usage)")
        }
        let isOpenEnded = verb.operands.contains { $0.count == .oneOrMore }
        if !isOpenEnded, count > verb.operands.count {
            let surplus = Terminal.safe(arguments.operands[verb.operands.count])
            let allowed = verb.operands.isEmpty ? "no operand" : verb.operands.map(\.synopsis).joined(separator: " ")
            throw UsageError("\(verb.name) takes \(allowed); “\(surplus)” is too much", hint: help(verb))
        }
        if let empty = arguments.operands.firstIndex(where: \.isEmpty) {
            let operand = verb.operands[min(empty, verb.operands.count - 1)]
            throw UsageError("\(operand.name) is empty", hint: help(verb))
        }
    }

    private static func checkOptions(_ arguments: Arguments, _ verb: Verb) throws(UsageError) {
        for choice in verb.choices {
            let given = choice.names.filter(arguments.has)
            if given.count > 1 {
                throw UsageError("--\(given[0]) and --\(given[1]) exclude each other", hint: help(verb))
            }
            if choice.isRequired, given.isEmpty {
                let names = choice.names.map { "--\($0)" }.joined(separator: " or ")
                throw UsageError("\(verb.name) needs \(names)", hint: help(verb))
            }
        }
        for option in verb.options where option.isRequired && !arguments.has(option.name) {
            throw UsageError("\(verb.name) needs \(option.synopsis): \(option.help)", hint: help(verb))
        }
        for option in verb.options where option.value != nil {
            if arguments.values(option.name).contains("") {
                throw UsageError("the value of --\(option.name) is empty", hint: help(verb))
            }
            if case .words(let words) = option.kind {
                for value in arguments.values(option.name) where !words.contains(value) {
                    throw UsageError(
                        "--\(option.name) is one of \(words.joined(separator: ", ")), not “\(Terminal.safe(value))”",
                        hint: ClosestName.to(value, among: words).map { "did you mean “\($0)”?" } ?? help(verb))
                }
            }
        }
    }

    private static func help(_ verb: Verb) -> String { "nsh-pkgtool help \(verb.name)" }
}

extension CommandLineElement {
    fileprivate var isHelp: Bool {
        if case .option(let option, _) = self { return option.name == "help" }
        return false
    }
}
