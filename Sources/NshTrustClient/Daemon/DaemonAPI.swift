package import NshTrust
import NshTrustWire

/// The daemon's requests as calls that block; callers bring the thread.
///
/// Connections are kept and used again.
package final class DaemonAPI: Sendable {
    /// The path of the daemon's socket.
    package let socketPath: String
    private let idle = Locked<[HTTPConnection]>([])

    /// How long an answer that takes no work is waited for, in seconds.
    static let quickSeconds = 30.0
    /// How long an answer that takes work is waited for, in seconds: a large package, a whole store.
    static let slowSeconds = 900.0
    /// Connections that are kept.
    private static let maximumIdle = 8
    /// Bytes that an answer may have.
    static let maximumAnswer = 64 << 20

    /// Names the daemon; nothing is connected before the first question.
    package init(socketPath: String) { self.socketPath = socketPath }

    // MARK: - Asking

    /// Connects ahead of the first question.
    ///
    /// - Throws: `ioFailure` naming the socket when nobody answers, `badRequest`.
    package func connect() throws(Trouble) {
        keep(HTTPConnection(try UnixStream.connect(to: socketPath, Patience(silence: Self.quickSeconds))))
    }

    /// Asks, and reads the answer as one JSON object.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - subject: What the answer is, for messages.
    ///   - seconds: How long it is waited for.
    ///   - monitor: Stops it, and is told how much of a package was sent.
    /// - Returns: The object.
    /// - Throws: `NshError` with the daemon's code and message; `Trouble`: `ioFailure` when it cannot be reached or its
    ///   answer is not understood, `cancelled`, `badRequest`.
    func object(
        _ request: HTTPRequest, _ subject: String, seconds: Double = quickSeconds, monitor: Monitor = Monitor()
    ) throws -> WireReader {
        let bytes = try bytes(request, seconds: seconds, monitor: monitor)
        return try WireReader(parsing: bytes, subject: subject)
    }

    /// Asks, and reads the body of the answer, which may have so many bytes; see `object`.
    func bytes(
        _ request: HTTPRequest, seconds: Double = quickSeconds, limit: Int = maximumAnswer, monitor: Monitor = Monitor()
    ) throws -> [UInt8] {
        let patience = Patience(silence: seconds, isCancelled: monitor.isCancelled)
        return try exchange(request, patience, monitor) { head, connection in
            let body = try body(connection, patience, limit: limit)
            guard (200...299).contains(head.status) else { throw Self.error(head, body) }
            return body
        }
    }

    /// Reads the whole body of an answer, and keeps the connection where it may be used again.
    func body(_ connection: HTTPConnection, _ patience: Patience, limit: Int = maximumAnswer) throws -> [UInt8] {
        let body = try connection.wholeBody(limit: limit, patience)
        if connection.isReusable { keep(connection) }
        return body
    }

    /// Asks on a kept connection or a new one.
    ///
    /// A kept one may have been closed by the daemon meanwhile. Where asking twice does no harm, that leads to a new
    /// connection; other questions are not asked on a kept one.
    func exchange<Value>(
        _ request: HTTPRequest, _ patience: Patience, _ monitor: Monitor = Monitor(),
        _ read: (ResponseHead, HTTPConnection) throws -> Value
    ) throws -> Value {
        if request.isRepeatable, let kept = takeIdle() {
            do {
                return try read(try kept.ask(request, patience, monitor: monitor), kept)
            } catch is ConnectionLost {
                // It was closed before the daemon saw the question.
            }
        }
        do {
            let fresh = HTTPConnection(try UnixStream.connect(to: socketPath, patience))
            return try read(try fresh.ask(request, patience, monitor: monitor), fresh)
        } catch is ConnectionLost {
            throw Trouble(
                .ioFailure,
                "nsh-trustd at \(Printable.escaped(socketPath, limit: 200)) closed the connection before it answered")
        }
    }

    private func takeIdle() -> HTTPConnection? {
        while let connection = idle.withLock({ $0.popLast() }) {
            if connection.isReusable { return connection }
        }
        return nil
    }

    private func keep(_ connection: HTTPConnection) {
        idle.withLock { idle in
            if idle.count < Self.maximumIdle { idle.append(connection) }
        }
    }

    /// The error that an answer other than success stands for.
    static func error(_ head: ResponseHead, _ body: [UInt8]) -> any Error {
        guard head.contentType == ProblemDocument.contentType else {
            return Trouble(.ioFailure, "nsh-trustd answered with status \(head.status) and no reason")
        }
        do {
            return try ProblemDocument(WireReader(parsing: body, subject: "the problem that nsh-trustd reports")).error
        } catch {
            return error
        }
    }
}
