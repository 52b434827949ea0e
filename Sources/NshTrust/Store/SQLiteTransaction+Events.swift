/// Writing the decision log, which stays bounded whatever callers do.
///
/// - Spec: STO-9
extension SQLiteTransaction {
    /// The log's bounds.
    enum EventLimits {
        /// Rows of refusals that stay.
        static let refusals: Int64 = 4096
        /// Rows of everything else that stay.
        static let others: Int64 = 65536
        /// Rows by which the log may be over its bounds for a while.
        static let slack: Int64 = 64
        /// Equal refusals within a minute that get a row each; from then on they are counted in the last one.
        static let equalRefusals: Int64 = 16
        /// Seconds within which refusals are equal.
        static let windowSeconds: Int64 = 60
    }

    func record(_ event: NewEvent) throws {
        let before = connection.totalChanges
        defer { connection.logChanges += connection.totalChanges - before }
        if event.kind == .refused, try merge(event) { return }
        try connection.run(
            """
            INSERT INTO events (kind, time, app, build, digest, code, message, uid, pid, count)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            """,
            [
                .text(event.kind.rawValue), .integer(event.time), .optional(event.app?.text), .optional(event.build),
                .digest(event.digest), .optional(event.code), .text(event.message), .integer(Int64(event.uid)),
                .integer(Int64(event.pid)),
            ])
        if connection.lastRow % EventLimits.slack == 0 { try trim() }
    }

    /// Counts a refusal in the last row of its caller and code, when those flood; returns whether it did.
    private func merge(_ event: NewEvent) throws -> Bool {
        let recent = try connection.rows(
            """
            SELECT sequence, time FROM events WHERE kind = 'refused' AND uid = ? AND code IS ?
            ORDER BY sequence DESC LIMIT ?
            """,
            [.integer(Int64(event.uid)), .optional(event.code), .integer(EventLimits.equalRefusals)]
        ) { (row) throws(Trouble) in (sequence: row.integer(0), time: row.integer(1)) }
        guard let last = recent.first, recent.count == EventLimits.equalRefusals,
            recent.allSatisfy({ abs($0.time - event.time) <= EventLimits.windowSeconds })
        else { return false }
        try connection.run("UPDATE events SET count = count + 1 WHERE sequence = ?", [.integer(last.sequence)])
        return true
    }

    private func trim() throws {
        for (condition, limit) in [("=", EventLimits.refusals), ("<>", EventLimits.others)] {
            try connection.run(
                """
                DELETE FROM events WHERE kind \(condition) 'refused' AND sequence <= (
                    SELECT sequence FROM events WHERE kind \(condition) 'refused'
                    ORDER BY sequence DESC LIMIT 1 OFFSET ?)
                """, [.integer(limit)])
        }
    }
}
