/// Gathering what lists revoke, for a process that looks up often.
extension SQLiteTrustStore {
    /// Entries that are read in one snapshot: others that want to commit wait a millisecond for it.
    private static let pageOfEntries = 4096

    /// Runs the body on a snapshot of a transaction, and has entries gathered once that is worth while.
    func withSnapshot<Value>(_ connection: SQLiteConnection, _ body: (SQLiteSnapshot) throws -> Value) throws -> Value {
        let view = RevokedPrefixes.View(revoked)
        defer { count(view.lookUps) }
        return try body(SQLiteSnapshot(connection, revoked: view))
    }

    private func count(_ lookUps: Int) {
        guard lookUps > 0, revoked.note(lookUps) else { return }
        // On a thread of its own: who asks just now is not kept waiting. Where none can be started, none are kept.
        let number = SystemThread.startDetached { [weak self] in self?.gatherRevoked() }
        if number != 0 { revoked.keep(nil) }
    }

    /// Gathers the entries of the lists that are in the store now, and keeps them.
    func gatherRevoked() {
        do {
            revoked.keep(try revokedEntries())
        } catch {
            // Nothing is lost but time: SQLite goes on to answer, and says itself what is wrong with the store.
            revoked.keep(nil)
        }
    }

    /// - Returns: The entries; nil when the lists changed meanwhile, or there are too many.
    private func revokedEntries() throws -> RevokedPrefixes.Entries? {
        // A connection of its own, closed afterwards: nobody waits for a page but who wants to commit.
        let slot = Locked(Slot())
        let (lists, counts) = try transaction(in: slot, begin: "BEGIN") { connection in
            let snapshot = SQLiteSnapshot(connection)
            return (try snapshot.listsHeld(), try snapshot.entryCounts())
        }
        let allowed = 0...RevokedPrefixes.maximumEntries
        guard counts.values.allSatisfy(allowed.contains), allowed.contains(counts.values.reduce(0, +)) else {
            return nil
        }
        var sets: [Schema.EntryKind: PrefixSet] = [:]
        for kind in RevokedPrefixes.kinds {
            var set = PrefixSet(capacity: Int(counts[kind] ?? 0))
            var last: [UInt8]? = []
            while let after = last {
                let isSame = try transaction(in: slot, begin: "BEGIN") { connection in
                    let snapshot = SQLiteSnapshot(connection)
                    last = try snapshot.addSubjects(of: kind, after: after, limit: Self.pageOfEntries, to: &set)
                    return try snapshot.listsHeld() == lists
                }
                guard isSame else { return nil }
            }
            sets[kind] = set
        }
        return RevokedPrefixes.Entries(of: lists, sets)
    }
}

extension SQLiteSnapshot {
    /// The payload digests of the lists whose entries are held, in the order in which they were applied.
    ///
    /// They name what is revoked: an entry is there as long as the list is that names it.
    func listsHeld() throws -> [Digest] {
        try connection.rows("SELECT payload_digest FROM lists ORDER BY id") { (row) throws(Trouble) in
            try digest(row.bytes(0))
        }
    }

    /// How many certificates, keys and packages the lists name.
    fileprivate func entryCounts() throws -> [Schema.EntryKind: Int64] {
        try connection.row("SELECT sum(certificates), sum(keys), sum(packages) FROM lists") { (row) throws(Trouble) in
            [.certificate: row.integer(0), .key: row.integer(1), .package: row.integer(2)]
        } ?? [:]
    }

    /// Adds what the next entries of a kind begin with.
    ///
    /// - Returns: The last of them; nil when there are no more.
    fileprivate func addSubjects(
        of kind: Schema.EntryKind, after: [UInt8], limit: Int, to set: inout PrefixSet
    ) throws -> [UInt8]? {
        var last: [UInt8]?
        var count = 0
        try connection.using(
            "SELECT subject FROM list_entries WHERE kind = ? AND subject > ? ORDER BY subject LIMIT ?",
            [.integer(kind.rawValue), .blob(after), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in
            while try row.step() {
                guard let prefix = row.prefix(0), set.append(prefix) else {
                    throw connection.corrupt("the entries of lists are out of order")
                }
                count += 1
                if count == limit { last = row.bytes(0) }
            }
        }
        return last
    }
}
