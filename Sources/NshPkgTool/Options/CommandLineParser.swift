import NshCommandLine

/// Finds the verb that a command line names.
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
}
