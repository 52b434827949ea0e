import NshTrust
import NshTrustWire

/// What the `store` verbs ask of a trust store and do to it, through whichever door it is reached.
///
/// Everything throws a code of the store, or the daemon's.
protocol StoreDoor {
    /// What the store holds.
    func status() throws -> StoreStatusDocument
    /// A page of apps with a greater id.
    func apps(after app: String?, limit: Int) throws -> [AppDocument]
    /// A page of the decision log.
    func events(after sequence: Int64, limit: Int) throws -> LogPage
    /// Waits for what comes next in the log, one thing after the other, until `handle` says that it is enough.
    func follow(after sequence: Int64, _ handle: (FollowedRow) throws -> Bool) throws
    /// Looks for damage.
    func check() throws -> StoreCheckDocument
    /// Removes the trees of older builds.
    func prune(keeping builds: Int, isRehearsal: Bool) throws -> PruningDocument
    /// Removes all trees of an app.
    func remove(_ app: AppID) throws -> PruningDocument
    /// Takes a root's lists out of force; tells whether there was one.
    func forgetRoot(_ issuer: Digest) throws -> Bool
    /// Floors and lists, for a new machine.
    func export() throws -> StoreDocument
}

/// A page of the decision log.
struct LogPage {
    /// The rows, oldest first.
    var events: [EventDocument]
    /// The number to ask after next.
    var next: Int64
    /// The oldest row still kept, when rows after the number that was asked for are gone.
    var oldest: Int64?
}

/// What comes next in a log that is followed.
enum FollowedRow {
    /// A row.
    case event(EventDocument)
    /// Rows are missing here; the oldest that is still kept.
    case gap(oldest: Int64)
}

/// Opens the door that a command line names.
enum StoreDoors {
    /// Opens a store that exists, or connects to a daemon.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - isReadOnly: Whether nothing is made, migrated or removed.
    /// - Returns: The door.
    /// - Throws: `UsageError` when none is named, `noSuchFile` when there is no store, a code of the store, `Failure` when
    ///   there is no daemon.
    static func open(_ invocation: Invocation, isReadOnly: Bool) throws -> any StoreDoor {
        switch try StorePlace.required(by: invocation) {
        case .state(let path): return LocalStore(try StoreAccess.open(path, isReadOnly: isReadOnly), path)
        case .socket(let path):
            let door = DaemonDoor(path)
            try door.prepare()
            return door
        }
    }
}

/// A store that this process opens itself.
struct LocalStore: StoreDoor {
    private let store: StoreAdministration
    private let path: String

    /// How long one wait for a change lasts at most, in seconds.
    private static let waitSeconds = 1.0

    /// Takes an open store and the path that the command line names it by.
    init(_ store: StoreAdministration, _ path: String) {
        self.store = store
        self.path = path
    }

    func status() throws -> StoreStatusDocument { StoreStatusDocument(state: path, try store.status()) }

    func apps(after app: String?, limit: Int) throws -> [AppDocument] {
        try store.apps(after: app.flatMap(AppID.init), limit: limit).map { record in
            AppDocument(
                accepted: NshAcceptedBuild(record.build),
                installed: try record.installed.map {
                    AppDocument.Installed($0, directory: try store.state.absolutePath(of: $0.tree))
                })
        }
    }

    func events(after sequence: Int64, limit: Int) throws -> LogPage {
        let page = try store.events(after: sequence, limit: limit)
        return LogPage(
            events: page.events.map { EventDocument(NshEvent($0), showsCaller: true) }, next: page.next,
            oldest: sequence > 0 && page.oldest > sequence + 1 ? page.oldest : nil)
    }

    func follow(after sequence: Int64, _ handle: (FollowedRow) throws -> Bool) throws {
        let watch = StoreWatch(store.state)
        var after = sequence
        while true {
            let page = try events(after: after, limit: 1000)
            if let oldest = page.oldest, try !handle(.gap(oldest: oldest)) { return }
            for event in page.events where try !handle(.event(event)) { return }
            after = page.next
            if page.events.isEmpty { _ = watch.wait(seconds: Self.waitSeconds) }
        }
    }

    func check() throws -> StoreCheckDocument {
        StoreCheckDocument(try store.check { Interruption.signal != 0 })
    }

    func prune(keeping builds: Int, isRehearsal: Bool) throws -> PruningDocument {
        PruningDocument(try store.prune(keeping: builds, isRehearsal: isRehearsal), state: store.state.path)
    }

    func remove(_ app: AppID) throws -> PruningDocument {
        PruningDocument(try store.remove(app), state: store.state.path)
    }

    func forgetRoot(_ issuer: Digest) throws -> Bool { try store.forgetRoot(issuer) }

    func export() throws -> StoreDocument { try store.export() }
}
