import CLinux
import CMicroHTTPD
import Glibc
import NshTrust
import Synchronization

/// What the threads of a server share.
final class ServerCore: Sendable {
    let service: any HTTPService
    let limits: ServerLimits
    let observe: @Sendable (ServerEvent) -> Void

    private let table: Locked<ConnectionTable>
    private let stopping = Atomic(false)
    private let shortage = Atomic(false)
    /// How many messages of libmicrohttpd may still be passed on before the next housekeeping.
    private let messagesLeft = Atomic(ServerCore.messagesPerRound)
    private let overflowUser = Peer.overflowUser()
    private static let messagesPerRound = 10

    /// Makes the core of a server.
    init(service: any HTTPService, limits: ServerLimits, observe: @escaping @Sendable (ServerEvent) -> Void) {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        self.service = service
        self.limits = limits
        self.observe = observe
        table = Locked(ConnectionTable(limits: limits, descriptors: Int(clamping: descriptors.rlim_cur)))
    }

    /// Whether the server is about to stop.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Takes no new request from now on.
    func beginToStop() { stopping.store(true, ordering: .releasing) }

    /// How many connections there are.
    var connectionCount: Int { table.withLock { $0.count } }

    /// How many connections there may be.
    var connectionLimit: Int { table.withLock { $0.limit } }

    // MARK: - Connections come and go

    /// Admits a connection that libmicrohttpd begins to serve.
    ///
    /// - Returns: The connection; nil when it was one too many, and was told so.
    func started(_ handle: OpaquePointer) -> Connection? {
        let descriptor = nsh_mhd_descriptor(handle)
        let recorded = Peer.recorded(of: descriptor)
        let peer = Peer(recorded: recorded, groups: Peer.groups(of: descriptor), overflowUser: overflowUser)
        let connection = Connection(descriptor: descriptor, user: recorded?.user ?? .max, peer: peer)
        // Asked under the lock: `endAll` ends all that are there, and none may come behind it.
        let isAdmitted = table.withLock { !isStopping && $0.add(connection) }
        guard isAdmitted else {
            observe(.connectionRefused)
            // Whoever does not even read this is not waited for; libmicrohttpd closes what was shut down.
            _ = Answer.write(service.refusal(isStopping ? .stopping : .tooManyConnections), to: descriptor)
            shutdown(descriptor, Int32(SHUT_RDWR))
            return nil
        }
        connection.start(handle)
        observe(.connectionOpened)
        return connection
    }

    /// Forgets a connection that libmicrohttpd is about to close: nobody uses its descriptor after this.
    func closed(_ connection: Connection) {
        connection.stop()
        table.withLock { $0.remove(connection.descriptor) }
        observe(.connectionClosed)
    }

    /// Notes that there was no descriptor for a new connection.
    func noteShortage() { shortage.store(true, ordering: .relaxed) }

    /// Whether there was no descriptor for a new connection since the last time.
    func takeShortage() -> Bool { shortage.exchange(false, ordering: .relaxed) }

    // MARK: - Housekeeping

    /// Ends the connections whose clients are too slow or have left, and lets quiet event streams send a comment.
    func keepHouse() {
        messagesLeft.store(Self.messagesPerRound, ordering: .relaxed)
        let now = Progress.now()
        let overdue = table.withLock { table in
            let served = table.connections.values.filter(\.isServed)
            endThoseThatLeft(served.filter(\.isSuspended))
            return served.compactMap { look(at: $0, now) }
        }
        for deadline in overdue { observe(.deadlinePassed(deadline)) }
    }

    private func look(at connection: Connection, _ now: Int64) -> ServerEvent.Deadline? {
        if connection.isEnding { return nil }
        let progress = connection.progress
        if progress.stage == .events, Double(now - progress.since) / 1000 >= limits.eventCommentSeconds {
            connection.requestComment()
            connection.wake()
        }
        guard let deadline = progress.overdue(at: now, limits) else { return nil }
        connection.shutDown()
        return deadline
    }

    /// libmicrohttpd does not look at the sockets of suspended connections.
    private func endThoseThatLeft(_ suspended: [Connection]) {
        if suspended.isEmpty { return }
        var polled = suspended.map { pollfd(fd: $0.descriptor, events: 0, revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
        for (connection, result) in zip(suspended, polled) where nsh_is_hung_up(result.revents) != 0 {
            connection.shutDown()
        }
    }

    // MARK: - The end

    /// Ends the connections without a request, and wakes event streams so that they end.
    ///
    /// - Returns: How many requests are under way.
    func endIdle() -> Int {
        table.withLock { table in
            var busy = 0
            for connection in table.connections.values {
                switch connection.progress.stage {
                case .head: if connection.isServed { connection.shutDown() }
                case .events:
                    connection.wake()
                    busy += 1
                case .body, .stream, .held, .working, .answer: busy += 1
                }
            }
            return busy
        }
    }

    /// Ends every connection; none is suspended any more, nor will be.
    func endAll() {
        table.withLock { table in
            for connection in table.connections.values { connection.shutDown() }
        }
    }

    /// Passes on what libmicrohttpd has to say, at most so many messages between two rounds of housekeeping: a client
    /// can cause some.
    func pass(message: String) {
        // That is what it makes of a handler which asks for the end of a connection.
        if message.hasPrefix("Application reported internal error") { return }
        guard messagesLeft.subtract(1, ordering: .relaxed).newValue >= 0 else { return }
        observe(.message(Printable.escaped(message.trimmingSuffix(while: \.isNewline))))
    }
}

extension String {
    fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isUnwanted(last) { rest.removeLast() }
        return String(rest)
    }
}
