import NshTrust
import NshTrustClient
import NshTrustWire

/// A store that a daemon keeps, which judges with its own roots and its own policy.
struct DaemonDoor {
    private let api: DaemonAPI
    private let isRehearsal: Bool

    /// Names the daemon; a rehearsal applies no list.
    init(_ socketPath: String, isRehearsal: Bool = false) {
        api = DaemonAPI(socketPath: socketPath)
        self.isRehearsal = isRehearsal
    }

    /// Connects to the daemon.
    ///
    /// - Throws: `Failure` that says what to look at when there is none.
    func prepare() throws {
        do {
            try api.connect()
        } catch {
            throw Failure(
                .error, error.code.rawValue, error.message,
                hint: "is nsh-trustd running, and may this user use its socket? systemctl status nsh-trustd")
        }
    }

    /// What the daemon says of itself.
    func daemonStatus() throws -> StatusDocument { try api.status(monitor: interruptible) }

    /// Ends a wait when a signal has come.
    private var interruptible: Monitor { Monitor(isCancelled: { Interruption.signal != 0 }) }
}

extension DaemonDoor: PackageDoor {
    var now: Int64 { WallClock.system.now() }

    func rootFiles() throws -> [String: String] {
        Dictionary(try daemonStatus().roots.map { ($0.key, $0.file) }, uniquingKeysWith: { first, _ in first })
    }

    func verify(_ file: String, _ monitor: Monitor) throws -> NshReport {
        if file == "-" { return try Self.report(api.verify(StandardInput(), length: nil, monitor: monitor)) }
        return try Self.report(api.verify(path: file, monitor: monitor))
    }

    func open(_ file: String, _ monitor: Monitor) throws -> (report: NshReport, directory: String) {
        let verdict = try api.open(path: file, monitor: monitor)
        guard let directory = verdict.directory else {
            throw Trouble(.ioFailure, "nsh-trustd’s verdict is not understood: it names no tree")
        }
        return (try Self.report(verdict), directory)
    }

    private static func report(_ verdict: VerdictDocument) throws(Trouble) -> NshReport {
        guard let report = verdict.report else {
            throw Trouble(.ioFailure, "nsh-trustd’s verdict is not understood: it has no report")
        }
        return report
    }

    func applyRevocations(_ bytes: consuming [UInt8]) throws -> NshRevocationUpdate {
        try api.applyRevocations(bytes, isRehearsal: isRehearsal, monitor: interruptible).update
    }

    func importStore(_ document: StoreDocument) throws -> ImportDocument {
        try api.importStore(document, monitor: interruptible)
    }
}

extension DaemonDoor: StoreDoor {
    func status() throws -> StoreStatusDocument { try daemonStatus().store }

    func apps(after app: String?, limit: Int) throws -> [AppDocument] {
        try api.apps(after: app, limit: limit, monitor: interruptible).apps
    }

    func events(after sequence: Int64, limit: Int) throws -> LogPage {
        var (after, missing): (Int64, Int64?) = (sequence, nil)
        while true {
            switch try api.events(after: after, limit: limit, monitor: interruptible) {
            case .page(let page): return LogPage(events: page.events, next: page.next, oldest: missing)
            case .gone(let oldest): (after, missing) = (max(oldest - 1, 0), oldest)
            }
        }
    }

    func follow(after sequence: Int64, _ handle: (FollowedRow) throws -> Bool) throws {
        let follower = EventFollower(api, after: sequence)
        while true {
            switch try follower.next(isCancelled: { Interruption.signal != 0 }) {
            case .event(let event): if try !handle(.event(event)) { return }
            case .gap(let oldest): if try !handle(.gap(oldest: oldest)) { return }
            }
        }
    }

    func check() throws -> StoreCheckDocument { try api.checkStore(monitor: interruptible) }

    func prune(keeping builds: Int, isRehearsal: Bool) throws -> PruningDocument {
        try api.prune(keeping: builds, isRehearsal: isRehearsal, monitor: interruptible)
    }

    func remove(_ app: AppID) throws -> PruningDocument { try api.remove(app: app.text, monitor: interruptible) }

    func forgetRoot(_ issuer: Digest) throws -> Bool { try api.forgetRoot(issuer, monitor: interruptible) }

    func export() throws -> StoreDocument { try api.export(monitor: interruptible) }
}
