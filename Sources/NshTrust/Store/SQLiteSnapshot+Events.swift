/// The decision log.
extension SQLiteSnapshot {
    func events(after sequence: Int64, limit: Int) throws -> EventPage {
        let events = try connection.rows(
            """
            SELECT sequence, kind, time, app, build, digest, code, message, uid, pid, count FROM events
            WHERE sequence > ? ORDER BY sequence LIMIT ?
            """, [.integer(sequence), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in try event(row) }
        return EventPage(
            events: events, next: events.last?.sequence ?? sequence,
            oldest: try connection.integer("SELECT min(sequence) FROM events"))
    }

    func newestEvent() throws -> Int64 { try connection.integer("SELECT max(sequence) FROM events") }

    private func event(_ row: SQLiteStatement) throws(Trouble) -> StoredEvent {
        guard let kind = NewEvent.Kind(rawValue: row.text(1)) else {
            throw connection.corrupt("an event is of no kind")
        }
        guard let uid = UInt32(exactly: row.integer(8)), let pid = Int32(exactly: row.integer(9)) else {
            throw connection.corrupt("an event’s user or process is no number of one")
        }
        let event = NewEvent(
            kind, time: row.integer(2), app: row.isNull(3) ? nil : try appID(row.text(3)),
            build: row.optionalInteger(4),
            digest: row.isNull(5) ? nil : try digest(row.bytes(5)), code: row.optionalText(6), message: row.text(7),
            uid: uid, pid: pid)
        return StoredEvent(sequence: row.integer(0), event: event, count: row.integer(10))
    }
}
