import Glibc
import NshTrust

/// The service manager that started the daemon, as far as it wants to be told: systemd, or what speaks its protocol.
final class ServiceManager {
    /// The first descriptor that a service manager hands over.
    private static let firstDescriptor: Int32 = 3

    /// How long a busy service manager is waited for, in seconds.
    private static let patience: Int32 = 1

    /// Below 0 when nobody is to be told.
    private let socket: OwnedDescriptor
    private let address: SocketAddress?
    /// Every how many seconds a sign of life is due; nil when none is asked for.
    let watchdogSeconds: Double?

    /// Reads what the environment says, and takes it out of the environment.
    init() {
        address = Self.take("NOTIFY_SOCKET").flatMap(Self.address)
        socket = address == nil ? OwnedDescriptor(owning: -1) : Self.line()
        let (interval, process) = (Self.take("WATCHDOG_USEC"), Self.take("WATCHDOG_PID"))
        let isForUs = process.map { $0 == String(getpid()) } ?? true
        // Half the time that is allowed, as the protocol recommends.
        watchdogSeconds =
            isForUs ? interval.flatMap(UInt64.init).flatMap { $0 > 0 ? Double($0) / 2_000_000 : nil } : nil
    }

    /// Tells the service manager how the daemon is.
    ///
    /// - Parameter state: Lines of the protocol: `READY=1`, `STATUS=…`, `WATCHDOG=1`.
    /// - Returns: Whether it was told, or there is none.
    @discardableResult
    func tell(_ state: String) -> Bool {
        let raw = socket.raw
        guard raw >= 0, let address else { return true }
        let bytes = Array(state.utf8)
        return address.with { address, length in
            while true {
                if sendto(raw, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length) >= 0 { return true }
                if errno != EINTR { return false }
            }
        }
    }

    /// The socket that is handed over, or nil when the daemon is to make its own.
    ///
    /// - Throws: `badRequest` for more than one, or one that is no listening Unix socket.
    static func activation() throws(Trouble) -> ListeningSocket? {
        let (count, process) = (take("LISTEN_FDS"), take("LISTEN_PID"))
        _ = take("LISTEN_FDNAMES")
        guard let count, process == String(getpid()) else { return nil }
        guard count == "1" else {
            throw Trouble(
                .badRequest, "the service manager hands over \(Printable.escaped(count)) sockets, there must be one")
        }
        return try ListeningSocket.adopt(firstDescriptor)
    }

    /// The address that a path, or a name after an `@`, stands for; nil for what is neither.
    private static func address(_ text: String) -> SocketAddress? {
        switch text.first {
        case "/": SocketAddress(path: text)
        case "@": SocketAddress(abstractName: String(text.dropFirst()))
        default: nil
        }
    }

    private static func line() -> OwnedDescriptor {
        do throws(Trouble) {
            return try UnixSocket.datagram(patience: patience)
        } catch {
            return OwnedDescriptor(owning: -1)
        }
    }

    /// Takes a variable out of the environment; nothing that we start may take it for its own.
    private static func take(_ name: String) -> String? {
        defer { unsetenv(name) }
        return getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
