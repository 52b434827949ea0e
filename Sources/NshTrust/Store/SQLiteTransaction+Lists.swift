/// Applying and forgetting revocation lists.
extension SQLiteTransaction {
    @discardableResult
    func apply(_ list: VerifiedList, succession: ListSuccession, clock: Int64, event: NewEvent) throws -> Bool {
        let issuer = SQLiteValue.digest(list.list.issuer)
        let isHeld = try connection.integer(
            "SELECT count(*) FROM lists WHERE issuer = ? AND payload_digest = ?", [issuer, .digest(list.payloadDigest)])
        guard succession != .unchanged, isHeld == 0 else { return false }
        switch succession {
        case .unchanged: return false
        case .replaces: try removeLists(of: list.list.issuer)
        case .unites:
            // REV-10: what the lists before it take away stays; a withdrawn root gives nothing.
            try connection.run(
                "DELETE FROM list_entries WHERE kind = ? AND list IN (SELECT id FROM lists WHERE issuer = ?)",
                [.integer(Schema.EntryKind.transfer.rawValue), issuer])
            try connection.run("UPDATE lists SET is_head = 0 WHERE issuer = ?", [issuer])
        }
        let id = try insert(list, clock: clock)
        try insertEntries(of: list.list, id: id)
        try raise(.timeFloor, to: min(list.list.issuedAt, clock))
        for (app, bound) in list.list.maximumBuilds {
            try connection.run(
                "UPDATE apps SET build = ?1, identity = NULL, digest = NULL WHERE app = ?2 AND build > ?1",
                [.integer(bound), .text(app.text)])
        }
        try record(event)
        return true
    }

    func forgetLists(of issuer: Digest, event: NewEvent) throws -> Bool {
        guard try removeLists(of: issuer) else { return false }
        try record(event)
        return true
    }

    @discardableResult
    private func removeLists(of issuer: Digest) throws -> Bool {
        let ids = try connection.rows("SELECT id FROM lists WHERE issuer = ?", [.digest(issuer)]) {
            (row) throws(Trouble) in row.integer(0)
        }
        guard !ids.isEmpty else { return false }
        if try connection.integer("SELECT count(*) FROM lists") == Int64(ids.count) {
            // Nobody else has entries: SQLite drops the table's pages without looking at rows.
            try connection.run("DELETE FROM list_entries")
        } else {
            for id in ids { try connection.run("DELETE FROM list_entries WHERE list = ?", [.integer(id)]) }
        }
        try connection.run("DELETE FROM lists WHERE issuer = ?", [.digest(issuer)])
        return true
    }

    private func insert(_ verified: VerifiedList, clock: Int64) throws -> Int64 {
        let list = verified.list
        try connection.run(
            """
            INSERT INTO lists (issuer, is_head, sequence, issued_at, expires_at, revokes_issuer, payload_digest, applied_at,
                certificates, keys, packages, minimum_builds, maximum_builds, transfers)
            VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .digest(list.issuer), .integer(list.sequence), .integer(list.issuedAt), .optional(list.expiresAt),
                .boolean(list.revokesIssuer), .digest(verified.payloadDigest), .integer(clock),
                .integer(Int64(list.certificates.count)), .integer(Int64(list.keys.count)),
                .integer(Int64(list.packages.count)), .integer(Int64(list.minimumBuilds.count)),
                .integer(Int64(list.maximumBuilds.count)), .integer(Int64(list.transfers.count)),
            ])
        let id = connection.lastRow
        try connection.run(
            "INSERT INTO list_envelopes (list, envelope) VALUES (?, ?)",
            [.integer(id), .zeros(verified.envelope.documentCount)])
        try connection.write(table: "list_envelopes", column: "envelope", row: id) { write in
            verified.envelope.forEachPiece(write)
        }
        return id
    }

    /// Inserts in the order of the table's key, so that a list of a million keys fills page after page.
    private func insertEntries(of list: RevocationList, id: Int64) throws {
        try insert(.certificate, id, list.certificates, \.bytes)
        try insert(.key, id, list.keys, \.bytes)
        try insert(.package, id, list.packages, \.bytes)
        try insert(.minimumBuild, id, list.minimumBuilds.sorted { $0.key < $1.key }) { entry in
            (Array(entry.key.text.utf8), .integer(entry.value))
        }
        try insert(.maximumBuild, id, list.maximumBuilds.sorted { $0.key < $1.key }) { entry in
            (Array(entry.key.text.utf8), .integer(entry.value))
        }
        try insert(.transfer, id, list.transfers.sorted { $0.key < $1.key }) { entry in
            (Array(entry.key.text.utf8), .text(entry.value.text))
        }
    }

    /// Rows that one statement inserts: a row in a statement of its own costs more than twice as much.
    private static var rowsAtOnce: Int { 64 }

    /// Inserts entries that have no value.
    private func insert<Entry>(
        _ kind: Schema.EntryKind, _ id: Int64, _ entries: SortedSet<Entry>, _ subject: (Entry) -> [UInt8]
    ) throws {
        var rest = entries[...]
        for count in [Self.rowsAtOnce, 1] where rest.count >= count {
            let rows = (0..<count).map { "(?1, ?\($0 + 3), ?2)" }.joined(separator: ", ")
            // Whatever fails here ends the transaction; so SQLite need not be able to undo the one statement.
            let sql = "INSERT OR ROLLBACK INTO list_entries (kind, subject, list) VALUES \(rows)"
            let subjects = [SQLiteValue](repeating: .null, count: count)
            try connection.using(sql, [.integer(kind.rawValue), .integer(id)] + subjects) {
                (statement) throws(Trouble) in
                while rest.count >= count {
                    for (place, entry) in rest.prefix(count).enumerated() {
                        try statement.bind(.blob(subject(entry)), at: Int32(place) + 3)
                    }
                    _ = try statement.step()
                    statement.rewind()
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    private func insert<Entry>(
        _ kind: Schema.EntryKind, _ id: Int64, _ entries: some Collection<Entry>,
        _ row: (Entry) -> ([UInt8], SQLiteValue)
    ) throws {
        guard !entries.isEmpty else { return }
        let sql = "INSERT INTO list_entries (kind, list, subject, value) VALUES (?, ?, ?, ?)"
        try connection.using(sql, [.integer(kind.rawValue), .integer(id), .null, .null]) {
            (statement) throws(Trouble) in
            for entry in entries {
                let (subject, value) = row(entry)
                try statement.bind(.blob(subject), at: 3)
                try statement.bind(value, at: 4)
                _ = try statement.step()
                statement.rewind()
            }
        }
    }
}
