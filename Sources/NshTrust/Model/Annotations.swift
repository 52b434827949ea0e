/// Signed notes on a document: shown to people, never part of a decision.
///
/// - Spec: JSN-12, LIM-17
package struct Annotations: Hashable, Sendable {
    /// Names and texts in the order of the document; at most 64, names `[a-z0-9.-]{1,64}`, texts of at most 1024 bytes.
    package private(set) var entries: [(name: String, text: String)] = []

    /// Makes an empty set of notes.
    package init() {}

    /// Adds a note and tells whether it fits: the name's grammar, the lengths, the number, and no name twice.
    package mutating func add(_ name: String, _ text: String) -> Bool {
        let nameFits = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E: true
            default: false
            }
        }
        guard nameFits, (1...64).contains(name.utf8.count), text.utf8.count <= 1024 else { return false }
        guard entries.count < 64, !entries.contains(where: { $0.name == name }) else { return false }
        entries.append((name, text))
        return true
    }

    private var sortedEntries: [(name: String, text: String)] { entries.sorted { $0.name < $1.name } }

    /// Tells whether both hold the same notes, in any order.
    package static func == (left: Annotations, right: Annotations) -> Bool {
        left.sortedEntries.elementsEqual(right.sortedEntries) {
            $0.name == $1.name && $0.text.utf8.elementsEqual($1.text.utf8)
        }
    }

    /// Feeds names and texts in sorted order.
    package func hash(into hasher: inout Hasher) {
        for entry in sortedEntries {
            hasher.combine(entry.name)
            hasher.combine(Array(entry.text.utf8))
        }
    }
}
