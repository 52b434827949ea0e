/// A host runtime's version: one to four numbers joined by dots, compared number by number, missing ones being 0.
///
/// - Spec: PKG-9, PKG-10
package struct RuntimeVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The version as it was written.
    package let text: String
    private let numbers: [UInt32]

    /// Makes a version, or nil unless it is 1–4 plain decimal numbers of at most 9 digits.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (1...4).contains(parts.count) else { return nil }
        var numbers: [UInt32] = []
        for part in parts {
            guard (1...9).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            guard part.count == 1 || part.first != 0x30 else { return nil }
            numbers.append(part.reduce(0) { $0 * 10 + UInt32($1 - 0x30) })
        }
        self.text = text
        self.numbers = numbers + Array(repeating: 0, count: 4 - numbers.count)
    }

    /// The version as it was written.
    package var description: String { text }

    /// Orders number by number.
    package static func < (left: RuntimeVersion, right: RuntimeVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    /// Tells whether the numbers are the same: `1.0` equals `1`.
    package static func == (left: RuntimeVersion, right: RuntimeVersion) -> Bool { left.numbers == right.numbers }

    /// Feeds the numbers.
    package func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}
