/// The trust store on the local disk.
///
/// Reads and writes have a connection each, behind a lock each, so that in one process a query does not wait for a commit
/// to reach the disk; between processes SQLite's own locks decide. Each read is one short transaction, so it reflects
/// every commit that finished before it began.
///
/// - Spec: STO-1, STO-7, STO-8
package final class SQLiteTrustStore: TrustStore {
    /// Where the store lives.
    package let state: StateDirectory
    private let schema: Schema
    private let busyTimeoutSeconds: Double
    private let durability: Durability
    private let reader: Locked<Slot>
    private let writer: Locked<Slot>
    /// For who waits for changes.
    private let watcher = Locked(Slot())
    /// For `excerpt`: one asks whether anything changed, and never waits for the other, which reads.
    private let validator = Locked(Slot())
    private let asker = Locked(Slot())
    let excerpts = PackageExcerpts()
    let revoked = RevokedPrefixes()

    /// A place for a connection, which is opened when it is first needed.
    struct Slot: Sendable {
        var connection: SQLiteConnection?
    }

    private init(
        state: StateDirectory, schema: Schema, busyTimeoutSeconds: Double, durability: Durability,
        users: StoreUsers, first: SQLiteConnection
    ) {
        self.state = state
        self.schema = schema
        self.busyTimeoutSeconds = busyTimeoutSeconds
        self.durability = durability
        let opened = Locked(Slot(connection: first))
        switch users {
        case .oneThread: (reader, writer) = (opened, opened)
        case .manyThreads where state.access == .readOnly: (reader, writer) = (opened, Locked(Slot()))
        case .manyThreads: (reader, writer) = (Locked(Slot()), opened)
        }
    }

    /// Opens the store of a state directory; with write access makes it when there is none, and brings an older one up to
    /// date.
    ///
    /// - Parameters:
    ///   - state: The directory.
    ///   - busyTimeoutSeconds: How long locks of other processes are waited for.
    ///   - durability: What a commit survives.
    ///   - users: Whether more than one thread will use the store.
    /// - Returns: The store.
    /// - Throws: `noSuchFile` when there is none and none may be made; `storeCorrupt`, `storeNewer`, `storeUnsafe`,
    ///   `storeBusy`, `storeFull`, `ioFailure`.
    /// - Spec: STO-4, STO-5, STO-6
    package static func open(
        in state: StateDirectory, busyTimeoutSeconds: Double = 30, durability: Durability = .powerLoss,
        users: StoreUsers = .manyThreads
    ) throws(Trouble) -> SQLiteTrustStore {
        try open(
            in: state, busyTimeoutSeconds: busyTimeoutSeconds, durability: durability, users: users, schema: .current)
    }

    static func open(
        in state: StateDirectory, busyTimeoutSeconds: Double, durability: Durability = .powerLoss,
        users: StoreUsers = .manyThreads, schema: Schema
    ) throws(Trouble) -> SQLiteTrustStore {
        let opening = StoreOpening(
            state: state, schema: schema, busyTimeoutSeconds: busyTimeoutSeconds, durability: durability)
        return SQLiteTrustStore(
            state: state, schema: schema, busyTimeoutSeconds: busyTimeoutSeconds, durability: durability,
            users: users, first: try opening.connect())
    }

    /// Runs the body on one consistent snapshot; it must neither outlive the body nor be used to commit inside it.
    package func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        try transaction(in: reader, begin: "BEGIN") { try withSnapshot($0, body) }
    }

    /// Runs the body in one immediate transaction; it must not read or commit otherwise inside it.
    package func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws -> Value {
        guard state.access == .readWrite else {
            throw Trouble(.ioFailure, "trust store \(Printable.escaped(state.path)) was opened for reading only")
        }
        var decides = false
        // Also when it throws: the disk may fail behind the moment from which others see the change.
        defer { if decides { excerpts.noteCommit() } }
        return try transaction(in: writer, begin: "BEGIN IMMEDIATE") { connection in
            let before = connection.totalChanges
            connection.logChanges = 0
            let transaction = SQLiteTransaction(connection)
            let value = try body(transaction)
            // Whatever was written counts, but for the log, by which nothing is decided: it may fill at any rate.
            decides = connection.totalChanges - before != connection.logChanges
            if decides { try transaction.countDecision() }
            return value
        }
    }

    /// Returns a number that differs after every commit of any process, this one included.
    ///
    /// Asks on a connection of its own, so that no other use of the store hides a change from it.
    ///
    /// - Throws: `storeBusy` when a lock was waited for in vain, or what the system says.
    package func changeCount() throws -> Int64 { try changeCount(on: watcher, patience: busyTimeoutSeconds) }

    private func changeCount(on slot: Locked<Slot>, patience: Double) throws -> Int64 {
        try slot.withLock { slot in
            let connection = try connect(&slot, patience)
            connection.beginWaiting(seconds: patience)
            nonisolated(unsafe) var version: Int64 = 0
            do throws(Trouble) {
                try opening(patience).persistently(on: connection) { () throws(Trouble) in
                    version = try connection.integer("PRAGMA data_version")
                }
            } catch {
                if error.code == .ioFailure { slot.connection = nil }
                throw error
            }
            return version
        }
    }

    /// Returns what a decision on one installed package asks of the store, from memory where it can.
    ///
    /// It reflects every commit of this process, and those of others that finished 50 ms before. It never waits for
    /// another use of the store, but for the commit of a process.
    ///
    /// - Parameters:
    ///   - digest: The package digest.
    ///   - pinned: Returns the roots that the host trusts now; asked when the store is. The same whoever asks, until
    ///     `forgetExcerpts` is called.
    /// - Returns: The excerpt, or nil when the package is not installed.
    /// - Throws: A trouble of the store, or what `pinned` throws.
    /// - Spec: POL-24
    package func excerpt(of digest: Digest, pinned: () throws -> [PublicKey]) throws -> LocalExcerpt? {
        if let known = excerpts.known(digest) { return known }
        return try excerpts.answer(
            for: digest,
            patience: busyTimeoutSeconds,
            changeCount: { patience in try changeCount(on: validator, patience: patience) },
            decisionCount: { patience in
                try transaction(in: validator, begin: "BEGIN", patience: patience) { connection in
                    try SQLiteSnapshot(connection).decisionCount()
                }
            },
            read: { patience in
                let roots = try pinned()
                return try transaction(in: asker, begin: "BEGIN", patience: patience) { connection in
                    try withSnapshot(connection) { try PackageExcerpt(of: digest, pinned: roots, in: $0) }
                }
            })
    }

    /// Drops what `excerpt` has in memory; to be called after the host has come to trust other roots.
    package func forgetExcerpts() { excerpts.forget() }

    /// Runs the body on the connection that reads, outside of any transaction.
    func inspect<Value: Sendable>(_ body: (SQLiteConnection) throws -> Value) throws -> Value {
        try reader.withLock { slot in
            let connection = try connect(&slot, busyTimeoutSeconds)
            // In a transaction of its own, this finds and undoes what a crash of another process has left.
            try start("BEGIN", on: connection, busyTimeoutSeconds)
            try connection.run("COMMIT")
            return try body(connection)
        }
    }

    /// Runs the body in a transaction on the connection of a place, which is opened when there is none.
    func transaction<Value>(
        in slot: Locked<Slot>, begin: String, patience: Double? = nil, _ body: (SQLiteConnection) throws -> Value
    ) throws -> Value {
        let patience = patience ?? busyTimeoutSeconds
        // The value goes from the locked body to this thread and nowhere else.
        nonisolated(unsafe) var value: Value?
        try slot.withLock { slot in
            let connection = try connect(&slot, patience)
            do {
                try start(begin, on: connection, patience)
                value = try body(connection)
                connection.beginWaiting(seconds: patience)
                try connection.run("COMMIT")
            } catch {
                if connection.isInTransaction {
                    // A connection that cannot even roll back is closed, which rolls back; the next use opens another.
                    do { try connection.run("ROLLBACK") } catch { slot.connection = nil }
                }
                // So is one that met an error of the disk, which it would remember.
                if (error as? Trouble)?.code == .ioFailure { slot.connection = nil }
                throw error
            }
        }
        guard let value else { fatalError("the body has returned a value") }
        return value
    }

    private func start(_ begin: String, on connection: SQLiteConnection, _ patience: Double) throws(Trouble) {
        connection.beginWaiting(seconds: patience)
        try opening(patience).persistently(on: connection) { () throws(Trouble) in
            do throws(Trouble) {
                try connection.run(begin)
                // Takes the lock of a reader, and sees a newer program's migration.
                let version = try connection.integer("PRAGMA user_version")
                guard version == schema.version else { throw StoreOpening.newer(version, state) }
            } catch {
                if connection.isInTransaction { try connection.run("ROLLBACK") }
                throw error
            }
        }
    }

    private func connect(_ slot: inout Slot, _ patience: Double) throws(Trouble) -> SQLiteConnection {
        if let connection = slot.connection { return connection }
        let connection = try opening(patience).connectExisting()
        slot.connection = connection
        return connection
    }

    private func opening(_ patience: Double) -> StoreOpening {
        StoreOpening(state: state, schema: schema, busyTimeoutSeconds: patience, durability: durability)
    }
}
