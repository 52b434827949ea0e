import Glibc
import NshTrust

/// What the tool must know to write for people: is somebody looking, and what may be shown.
enum Terminal {
    /// Returns untrusted text so that no terminal acts on it: one line, nothing hidden, nothing reordered.
    ///
    /// - Parameter text: A path, a name from a package, an argument.
    /// - Returns: The text, escaped and bounded.
    static func safe(_ text: String) -> String { Printable.escaped(text, limit: 1024) }

    /// Tells whether the descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Tells whether colour may be written to the descriptor.
    ///
    /// `NO_COLOR`, when set and not empty, forbids it, and so does a terminal that calls itself dumb.
    static func showsColour(_ descriptor: Int32, environment: Environment) -> Bool {
        isTerminal(descriptor) && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    }
}

/// The environment variables, of which an empty one counts as missing.
struct Environment: Sendable {
    private let variables: [String: String]?

    /// The process's own variables.
    static let process = Environment(variables: nil)

    /// Takes given variables instead of the process's own.
    init(variables: [String: String]?) { self.variables = variables }

    /// The variable, or nil when it is missing or empty.
    subscript(name: String) -> String? {
        let text = if let variables { variables[name] } else { getenv(name).map { String(cString: $0) } }
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Paints words, or leaves them as they are when nobody could see it.
struct Paint: Sendable {
    /// Whether anything is painted.
    let isOn: Bool

    /// For what was accepted.
    func good(_ text: String) -> String { wrap(text, "1;32") }
    /// For what was refused.
    func bad(_ text: String) -> String { wrap(text, "1;31") }
    /// For what could not be decided.
    func odd(_ text: String) -> String { wrap(text, "1;33") }
    /// For headings.
    func strong(_ text: String) -> String { wrap(text, "1") }
    /// For what matters less.
    func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
