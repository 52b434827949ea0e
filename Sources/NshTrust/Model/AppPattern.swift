/// Which app ids a certificate covers: every id, the ids below a prefix, or one id.
///
/// - Spec: APP-2 … APP-5
package enum AppPattern: Hashable, Sendable, CustomStringConvertible {
    /// `*`: every id.
    case any
    /// `prefix.*`: every id that starts with the prefix and a dot and goes on; the value keeps the dot.
    case below(String)
    /// One exact id.
    case exactly(AppID)

    /// Makes a pattern, or nil when the text is none of the three forms or longer than 255 bytes.
    package init?(_ text: String) {
        if text == "*" {
            self = .any
            return
        }
        guard text.utf8.count <= 255 else { return nil }
        if text.utf8.suffix(2).elementsEqual(".*".utf8) {
            let prefix = Array(text.utf8.dropLast(2))
            let segments = prefix.split(separator: 0x2E, omittingEmptySubsequences: false)
            guard segments.allSatisfy(AppID.isSegment) else { return nil }
            self = .below(String(decoding: prefix, as: UTF8.self) + ".")
            return
        }
        guard let id = AppID(text) else { return nil }
        self = .exactly(id)
    }

    /// Tells whether the pattern covers the id; whole segments only.
    package func covers(_ id: AppID) -> Bool {
        switch self {
        case .any: true
        case .below(let prefix): id.text.utf8.count > prefix.utf8.count && id.text.utf8.starts(with: prefix.utf8)
        case .exactly(let one): one == id
        }
    }

    /// The pattern as it is written in a certificate.
    package var description: String {
        switch self {
        case .any: "*"
        case .below(let prefix): prefix + "*"
        case .exactly(let id): id.text
        }
    }
}
