import Glibc
import NshTrust

/// The socket on which the daemon listens: made by us, or handed over by the service manager.
final class ListeningSocket {
    /// What a socket file is to look like.
    struct Access: Hashable, Sendable {
        /// Permission bits of the file; who may write it may connect.
        var mode: UInt32 = 0o660
        /// The group it belongs to; nil for the daemon's own.
        var group: UInt32?
    }

    /// How many clients may wait to be accepted.
    private static let backlog: Int32 = 1024

    /// The path that clients connect to.
    let path: String
    private var socket: OwnedDescriptor?
    /// Where the file is, when we made it and are to remove it.
    private let made: MadeFile?

    private init(_ socket: consuming OwnedDescriptor, path: String, made: consuming MadeFile?) {
        self.socket = consume socket
        self.path = path
        self.made = made
    }

    /// Hands the descriptor over; once.
    func take() -> OwnedDescriptor? {
        // The value leaves the property, which is nil from then on.
        let taken = socket.take()
        return taken
    }

    /// Removes the socket file, if it is still the one that was made here.
    func remove() throws(Trouble) {
        try made?.remove()
    }

    // MARK: - Making one

    /// Makes a socket file and listens on it.
    ///
    /// A file that a dead daemon left is replaced; one that somebody listens on never is. The file is made without any
    /// permission and gets its group and mode when nobody can have connected yet.
    ///
    /// - Parameters:
    ///   - path: Where; its directory is made when missing, and must be this user's or root's and nobody else's to write.
    ///   - access: Who may connect.
    /// - Returns: The socket.
    /// - Throws: `badRequest` for a path that no socket can have, `exists` when something else is there or another
    ///   daemon listens, `storeUnsafe` for a directory that others may write, `ioFailure`.
    static func make(_ path: String, _ access: Access) throws(Trouble) -> ListeningSocket {
        let (parent, name, address) = try split(path)
        try Directory.make(parent, permissions: 0o755)
        let directory = try Directory.open(parent)
        if let exposure = try directory.status().exposure {
            throw Trouble(.storeUnsafe, "the socket’s directory \(Printable.escaped(parent)): \(exposure)")
        }
        // Two daemons that start at once take turns in looking, replacing and binding; the lock goes with the descriptor.
        let lock = try directory.openDirectory(".")
        guard try FileLock.wait(lock.raw, .exclusive, seconds: 10, Printable.escaped(parent)) else {
            throw Trouble(.storeBusy, "another process keeps \(Printable.escaped(parent)) locked")
        }
        try clear(directory, name, path, address)
        let socket = try bound(to: address, path)
        guard let status = try directory.status(of: name) else {
            throw Trouble(.ioFailure, "the socket \(Printable.escaped(path)) went away while it was made")
        }
        if let group = access.group {
            try directory.changeGroup(of: name, to: group)
        }
        try directory.changePermissions(of: name, to: access.mode)
        return ListeningSocket(
            socket, path: path, made: MadeFile(directory: directory, name: name, identity: status.identity))
    }

    private static func split(_ path: String) throws(Trouble) -> (
        parent: String, name: String, address: SocketAddress
    ) {
        let shown = Printable.escaped(path)
        guard path.utf8.first == 0x2F, !path.utf8.contains(0) else {
            throw Trouble(.badRequest, "the socket’s path must be absolute: \(shown)")
        }
        guard let address = SocketAddress(path: path) else {
            throw Trouble(
                .badRequest,
                "the socket’s path has \(path.utf8.count) bytes, the system allows \(SocketAddress.maximumPathBytes): "
                    + shown)
        }
        // As bytes: to Swift a slash and a mark that follows it are one character, to the system they are not.
        let parts = path.utf8.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
        guard let name = parts.last, path.utf8.last != 0x2F else {
            throw Trouble(.badRequest, "the socket’s path names no file: \(shown)")
        }
        return ("/" + parts.dropLast().joined(separator: "/"), name, address)
    }

    /// Removes what a dead daemon left at the path.
    private static func clear(
        _ directory: borrowing Directory, _ name: String, _ path: String, _ address: SocketAddress
    ) throws(Trouble) {
        guard let status = try directory.status(of: name) else { return }
        guard status.kind == .socket else {
            throw Trouble(.exists, "\(Printable.escaped(path)) is there and is no socket; it stays")
        }
        guard try !isAnswered(address, path) else {
            throw Trouble(.exists, "another process listens on \(Printable.escaped(path)); it stays")
        }
        try directory.removeFile(name)
    }

    /// Tells whether somebody listens on a socket file.
    private static func isAnswered(_ address: SocketAddress, _ path: String) throws(Trouble) -> Bool {
        let probe = try UnixSocket.stream()
        let number = address.with { address, length in connect(probe.raw, address, length) == 0 ? 0 : errno }
        switch number {
        case 0, EAGAIN, EINPROGRESS: return true  // EAGAIN: so many wait that we could not even queue
        case ECONNREFUSED, ENOENT: return false
        default: throw SystemCall.trouble(number, "cannot tell whether \(Printable.escaped(path)) is in use")
        }
    }

    private static func bound(to address: SocketAddress, _ path: String) throws(Trouble) -> OwnedDescriptor {
        let socket = try UnixSocket.stream()
        // Without any permission: only root could connect, and nobody does before `listen`.
        let mask = umask(0o777)
        let number = address.with { address, length in bind(socket.raw, address, length) == 0 ? 0 : errno }
        umask(mask)
        guard number == 0 else { throw SystemCall.trouble(number, "cannot make the socket \(Printable.escaped(path))") }
        guard listen(socket.raw, backlog) == 0 else {
            throw SystemCall.trouble(errno, "cannot listen on \(Printable.escaped(path))")
        }
        return socket
    }

    // MARK: - Taking one over

    /// Takes the socket that the service manager listens on for us.
    ///
    /// - Parameter raw: The descriptor.
    /// - Returns: The socket; its file stays the service manager's.
    /// - Throws: `badRequest` unless it is a listening stream socket with a path: a network socket is never served.
    static func adopt(_ raw: Int32) throws(Trouble) -> ListeningSocket {
        let socket = OwnedDescriptor(owning: raw)
        guard let path = SocketAddress.path(of: socket.raw) else {
            throw Trouble(
                .badRequest,
                "descriptor \(raw) of the service manager is no Unix socket with a path; nothing else is served")
        }
        guard UnixSocket.isListeningStream(socket.raw) else {
            throw Trouble(
                .badRequest, "descriptor \(raw) of the service manager is not a listening stream socket (Accept=no)")
        }
        guard fcntl(socket.raw, F_SETFL, fcntl(socket.raw, F_GETFL) | O_NONBLOCK) == 0,
            fcntl(socket.raw, F_SETFD, FD_CLOEXEC) == 0
        else { throw SystemCall.trouble(errno, "cannot prepare the service manager’s socket") }
        return ListeningSocket(socket, path: path, made: nil)
    }
}

/// A socket file that was made here, for as long as it is ours to remove.
private struct MadeFile: ~Copyable {
    let directory: Directory
    let name: String
    let identity: FileIdentity

    init(directory: consuming Directory, name: String, identity: FileIdentity) {
        self.directory = directory
        self.name = name
        self.identity = identity
    }

    /// Removes the file, unless another has taken its place.
    borrowing func remove() throws(Trouble) {
        guard try directory.status(of: name)?.identity == identity else { return }
        try directory.removeFile(name)
    }
}
