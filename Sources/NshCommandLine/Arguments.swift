/// A command line after parsing: which verb, which options with which values, which operands.
package struct Arguments: Sendable {
    /// Option values by long name, in their order; an empty text for each time a switch was given.
    package private(set) var given: [String: [String]] = [:]
    /// The operands in their order.
    package private(set) var operands: [String] = []

    /// Makes an empty one.
    package init() {}

    /// Notes an option.
    package mutating func add(_ name: String, _ value: String) { given[name, default: []].append(value) }

    /// Notes an operand.
    package mutating func add(operand: String) { operands.append(operand) }

    /// Whether the option was given.
    package func has(_ name: String) -> Bool { given[name] != nil }

    /// The value of an option that can be given once.
    package func value(_ name: String) -> String? { given[name]?.last }

    /// All values of a repeatable option.
    package func values(_ name: String) -> [String] { given[name] ?? [] }

    /// The value of an option that the parser has required.
    ///
    /// - Throws: `UsageError` when it is missing after all.
    package func required(_ name: String) throws(UsageError) -> String {
        guard let value = value(name) else { throw UsageError("--\(name) is missing") }
        return value
    }

    /// The operand at a place that the parser has required.
    ///
    /// - Throws: `UsageError` when it is missing after all.
    package func operand(_ index: Int) throws(UsageError) -> String {
        guard operands.indices.contains(index) else { throw UsageError("an operand is missing") }
        return operands[index]
    }
}

/// The command line is wrong: exit status 2.
package struct UsageError: Error, Hashable {
    /// What is wrong, lower case, no full stop.
    package let message: String
    /// What to do instead.
    package var hint: String?

    /// Makes the error.
    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
