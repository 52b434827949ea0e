/// How a database is found, judged, made and brought up to date before anybody uses it.
///
/// - Spec: STO-4, STO-5, STO-6
struct StoreOpening {
    let state: StateDirectory
    let schema: Schema
    let busyTimeoutSeconds: Double
    let durability: Durability

    /// The name of a database while it is made; one that a crash left behind is made again.
    private static let makingName = "trust.sqlite.new"

    /// Opens the database, and makes it when there is none and it may be made.
    func connect() throws(Trouble) -> SQLiteConnection {
        if try state.root.status(of: StateDirectory.databaseName) == nil {
            try judgeRemains()
            guard state.access == .readWrite else {
                throw Trouble(.noSuchFile, "there is no trust store in \(Printable.escaped(state.path))")
            }
            try makeOnce()
        }
        return try connectExisting()
    }

    /// Opens a database that is there.
    ///
    /// - Throws: `storeUnsafe`, `storeCorrupt`, `storeNewer`, `storeBusy`, `ioFailure`.
    func connectExisting() throws(Trouble) -> SQLiteConnection {
        try judgeFile()
        let path = try state.absolutePath(of: StateDirectory.databaseName)
        let connection = try SQLiteConnection(path: path, mode: state.access == .readOnly ? .readOnly : .readWrite)
        connection.beginWaiting(seconds: busyTimeoutSeconds)
        try persistently(on: connection) { () throws(Trouble) in try prepare(connection) }
        return connection
    }

    /// Runs an attempt that takes a lock, again while other processes are in the way and time is left, and once more
    /// after a change was undone that a crash interrupted.
    ///
    /// A connection that only reads cannot undo it. The process may be permitted to all the same, and is not to fail
    /// until somebody else writes; it opens another connection for that.
    func persistently(on connection: SQLiteConnection, _ attempt: () throws(Trouble) -> Void) throws(Trouble) {
        do throws(Trouble) {
            try connection.persistently(attempt)
        } catch {
            guard connection.metInterruptedChange else { throw error }
            try undoInterruptedChange()
            try connection.persistently(attempt)
        }
    }

    /// Lets SQLite roll back what its journal says; where this process may not write, nothing happens.
    private func undoInterruptedChange() throws(Trouble) {
        let path = try state.absolutePath(of: StateDirectory.databaseName)
        let connection = try SQLiteConnection(path: path, mode: .readWrite)
        connection.beginWaiting(seconds: busyTimeoutSeconds)
        do throws(Trouble) {
            try connection.persistently { () throws(Trouble) in _ = try connection.integer("PRAGMA user_version") }
        } catch {
            // Without the right to write, the same is found again; the attempt that follows says so.
            guard connection.metInterruptedChange else { throw error }
        }
    }

    /// Says that a version of the database is not this program's.
    static func newer(_ version: Int64, _ state: StateDirectory) -> Trouble {
        Trouble(
            .storeNewer,
            "trust store \(Printable.escaped(state.path)) has version \(version), which a newer program made; update this one"
        )
    }

    // MARK: - Judging

    /// Refuses a directory that holds something of ours but no database: with it, the floors are gone.
    private func judgeRemains() throws(Trouble) {
        let names = [
            StateDirectory.journalName, StateDirectory.appsName, StateDirectory.stagingName,
            StateDirectory.setAsideName,
        ]
        for name in names where try state.root.status(of: name) != nil {
            // Another process may just have made the database and what belongs to it.
            if try state.root.status(of: StateDirectory.databaseName) != nil { return }
            throw Trouble(
                .storeCorrupt,
                "\(Printable.escaped(state.path)) holds “\(name)” but no \(StateDirectory.databaseName); "
                    + "restore the database from a backup, or choose another directory")
        }
    }

    private func judgeFile() throws(Trouble) {
        let name = state.root.shown(StateDirectory.databaseName)
        for file in [StateDirectory.databaseName, StateDirectory.journalName] {
            guard let status = try state.root.status(of: file) else { continue }
            guard status.kind == .regular else {
                throw Trouble(.storeUnsafe, "\(state.root.shown(file)) is not a regular file")
            }
            if let exposure = status.exposure { throw Trouble(.storeUnsafe, "\(state.root.shown(file)): \(exposure)") }
            guard status.links <= 1 else {
                throw Trouble(.storeUnsafe, "\(state.root.shown(file)) has \(status.links) names; it must have one")
            }
        }
        // An empty file is an empty database to SQLite, and would undo every floor.
        guard try state.root.status(of: StateDirectory.databaseName)?.size != 0 else {
            throw Trouble(.storeCorrupt, "trust store \(name) is empty; restore it from a backup")
        }
    }

    private func prepare(_ connection: SQLiteConnection) throws(Trouble) {
        guard try connection.integer("PRAGMA application_id") == Schema.applicationID else {
            throw Trouble(
                .storeCorrupt,
                "\(state.root.shown(StateDirectory.databaseName)) is not a trust store; restore it from a backup")
        }
        let version = try connection.integer("PRAGMA user_version")
        guard version <= schema.version else { throw Self.newer(version, state) }
        guard version >= 1 else { throw connection.corrupt("it has no version") }
        try configure(connection, journal: state.access == .readOnly ? nil : "truncate")
        if version < schema.version { try migrate(connection) }
    }

    private func configure(_ connection: SQLiteConnection, journal: String?) throws(Trouble) {
        if let journal {
            let mode = try connection.row("PRAGMA journal_mode = \(journal)") { (row) throws(Trouble) in row.text(0) }
            guard mode == journal else {
                throw connection.corrupt("its journal has mode \(Printable.escaped(mode ?? "none"))")
            }
        }
        try connection.script(
            """
            PRAGMA synchronous = \(durability == .powerLoss ? "FULL" : "OFF");
            PRAGMA foreign_keys = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON;
            PRAGMA secure_delete = OFF;
            PRAGMA cache_size = -4096;
            """)
    }

    // MARK: - Making and migrating

    /// Makes the database unless another process does so first.
    private func makeOnce() throws(Trouble) {
        // The lock of the directory itself: a lock file would be one more thing of ours to find without a database.
        // It is taken on a descriptor of its own and goes with it.
        let lock = try state.root.openDirectory(".")
        let isFree = try FileLock.wait(lock.raw, .exclusive, seconds: busyTimeoutSeconds, Printable.escaped(state.path))
        guard isFree else {
            throw Trouble(.storeBusy, "another process has been making \(Printable.escaped(state.path)) for too long")
        }
        guard try state.root.status(of: StateDirectory.databaseName) == nil else { return }
        try judgeRemains()
        for leftover in [Self.makingName, Self.makingName + "-journal"] { try state.root.removeTree(leftover) }
        do throws(Trouble) {
            try make()
        } catch {
            // On a full disk the room is given back; when it cannot be, the next start does so, and the first error counts.
            do { try state.root.removeTree(Self.makingName) } catch {}
            throw error
        }
        // Complete and synced, or not there at all.
        guard try state.root.rename(Self.makingName, to: state.root, as: StateDirectory.databaseName) else {
            throw Trouble(.ioFailure, "\(state.root.shown(StateDirectory.databaseName)) appeared while it was made")
        }
        try state.root.sync()
    }

    private func make() throws(Trouble) {
        try state.root.makeEmptyFile(Self.makingName, permissions: 0o600)
        let connection = try SQLiteConnection(path: try state.absolutePath(of: Self.makingName), mode: .readWrite)
        connection.beginWaiting(seconds: busyTimeoutSeconds)
        try configure(connection, journal: "memory")
        try connection.script("BEGIN IMMEDIATE; PRAGMA application_id = \(Schema.applicationID);")
        try apply(schema.steps[...], to: connection)
    }

    private func migrate(_ connection: SQLiteConnection) throws(Trouble) {
        guard state.access == .readWrite else {
            throw Trouble(
                .ioFailure,
                "trust store \(Printable.escaped(state.path)) is of an older version; open it once with write access")
        }
        try connection.run("BEGIN IMMEDIATE")
        do throws(Trouble) {
            let version = try connection.integer("PRAGMA user_version")
            guard version <= schema.version else { throw Self.newer(version, state) }
            try apply(schema.steps[Int(version)...], to: connection)
        } catch {
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }

    private func apply(_ steps: ArraySlice<String>, to connection: SQLiteConnection) throws(Trouble) {
        for step in steps { try connection.script(step) }
        try connection.script("PRAGMA user_version = \(schema.version); COMMIT;")
    }
}
