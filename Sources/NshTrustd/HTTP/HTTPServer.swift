import CMicroHTTPD
import Glibc
import NshTrust

/// An HTTP/1.1 server on a listening Unix socket.
///
/// One thread accepts and keeps house, up to eight serve. None of them may wait for anything but sockets; see
/// `HTTPService`.
final class HTTPServer: Sendable {
    private enum State: Sendable {
        case running
        case stopped
    }

    private let core: ServerCore
    private let workers: [Acceptor.Worker]
    private let acceptor: Acceptor
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
        let threads = min(Processors.count, 8)
        core = ServerCore(service: service, limits: limits, threads: threads, observe: observe)
        workers = try Self.startWorkers(threads, for: core)
        do {
            acceptor = try Acceptor(core: core, workers: workers)
            try acceptor.begin(at: socket)
        } catch {
            Self.stop(workers)
            throw error
        }
    }

    deinit { stop(gracePeriodSeconds: 0) }

    private static func startWorkers(_ count: Int, for core: ServerCore) throws(Trouble) -> [Acceptor.Worker] {
        var callbacks = Callbacks.table(for: core)
        var workers: [Acceptor.Worker] = []
        for _ in 0..<count {
            // The connections are counted before they are handed over.
            guard let daemon = nsh_mhd_start(&callbacks, core.limits.headBytes, UInt32.max / 2) else {
                stop(workers)
                throw Trouble(.ioFailure, "cannot start a thread that serves connections")
            }
            workers.append(Acceptor.Worker(daemon: daemon))
        }
        return workers
    }

    private static func stop(_ workers: [Acceptor.Worker]) {
        for worker in workers { MHD_stop_daemon(worker.daemon) }
    }

    /// How many connections there are now.
    var connectionCount: Int { core.connectionCount }

    /// How many connections there may be: what was asked for, or what the limit of descriptors leaves.
    var connectionLimit: Int { core.connectionLimit }

    /// Takes no new connection and no new request from now on; what is under way goes on.
    func stopAccepting() {
        core.beginToStop()
        acceptor.shutDoor()
    }

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
        acceptor.dismiss()
        // A suspended connection would make MHD_stop_daemon end the process.
        core.endAll()
        Self.stop(workers)
    }
}
