import NshTrust

/// An HTTP/1.1 server on a listening Unix socket.
final class HTTPServer: Sendable {
    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - socket: The listening socket; the server closes it.
    ///   - service: What answers the requests.
    ///   - limits: How much a client may take.
    ///   - observe: Is told what happens to connections, on any thread; must not block.
    /// - Throws: `ioFailure` when the threads cannot be started.
    init(
        listening socket: consuming OwnedDescriptor, service: any HTTPService, limits: ServerLimits = ServerLimits(),
        observe: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) throws(Trouble) {
        throw Trouble(.ioFailure, "the server is not built yet")
    }

    /// How many connections there are now.
    var connectionCount: Int { 0 }

    /// Takes no new connection and no new request from now on; what is under way goes on.
    func stopAccepting() {}

    /// Stops: event streams end, work under way is waited for, what is left then is abandoned.
    ///
    /// Returns when no thread of the server runs any more; a second call does nothing.
    ///
    /// - Parameter gracePeriodSeconds: How long work under way is waited for.
    func stop(gracePeriodSeconds: Double) {}
}
