/// The id of an app: two or more ASCII segments joined by dots, compared as bytes.
///
/// - Spec: APP-1
package struct AppID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id as text, ASCII, at most 255 bytes.
    package let text: String

    /// Makes an id, or nil when the text breaks the grammar.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255 else { return nil }
        let segments = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard segments.count >= 2, segments.allSatisfy(Self.isSegment) else { return nil }
        self.text = text
    }

    /// The id itself.
    package var description: String { text }

    /// Orders as the bytes do.
    package static func < (left: AppID, right: AppID) -> Bool { left.text < right.text }

    /// Tells whether the bytes are one segment: `[A-Za-z0-9_][A-Za-z0-9_-]{0,62}`.
    static func isSegment(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first != 0x2D, bytes.count <= 63 else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
            default: false
            }
        }
    }
}
