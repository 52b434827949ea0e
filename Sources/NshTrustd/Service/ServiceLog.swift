import NshTrust

/// Where the service says what an operator should know; called from any thread.
protocol ServiceLog: Sendable {
    /// Writes one line.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: One line for people; untrusted text in it has been escaped.
    ///   - fields: What programs want of it, in this order.
    func write(_ level: LogLevel, _ message: String, _ fields: JSONObject)
}

extension ServiceLog {
    /// Writes one line that says everything in its message.
    func write(_ level: LogLevel, _ message: String) { write(level, message, [:]) }
}

/// How much something matters, in the numbers of syslog and journald.
enum LogLevel: Int, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6

    /// The word in JSON.
    var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        }
    }
}
