/// One consistent view of the database; valid inside the transaction that it was made for.
///
/// Rows are restored through the same parsers that read packages. A row that they refuse is damage, and an error.
struct SQLiteSnapshot: StoreSnapshot {
    let connection: SQLiteConnection
    /// What is known without SQLite not to be revoked; a transaction that changes lists has none.
    private let revoked: RevokedPrefixes.View?

    init(_ connection: SQLiteConnection, revoked: RevokedPrefixes.View? = nil) {
        self.connection = connection
        self.revoked = revoked
    }

    // MARK: - Lists

    func timeFloor() throws -> Int64 { try connection.integer(Self.metaQuery, [.text(Meta.timeFloor.rawValue)]) }

    func greatestThreshold() throws -> Int {
        max(1, Int(try connection.integer(Self.metaQuery, [.text(Meta.greatestThreshold.rawValue)])))
    }

    /// How many transactions have changed what decisions are made by; the decision log is not.
    func decisionCount() throws -> Int64 {
        try connection.integer(Self.metaQuery, [.text(Meta.decisionCount.rawValue)])
    }

    /// The numbers in `meta`.
    enum Meta: String {
        case timeFloor, greatestThreshold, decisionCount
    }
    private static let metaQuery = "SELECT value FROM meta WHERE name = ?"

    func listsInForce() throws -> [ListSummary] {
        try connection.rows(
            """
            SELECT issuer, sequence, issued_at, expires_at, payload_digest FROM lists WHERE is_head = 1 ORDER BY issuer
            """
        ) { (row) throws(Trouble) in try summary(row) }
    }

    func withdrawals(ofRoot root: Digest) throws -> [ListReference] {
        // `UNION` because a list may do both.
        try connection.rows(
            """
            SELECT issuer, sequence FROM lists WHERE issuer = ?1 AND revokes_issuer = 1
            UNION SELECT issuer, sequence FROM list_entries JOIN lists ON lists.id = list WHERE kind = ?2 AND subject = ?1
            """, [.digest(root), .integer(Schema.EntryKind.key.rawValue)]
        ) { (row) throws(Trouble) in try reference(row, 0) }
    }

    func revocations(ofCertificate serial: Serial) throws -> [ListReference] {
        try mayBeRevoked(.certificate, serial.prefix) ? entries(.certificate, serial.bytes) : []
    }

    func revocations(ofKey hash: Digest) throws -> [ListReference] {
        try mayBeRevoked(.key, hash.prefix) ? entries(.key, hash.bytes) : []
    }

    func revocations(ofPackage digest: Digest) throws -> [ListReference] {
        try mayBeRevoked(.package, digest.prefix) ? entries(.package, digest.bytes) : []
    }

    private func mayBeRevoked(_ kind: Schema.EntryKind, _ prefix: UInt64) throws -> Bool {
        guard let revoked else { return true }
        if !revoked.isDecided { try revoked.decide(by: listsHeld) }
        return revoked.mayHold(kind, prefix)
    }

    func minimumBuilds(of app: AppID) throws -> [BuildBound] { try bounds(.minimumBuild, app) }

    func maximumBuilds(of app: AppID) throws -> [BuildBound] { try bounds(.maximumBuild, app) }

    func transfers(of app: AppID) throws -> [Transfer] {
        try entries(.transfer, Array(app.text.utf8)) { (row) throws(Trouble) in
            Transfer(publisher: try displayText(row.text(2)), list: try reference(row, 0))
        }
    }

    private func bounds(_ kind: Schema.EntryKind, _ app: AppID) throws(Trouble) -> [BuildBound] {
        try entries(kind, Array(app.text.utf8)) { (row) throws(Trouble) in
            BuildBound(build: row.integer(2), list: try reference(row, 0))
        }
    }

    private func entries(_ kind: Schema.EntryKind, _ subject: [UInt8]) throws(Trouble) -> [ListReference] {
        try entries(kind, subject) { (row) throws(Trouble) in try reference(row, 0) }
    }

    private func entries<Entry>(
        _ kind: Schema.EntryKind, _ subject: [UInt8], _ read: (SQLiteStatement) throws(Trouble) -> Entry
    ) throws(Trouble) -> [Entry] {
        try connection.rows(
            """
            SELECT issuer, sequence, value FROM list_entries JOIN lists ON lists.id = list
            WHERE kind = ? AND subject = ? ORDER BY issuer, sequence
            """, [.integer(kind.rawValue), .blob(subject)], read)
    }

    func storedLists() throws -> [StoredList] {
        try connection.rows(
            """
            SELECT issuer, sequence, issued_at, expires_at, payload_digest, revokes_issuer, applied_at,
                certificates, keys, packages, minimum_builds, maximum_builds, transfers, id
            FROM lists ORDER BY issuer, is_head, id
            """
        ) { (row) throws(Trouble) in
            var counts: [String: Int64] = [:]
            for (index, kind) in Schema.EntryKind.allCases.enumerated() {
                counts[kind.name] = row.integer(7 + Int32(index))
            }
            return StoredList(
                number: row.integer(13), summary: try summary(row), revokesIssuer: row.integer(5) != 0,
                appliedAt: row.integer(6), entryCounts: counts)
        }
    }

    func envelope(ofList number: Int64) throws -> [UInt8] {
        try connection.row("SELECT envelope FROM list_envelopes WHERE list = ?", [.integer(number)]) {
            (row) throws(Trouble) in row.bytes(0)
        } ?? []
    }

    private func summary(_ row: SQLiteStatement) throws(Trouble) -> ListSummary {
        ListSummary(
            list: try reference(row, 0), issuedAt: row.integer(2), expiresAt: row.optionalInteger(3),
            payloadDigest: try digest(row.bytes(4)))
    }

    private func reference(_ row: SQLiteStatement, _ column: Int32) throws(Trouble) -> ListReference {
        ListReference(issuer: try digest(row.bytes(column)), sequence: row.integer(column + 1))
    }

    // MARK: - Roots

    func rootsSeen() throws -> [(key: PublicKey, since: Int64)] {
        try connection.rows("SELECT key, since FROM roots_seen ORDER BY since, key") { (row) throws(Trouble) in
            guard let key = PublicKey(row.bytes(0)) else { throw connection.corrupt("a root key is not one") }
            return (key: key, since: row.integer(1))
        }
    }

    // MARK: - Restoring values

    func digest(_ bytes: [UInt8]) throws(Trouble) -> Digest {
        guard let digest = Digest(bytes) else { throw connection.corrupt("a digest has \(bytes.count) bytes") }
        return digest
    }

    func appID(_ text: String) throws(Trouble) -> AppID {
        guard let app = AppID(text) else { throw connection.corrupt("an app id is not one") }
        return app
    }

    func displayText(_ text: String) throws(Trouble) -> DisplayText {
        guard let text = DisplayText(text) else { throw connection.corrupt("a text for people is not one") }
        return text
    }
}
