public import NshTrust
import NshTrustWire

#if Foundation
public import FoundationEssentials
#endif

/// A client of `nsh-trustd`, the daemon that keeps a trust store and decides about packages for the engines of a machine.
///
/// The roots, the options and the store are the daemon's. Thread-safe; blocking work runs on threads the client owns.
/// Connections are kept and made again when the daemon was restarted.
public final class NshTrustClient: Sendable {
    /// The path of the daemon's socket.
    public let socketPath: String
    /// The path at which a daemon listens unless it is told otherwise.
    public static let defaultSocketPath = DaemonSocket.defaultPath

    let api: DaemonAPI
    private let pool = WorkerPool()

    /// Names the daemon; nothing is connected before the first question.
    ///
    /// - Parameter socketPath: The path of its socket.
    public init(socketPath: String = NshTrustClient.defaultSocketPath) {
        self.socketPath = socketPath
        api = DaemonAPI(socketPath: socketPath)
    }

    // MARK: - Packages

    /// Has a whole package verified; nothing changes.
    ///
    /// - Parameters:
    ///   - url: A file URL. The daemon opens it with this process's rights; where it cannot, the bytes are sent.
    ///   - progress: Told how much was sent, when the bytes are.
    /// - Returns: The whole chain.
    /// - Throws: `NshError`: a refusal, with what had been established; a code of the daemon; `ioFailure` naming the
    ///   socket when it cannot be reached; `cancelled`.
    public func verifyPackage(at url: URL, progress: NshProgress.Handler? = nil) async throws -> NshReport {
        try await run(progress) { api, monitor in
            try Self.report(try api.verify(path: url.path, monitor: monitor))
        }
    }

    /// Has a package verified, extracted and accepted: older builds of that app are refused from then on.
    ///
    /// - Parameters:
    ///   - url: A file URL; see `verifyPackage(at:progress:)`.
    ///   - progress: Told how much was sent, when the bytes are.
    /// - Returns: The package, whose tree stays for as long as the value lives.
    /// - Throws: `NshError`: a refusal, `forbidden` when this user is not allowed to open packages, and as above.
    public func openPackage(at url: URL, progress: NshProgress.Handler? = nil) async throws -> NshOpenedPackage {
        try await run(progress) { api, monitor in
            let verdict = try api.open(path: url.path, monitor: monitor)
            let report = try Self.report(verdict)
            guard let info = report.info, let digest = report.digest, let directory = verdict.directory,
                let lease = verdict.lease
            else { throw Trouble(.ioFailure, "nsh-trustd's verdict is not understood: it names no tree") }
            return NshOpenedPackage(
                info: info, digest: digest, directory: directory, report: report, lease: try LeaseFile.take(lease))
        }
    }

    private static func report(_ verdict: VerdictDocument) throws(Trouble) -> NshReport {
        guard let report = verdict.report else {
            throw Trouble(.ioFailure, "nsh-trustd's verdict is not understood: it has no report")
        }
        return report
    }

    /// Asks whether an installed package may start now: every rule about roots, certificates, revocations, builds and
    /// freshness is asked again.
    ///
    /// - Parameter digest: The package digest in hex.
    /// - Returns: Either verdict.
    /// - Throws: `NshError`: `notInstalled` for a digest without a tree here, and a code of the daemon. An engine that
    ///   gets no verdict does not start the app.
    public func check(digest: String) async throws -> NshVerdict {
        try await run { api, monitor in NshVerdict(try api.check(digest: digest, monitor: monitor)) }
    }

    /// Holds the tree of an installed package, so that no clean-up removes it.
    ///
    /// For engines that know a digest from before; `openPackage` holds the tree already.
    ///
    /// - Parameter verdict: What `check` has answered.
    /// - Returns: The hold; it ends with the value.
    /// - Throws: `NshError`: `notInstalled` when the tree is not there any more.
    public func hold(_ verdict: NshVerdict) async throws -> NshHold {
        try await run { _, _ in NshHold(try LeaseFile.take(verdict.lease)) }
    }

    // MARK: - Revocations

    /// Has a revocation list applied; for admins.
    ///
    /// - Parameters:
    ///   - json: The list's envelope.
    ///   - dryRun: Whether to say only what would change.
    /// - Returns: What changed, and what was passed over.
    /// - Throws: `NshError`: a refusal of the list, `forbidden`, or a code of the daemon.
    @discardableResult
    public func updateRevocations(_ json: String, dryRun: Bool = false) async throws -> NshRevocationUpdate {
        try await run { api, monitor in
            try api.applyRevocations(Array(json.utf8), isRehearsal: dryRun, monitor: monitor).update
        }
    }

    /// The revocation lists in force, by issuer.
    ///
    /// - Throws: `NshError` when the daemon cannot say.
    public var revocations: [NshRevocationList] {
        get async throws { try await run { api, monitor in try api.revocations(monitor: monitor).lists.map(\.list) } }
    }

    // MARK: - Queries

    /// The highest accepted build of an app, or nil when none was accepted.
    ///
    /// - Parameter app: An app id.
    /// - Returns: The record.
    /// - Throws: `NshError`: `badRequest` for text that is no app id, or a code of the daemon.
    public func acceptedBuild(forApp app: String) async throws -> NshAcceptedBuild? {
        try await run { api, monitor in try api.app(app, monitor: monitor)?.accepted }
    }

    /// Asks for a page of apps, by id.
    ///
    /// - Parameters:
    ///   - app: Apps with a greater id come; nil for the first ones.
    ///   - limit: The most apps returned, 1 … 1000.
    /// - Returns: The apps; fewer than `limit` when there are no more.
    /// - Throws: `NshError` when the daemon cannot say.
    public func apps(after app: String? = nil, limit: Int = 100) async throws -> [NshKnownApp] {
        try await run { api, monitor in
            try api.apps(after: app, limit: limit, monitor: monitor).apps.map(NshKnownApp.init)
        }
    }

    /// Asks what was decided, when and why.
    ///
    /// - Parameters:
    ///   - sequence: Events with a greater number are returned; 0 for all that are kept.
    ///   - limit: The most events returned, 1 … 1000.
    /// - Returns: The events, oldest first; who asked is said to admins alone.
    /// - Throws: `NshError`: `eventsGone` when events after the number are no longer kept.
    public func events(after sequence: Int64 = 0, limit: Int = 1000) async throws -> [NshEvent] {
        try await run { api, monitor in
            switch try api.events(after: sequence, limit: limit, monitor: monitor) {
            case .page(let page): return page.events.map(\.event)
            case .gone(let oldest):
                let message = "events after \(sequence) are no longer kept; the oldest is \(oldest)"
                throw NshError(code: .eventsGone, message: message, report: nil)
            }
        }
    }

    /// Follows what is decided, from after an event on, until the loop is left.
    ///
    /// A connection that is lost is made again, and nothing is missed: what the daemon no longer keeps shows as a gap.
    /// Events wait in the daemon, not in memory, while the loop is busy.
    ///
    /// - Parameter sequence: Events with a greater number come; 0 for all that are kept, `status.newestEvent` for those
    ///   from now on.
    /// - Returns: Events oldest first. The stream ends when its task is cancelled, and throws `NshError` when the daemon
    ///   cannot be reached the first time or does not let this user follow.
    public func events(following sequence: Int64) -> AsyncThrowingStream<NshFollowedEvent, any Error> {
        let follower = EventFollower(api, after: sequence)
        // A thread of its own: one that waits for days must not keep others from being asked.
        let pool = WorkerPool(maximumThreads: 1)
        return AsyncThrowingStream(unfolding: {
            do {
                let item = try await pool.runBlocking { flag in try follower.next { flag.isRaised } }
                switch item {
                case .event(let document): return .event(document.event)
                case .gap(let oldest): return .gap(oldest: oldest)
                }
            } catch {
                let error = NshError(wrapping: error)
                if error.code == .cancelled { return nil }
                throw error
            }
        })
    }

    /// What the daemon says of itself and its store.
    ///
    /// - Throws: `NshError` when it cannot be reached.
    public var status: NshDaemonStatus {
        get async throws { try await run { api, monitor in NshDaemonStatus(try api.status(monitor: monitor)) } }
    }

    /// Asks whether the daemon can decide.
    ///
    /// - Throws: `NshError` with the reason when it cannot: `noTrustedRoots`, a code of its store, or `ioFailure` when it
    ///   cannot be reached.
    public func health() async throws {
        try await run { api, monitor in try api.health(monitor: monitor) }
    }

    // MARK: - Threads

    private func run<Value: Sendable>(
        _ progress: NshProgress.Handler? = nil, _ work: @escaping @Sendable (DaemonAPI, Monitor) throws -> Value
    ) async throws -> Value {
        do {
            return try await pool.runBlocking { [api] flag in
                let monitor = Monitor(
                    isCancelled: { flag.isRaised },
                    progress: { done, total in progress?(NshProgress(done: done, total: total)) })
                return try work(api, monitor)
            }
        } catch {
            throw NshError(wrapping: error)
        }
    }
}
