/// A client of `nsh-trustd`, the daemon that keeps a trust store and decides about packages for the engines of a machine.
public final class NshTrustClient: Sendable {
    /// The path of the daemon's socket.
    public let socketPath: String

    /// Names the daemon; nothing is connected before the first question.
    ///
    /// - Parameter socketPath: The path of its socket.
    public init(socketPath: String) { self.socketPath = socketPath }
}
