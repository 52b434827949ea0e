/// Text for people that a publisher chose: a name, a version, a publisher; 1–255 bytes, nothing invisible or hostile.
///
/// U+200C and U+200D are allowed because scripts need them.
///
/// - Spec: TXT-1 … TXT-4, LIM-16
package struct DisplayText: Hashable, Sendable, CustomStringConvertible {
    /// The text; every scalar is displayable or a joiner.
    package let text: String

    /// Makes the text, or nil when it is empty, too long or holds a code point that may not stand there.
    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count) else { return nil }
        let fits = text.unicodeScalars.allSatisfy { scalar in
            scalar.value == 0x200C || scalar.value == 0x200D || UnicodeTables.isDisplayable(scalar)
        }
        guard fits else { return nil }
        self.text = text
    }

    /// The text itself.
    package var description: String { text }

    /// Tells whether two texts are the same bytes; Swift's `String` would call canonically equivalent ones equal.
    package static func == (left: DisplayText, right: DisplayText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Feeds the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
