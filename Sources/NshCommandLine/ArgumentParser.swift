internal import NshTrust

/// Turns the words after a command's name into its arguments, or says what is wrong with them.
package enum ArgumentParser {
    /// Reads the words after a command's name.
    ///
    /// `--help` anywhere is honoured before anything else is found wrong.
    ///
    /// - Throws: `UsageError` naming the closest option, the missing or the surplus operand.
    package static func arguments(_ words: [String], of command: CommandSyntax) throws(UsageError) -> Arguments {
        var arguments = Arguments()
        let elements = OptionReader.read(words, options: command.allOptions)
        if elements.contains(where: { $0.isHelp }) {
            arguments.add("help", "")
            return arguments
        }
        for element in elements {
            switch element {
            case .operand(let text): arguments.add(operand: text)
            case .option(let option, let value):
                guard option.isRepeatable || option.value == nil || !arguments.has(option.name) else {
                    throw UsageError("--\(option.name) is given twice", hint: command.help)
                }
                arguments.add(option.name, value ?? "")
            case .missingValue(let option):
                throw UsageError("--\(option.name) needs a value: \(option.synopsis)", hint: command.help)
            case .unwantedValue(let option):
                throw UsageError("--\(option.name) takes no value", hint: command.help)
            case .unknown(let name): throw unknownOption(name, command)
            }
        }
        try checkOperands(arguments, command)
        try checkOptions(arguments, command)
        return arguments
    }

    private static func unknownOption(_ name: String, _ command: CommandSyntax) -> UsageError {
        let closest =
            name.hasPrefix("--")
            ? ClosestName.to(String(name.dropFirst(2)), among: command.allOptions.map(\.name)) : nil
        return UsageError(
            "\(command.name) has no option \(shown(name))",
            hint: closest.map { "did you mean --\($0)?" } ?? command.help)
    }

    private static func checkOperands(_ arguments: Arguments, _ command: CommandSyntax) throws(UsageError) {
        let count = arguments.operands.count
        let least = command.operands.filter { $0.count != .optional }.count
        if count < least {
            let missing = command.operands.filter { $0.count != .optional }[count]
            throw UsageError("\(command.name) needs \(missing.name): \(missing.help)", hint: "usage: \(command.usage)")
        }
        let isOpenEnded = command.operands.contains { $0.count == .oneOrMore }
        if !isOpenEnded, count > command.operands.count {
            let surplus = shown(arguments.operands[command.operands.count])
            let allowed =
                command.operands.isEmpty ? "no operand" : command.operands.map(\.synopsis).joined(separator: " ")
            throw UsageError("\(command.name) takes \(allowed); “\(surplus)” is too much", hint: command.help)
        }
        if let empty = arguments.operands.firstIndex(where: \.isEmpty) {
            let operand = command.operands[min(empty, command.operands.count - 1)]
            throw UsageError("\(operand.name) is empty", hint: command.help)
        }
    }

    private static func checkOptions(_ arguments: Arguments, _ command: CommandSyntax) throws(UsageError) {
        for choice in command.choices {
            let given = choice.names.filter(arguments.has)
            if given.count > 1 {
                throw UsageError("--\(given[0]) and --\(given[1]) exclude each other", hint: command.help)
            }
            if choice.isRequired, given.isEmpty {
                let names = choice.names.map { "--\($0)" }.joined(separator: " or ")
                throw UsageError("\(command.name) needs \(names)", hint: command.help)
            }
        }
        for option in command.options where option.isRequired && !arguments.has(option.name) {
            throw UsageError("\(command.name) needs \(option.synopsis): \(option.help)", hint: command.help)
        }
        for option in command.options where option.value != nil {
            if arguments.values(option.name).contains("") {
                throw UsageError("the value of --\(option.name) is empty", hint: command.help)
            }
            if case .words(let words) = option.kind {
                for value in arguments.values(option.name) where !words.contains(value) {
                    throw UsageError(
                        "--\(option.name) is one of \(words.joined(separator: ", ")), not “\(shown(value))”",
                        hint: ClosestName.to(value, among: words).map { "did you mean “\($0)”?" } ?? command.help)
                }
            }
        }
    }

    private static func shown(_ text: String) -> String { Printable.escaped(text, limit: 1024) }
}

extension CommandLineElement {
    fileprivate var isHelp: Bool {
        if case .option(let option, _) = self { return option.name == "help" }
        return false
    }
}
