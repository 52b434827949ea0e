import CLinux
import Glibc
internal import NshTrust

/// What the next element of a command line is.
package enum CommandLineElement: Hashable {
    /// An option that is known, with its value.
    case option(Option, String?)
    /// Something that is no option.
    case operand(String)
    /// An option that is not known, as it was written.
    case unknown(String)
    /// An option whose value is missing.
    case missingValue(Option)
    /// A switch that was given a value.
    case unwantedValue(Option)
}

/// Takes a command line apart with glibc's getopt_long: options and operands in any order, `--` ends the options.
///
/// Abbreviated names, which getopt_long takes, are unknown here: a script must not change its meaning with the next
/// release.
package enum OptionReader {
    private static let firstNumber: Int32 = 256
    /// getopt_long keeps its place in global variables: one command line at a time.
    private static let turn = Locked(false)

    /// Reads the words after the command.
    ///
    /// - Parameters:
    ///   - words: The words; none holds a NUL.
    ///   - options: The verb's options.
    /// - Returns: What each of them is, in their order.
    package static func read(_ words: [String], options: [Option]) -> [CommandLineElement] {
        turn.withLock { _ in readAlone(words, options: options) }
    }

    private static func readAlone(_ words: [String], options: [Option]) -> [CommandLineElement] {
        let names = options.map { strdup($0.name) }
        let argv = (["command"] + words).map { strdup($0) } + [nil]
        defer { for pointer in names + argv { free(pointer) } }
        let table = options.indices.map { index in
            nsh_option(
                name: names[index], takes_value: options[index].value == nil ? 0 : 1,
                letter: letter(of: options[index], index))
        }
        // "-": operands in their order; ":": a missing value is told from an unknown option.
        var letters = "-:"
        for option in options {
            guard let letter = option.letter else { continue }
            letters.append(letter)
            if option.value != nil { letters += ":" }
        }

        var elements: [CommandLineElement] = []
        var restart: Int32 = 1
        let argc = Int32(words.count + 1)
        while true {
            let found = nsh_next_option(argc, argv, letters, table, Int32(table.count), restart)
            restart = 0
            if found.letter == -1 {
                elements += words.dropFirst(Int(found.next) - 1).map { .operand($0) }
                return elements
            }
            let token = words[Int(found.token) - 1]
            let value = found.value.map { String(cString: $0) }
            elements.append(element(found.letter, token: token, value: value, options: options))
        }
    }

    private static func letter(of option: Option, _ index: Int) -> Int32 {
        option.letter?.asciiValue.map(Int32.init) ?? firstNumber + Int32(index)
    }

    private static func element(
        _ letter: Int32, token: String, value: String?, options: [Option]
    ) -> CommandLineElement {
        if letter == 1 { return .operand(value ?? token) }
        if token.utf8.starts(with: "--".utf8) {
            // By code points: a mark at the start of a value makes another character of the “=” before it.
            let name = String(token.unicodeScalars.dropFirst(2).prefix { $0 != "=" })
            guard let option = options.first(where: { $0.name == name }) else {
                return .unknown("--\(name)")
            }
            if letter == 0x3A { return .missingValue(option) }
            if letter == 0x3F { return .unwantedValue(option) }
            return .option(option, value)
        }
        // A bundle of letters: getopt_long says which of them it is at, unless it is unknown.
        for (index, option) in options.enumerated() where letter == self.letter(of: option, index) {
            return .option(option, value)
        }
        if letter == 0x3A, let option = options.first(where: { $0.letter == token.last && $0.value != nil }) {
            return .missingValue(option)
        }
        let bad = token.dropFirst().first { character in !options.contains { $0.letter == character } }
        return .unknown("-\(bad ?? "?")")
    }
}
