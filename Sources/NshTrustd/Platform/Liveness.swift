import Glibc
import NshTrust

/// Whether the daemon still answers: asked over its own socket, as a client would.
enum Liveness {
    private static let patienceMilliseconds: Int32 = 2000
    private static let question = Array("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)

    /// Tells whether anything answers on the socket; that it can decide is another question.
    ///
    /// - Parameter path: The socket.
    /// - Returns: False when nothing came within two seconds.
    static func isAnswered(_ path: String) -> Bool {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let raw = socket(AF_UNIX, kind, 0)
        // Out of descriptors, it is busy and not dead; so it is when more clients wait than can queue.
        guard raw >= 0 else { return errno == EMFILE || errno == ENFILE }
        let descriptor = OwnedDescriptor(owning: raw)
        let number = SocketAddress.with(path) { address, length in
            connect(descriptor.raw, address, length) == 0 ? 0 : errno
        }
        if number == EAGAIN { return true }
        guard number == 0 else { return false }
        guard send(descriptor.raw, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else {
            return false
        }
        var waiting = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, patienceMilliseconds) == 1
    }
}
