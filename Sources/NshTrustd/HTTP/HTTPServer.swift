import CMicroHTTPD
import Glibc
import NshTrust

/// An HTTP/1.1 server on a listening Unix socket.
///
/// Up to eight threads accept and serve, one keeps house. None of them may wait for anything but sockets; see
/// `HTTPService`.
final class HTTPServer: Sendable {
    private enum State: Sendable {
        case running
        case stopped
    }

    private let core: ServerCore
    private let workers: [Housekeeper.Worker]
    private let housekeeper: Housekeeper
    private let state = Locked(State.running)

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
        // Threads share the socket: none must wait for a client that another one took.
        let flags = fcntl(socket.raw, F_GETFL)
        guard flags >= 0, fcntl(socket.raw, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemCall.trouble(errno, "cannot prepare the listening socket")
        }
        core = ServerCore(service: service, limits: limits, observe: observe)
        workers = try Self.startWorkers(min(Processors.count, 8), at: socket, for: core)
        do {
            housekeeper = try Housekeeper(core: core, workers: workers)
        } catch {
            Self.abandon(workers, of: core)
            throw error
        }
        // When this fails, the server is whole, and stops as one does.
        try housekeeper.begin()
    }

    deinit { stop(gracePeriodSeconds: 0) }

    /// What a connection's memory has besides the head: an entry for each header, and the head of the answer.
    ///
    /// libmicrohttpd clears all of that memory after each request, so more of it makes every answer slower.
    private static let bytesBesideHead = 4096

    /// Starts the threads, each with a descriptor of its own for the listening socket, which it closes.
    private static func startWorkers(
        _ count: Int, at socket: borrowing OwnedDescriptor, for core: ServerCore
    ) throws(Trouble) -> [Housekeeper.Worker] {
        var callbacks = Callbacks.table(for: core)
        var workers: [Housekeeper.Worker] = []
        for _ in 0..<count {
            let listening = fcntl(socket.raw, F_DUPFD_CLOEXEC, 3)
            // Connections are counted when they begin: libmicrohttpd knows neither users nor a polite refusal.
            guard listening >= 0,
                let daemon = nsh_mhd_start(
                    &callbacks, listening, core.limits.headBytes + Self.bytesBesideHead, UInt32.max / 2)
            else {
                abandon(workers, of: core)
                throw Trouble(.ioFailure, "cannot start a thread that serves connections")
            }
            workers.append(Housekeeper.Worker(daemon: daemon))
        }
        return workers
    }

    /// Stops threads that have served already, while others could not be started.
    private static func abandon(_ workers: [Housekeeper.Worker], of core: ServerCore) {
        core.beginToStop()
        stop(workers, of: core)
    }

    private static func stop(_ workers: [Housekeeper.Worker], of core: ServerCore) {
        // A suspended connection would make MHD_stop_daemon end the process.
        core.endAll()
        for worker in workers { MHD_stop_daemon(worker.daemon) }
    }

    /// How many connections there are now.
    var connectionCount: Int { core.connectionCount }

    /// How many connections there may be: what was asked for, or what the limit of descriptors leaves.
    var connectionLimit: Int { core.connectionLimit }

    /// Refuses new connections and new requests from now on; what is under way goes on.
    ///
    /// The socket stays open for as long: MHD_quiesce_daemon can meet a thread that is about to do the same, and then
    /// ends the process.
    func stopAccepting() { core.beginToStop() }

    /// Stops: event streams end, work under way is waited for, what is left then is abandoned.
    ///
    /// Returns when no thread of the server runs any more; a second call does nothing.
    ///
    /// - Parameter gracePeriodSeconds: How long work under way is waited for.
    func stop(gracePeriodSeconds: Double) {
        let isFirst = state.withLock { state in
            defer { state = .stopped }
            return state == .running
        }
        guard isFirst else { return }
        stopAccepting()
        let start = MonotonicTime.nanoseconds()
        while core.endIdle() > 0, Double(MonotonicTime.nanoseconds() - start) < gracePeriodSeconds * 1e9 {
            MonotonicTime.sleep(nanoseconds: 10_000_000)
        }
        housekeeper.dismiss()
        Self.stop(workers, of: core)
    }
}
