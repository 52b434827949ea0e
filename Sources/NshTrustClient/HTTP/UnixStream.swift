import CLinux
import Glibc
package import NshTrust

/// A connected stream socket whose calls end in time.
package final class UnixStream: Sendable {
    private let descriptor: OwnedDescriptor

    /// The longest single wait, in milliseconds, after which the caller is asked whether it has given up.
    private static let slice: Int32 = 200
    /// How long a full queue of connections is waited for, in seconds.
    private static let connectSeconds = 5.0

    /// Takes over a connected socket.
    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    // MARK: - Connecting

    /// Connects to a daemon's socket.
    ///
    /// - Parameters:
    ///   - path: The socket. A path that is too long for a socket's address is reached through its directory.
    ///   - patience: Stops it.
    /// - Returns: The connection.
    /// - Throws: `badRequest` for a path that no address can hold, `ioFailure` naming the socket when nobody answers,
    ///   `cancelled`.
    package static func connect(to path: String, _ patience: Patience) throws(Trouble) -> UnixStream {
        let name = Printable.escaped(path, limit: 200)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw Trouble(.badRequest, "“\(name)” cannot be the path of a socket")
        }
        if let address = SocketAddress(path: path) { return try connect(address, name, patience) }
        let slash = path.utf8.lastIndex(of: 0x2F)
        let directoryPath = slash.map { String(path[...$0]) } ?? "."
        let result = nsh_openat(AT_FDCWD, directoryPath, nsh_o_path() | O_DIRECTORY, 0)
        guard result >= 0 else { throw unreachable(name, -result) }
        let directory = OwnedDescriptor(owning: result)
        let rest = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard let address = SocketAddress(path: "/proc/self/fd/\(directory.raw)/\(rest)") else {
            throw Trouble(.badRequest, "the name of the socket is too long: \(name)")
        }
        return try connect(address, name, patience)
    }

    private static func connect(
        _ address: SocketAddress, _ name: String, _ patience: Patience
    ) throws(Trouble) -> UnixStream {
        let descriptor = try UnixSocket.stream()
        let raw = descriptor.raw
        var backoff = Backoff(seconds: connectSeconds)
        while true {
            let number = address.with { address, length in Glibc.connect(raw, address, length) == 0 ? 0 : errno }
            if number == 0 { return UnixStream(descriptor) }
            // On a Unix socket this says that the queue of connections is full.
            guard number == EAGAIN || number == EINTR, !patience.isCancelled(), backoff.pause() else {
                if patience.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
                throw unreachable(name, number)
            }
        }
    }

    private static func unreachable(_ name: String, _ number: Int32) -> Trouble {
        Trouble(.ioFailure, SystemCall.trouble(number, "cannot reach nsh-trustd at \(name)").message)
    }

    // MARK: - Bytes

    /// Reads what has come, waiting for it when nothing has.
    ///
    /// - Returns: How many bytes were read; 0 when the other side has closed or reset the connection.
    /// - Throws: `ioFailure` after too long a silence, `cancelled`.
    func receive(into buffer: UnsafeMutableRawBufferPointer, _ patience: Patience) throws(Trouble) -> Int {
        while true {
            let count = recv(descriptor.raw, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case ECONNRESET, EPIPE: return 0
            case EAGAIN: _ = try wait(for: POLLIN, patience)
            default: throw SystemCall.trouble(errno, "cannot read from nsh-trustd")
            }
        }
    }

    /// Sends at least one byte, waiting until that is possible or the other side has something to say.
    ///
    /// - Returns: How many bytes were sent; 0 when an answer came first, nil when the connection takes no more.
    /// - Throws: `ioFailure` after too long a silence, `cancelled`.
    func send(_ bytes: UnsafeRawBufferPointer, _ patience: Patience) throws(Trouble) -> Int? {
        while true {
            let count = Glibc.send(
                descriptor.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EPIPE, ECONNRESET: return nil
            case EAGAIN:
                let ready = try wait(for: POLLIN | POLLOUT, patience)
                if ready & POLLIN != 0, ready & POLLOUT == 0 { return 0 }
            default: throw SystemCall.trouble(errno, "cannot write to nsh-trustd")
            }
        }
    }

    /// Whether there is something to read, or the end: at once, or within some seconds.
    func isReadable(within seconds: Double = 0, isCancelled: @Sendable () -> Bool = { false }) -> Bool {
        let deadline = MonotonicTime.nanoseconds() + UInt64(seconds * 1_000_000_000)
        while true {
            let now = MonotonicTime.nanoseconds()
            let left = now < deadline ? Int32((deadline - now) / 1_000_000) : 0
            if ready(for: POLLIN, min(left, Self.slice)) != 0 { return true }
            if left == 0 || isCancelled() { return false }
        }
    }

    private func wait(for events: Int32, _ patience: Patience) throws(Trouble) -> Int32 {
        let deadline = MonotonicTime.nanoseconds() + UInt64(patience.silence * 1_000_000_000)
        while true {
            if patience.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
            let ready = ready(for: events, Self.slice)
            if ready != 0 { return ready }
            guard MonotonicTime.nanoseconds() < deadline else {
                throw Trouble(.ioFailure, "nsh-trustd has said nothing for \(Int(patience.silence)) s")
            }
        }
    }

    private func ready(for events: Int32, _ milliseconds: Int32) -> Int32 {
        var asked = pollfd(fd: descriptor.raw, events: Int16(events), revents: 0)
        return poll(&asked, 1, milliseconds) > 0 ? Int32(asked.revents) : 0
    }
}
