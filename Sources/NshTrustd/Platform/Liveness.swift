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
        do throws(Trouble) {
            return isAnswered(path, over: try UnixSocket.stream())
        } catch {
            return true  // out of descriptors, it is busy and not dead
        }
    }

    private static func isAnswered(_ path: String, over socket: borrowing OwnedDescriptor) -> Bool {
        let raw = socket.raw
        guard let address = SocketAddress(path: path) else { return false }
        let number = address.with { address, length in connect(raw, address, length) == 0 ? 0 : errno }
        // So many clients wait that we could not even queue.
        if number == EAGAIN { return true }
        guard number == 0 else { return false }
        guard send(raw, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else { return false }
        var waiting = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, patienceMilliseconds) == 1
    }
}
