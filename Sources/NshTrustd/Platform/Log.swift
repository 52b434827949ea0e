import Glibc
import NshTrust
import NshTrustWire

/// The daemon's log on standard error: one line for each thing that happened, whole or not at all.
struct Log: ServiceLog {
    /// How a line is written.
    enum Format: String, CaseIterable, Sendable {
        /// `<6>text name=value`, whose number journald takes for the priority; without it on a terminal.
        case text
        /// One JSON object.
        case json
    }

    /// How a line is written.
    let format: Format
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes a line; what cannot be written is lost, and nobody waits for it longer than the descriptor does.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: One line for people; untrusted text in it has been escaped.
    ///   - fields: What programs want of it, in this order.
    func write(_ level: LogLevel, _ message: String, _ fields: JSONObject) {
        let line = Self.line(
            level, message, fields, format: format, showsLevel: !isTerminal, now: WallClock.system.now())
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }

    /// Makes a line without its end.
    static func line(
        _ level: LogLevel, _ message: String, _ fields: JSONObject, format: Format, showsLevel: Bool, now: Int64
    ) -> String {
        switch format {
        case .json:
            var object: JSONObject = [
                "time": .text(Timestamp.text(now)), "level": .text(level.name), "message": .text(message),
            ]
            for field in fields.members { object.append(field.name, field.value) }
            return JSONLine.text(object)
        case .text:
            let values = fields.members.map { " \($0.name)=\(word($0.value))" }.joined()
            return (showsLevel ? "<\(level.rawValue)>" : "") + message + values
        }
    }

    private static func word(_ value: JSONValue) -> String {
        switch value {
        case .text(let text) where !text.isEmpty && !text.contains(where: { " =\"\\".contains($0) }):
            Printable.escaped(text, limit: 1024)
        default: JSONLine.text(["": value]).dropFirst(4).dropLast().description
        }
    }
}
