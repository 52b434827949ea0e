/// The tables of the database, as the ordered steps that make them.
///
/// Step *n* leads from version *n* − 1 to version *n*, which `user_version` names. A step that was released never changes;
/// another one is added.
///
/// - Spec: STO-5
struct Schema: Sendable {
    /// Marks the file as a trust store: `NSHT`.
    static let applicationID: Int64 = 0x4E53_4854
    /// The schema of this program.
    static let current = Schema(steps: [first])

    /// The steps, each a script.
    let steps: [String]

    /// The version that the steps lead to.
    var version: Int64 { Int64(steps.count) }

    /// The kinds of `list_entries`.
    enum EntryKind: Int64, CaseIterable {
        case certificate = 1
        case key, package, minimumBuild, maximumBuild, transfer

        /// The kind's name in counts for people and programs.
        var name: String {
            switch self {
            case .certificate: "certificates"
            case .key: "keys"
            case .package: "packages"
            case .minimumBuild: "minimumBuilds"
            case .maximumBuild: "maximumBuilds"
            case .transfer: "transfers"
            }
        }
    }

    // `lists` holds the list in force of each issuer (`is_head`), and those that a withdrawal was united with.
    // `list_entries` is ordered by what is looked up; it has no foreign key, for that would cost an index of a list's
    // entries as large as the table itself.
    // `accepted` outlives the trees. `certificates.payload` is the digest of what was signed, whatever the envelope.
    private static let first = """
        CREATE TABLE meta (
            name TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE roots_seen (
            key BLOB PRIMARY KEY,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE lists (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            issuer BLOB NOT NULL,
            is_head INTEGER NOT NULL CHECK (is_head IN (0, 1)),
            sequence INTEGER NOT NULL,
            issued_at INTEGER NOT NULL,
            expires_at INTEGER,
            revokes_issuer INTEGER NOT NULL CHECK (revokes_issuer IN (0, 1)),
            payload_digest BLOB NOT NULL,
            applied_at INTEGER NOT NULL,
            certificates INTEGER NOT NULL,
            keys INTEGER NOT NULL,
            packages INTEGER NOT NULL,
            minimum_builds INTEGER NOT NULL,
            maximum_builds INTEGER NOT NULL,
            transfers INTEGER NOT NULL,
            UNIQUE (issuer, payload_digest)
        ) STRICT;
        CREATE UNIQUE INDEX lists_in_force ON lists (issuer) WHERE is_head = 1;

        CREATE TABLE list_envelopes (
            list INTEGER PRIMARY KEY REFERENCES lists (id) ON DELETE CASCADE,
            envelope BLOB NOT NULL
        ) STRICT;

        CREATE TABLE list_entries (
            kind INTEGER NOT NULL,
            subject BLOB NOT NULL,
            list INTEGER NOT NULL,
            value ANY,
            PRIMARY KEY (kind, subject, list)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE apps (
            app TEXT PRIMARY KEY,
            build INTEGER NOT NULL,
            publisher TEXT NOT NULL,
            identity BLOB,
            digest BLOB,
            accepted_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE accepted (
            digest BLOB PRIMARY KEY,
            app TEXT NOT NULL,
            build INTEGER NOT NULL,
            accepted_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE certificates (
            digest BLOB PRIMARY KEY,
            serial BLOB NOT NULL,
            payload BLOB NOT NULL,
            envelope BLOB NOT NULL
        ) STRICT;
        CREATE INDEX certificates_by_payload ON certificates (payload);

        CREATE TABLE packages (
            digest BLOB PRIMARY KEY,
            app TEXT NOT NULL,
            build INTEGER NOT NULL,
            name TEXT NOT NULL,
            version TEXT NOT NULL,
            manifest BLOB NOT NULL,
            identity BLOB NOT NULL,
            signed_at INTEGER NOT NULL,
            minimum_runtime TEXT,
            capabilities TEXT,
            files INTEGER NOT NULL,
            unpacked_size INTEGER NOT NULL,
            package_size INTEGER NOT NULL,
            tree TEXT NOT NULL UNIQUE,
            accepted_at INTEGER NOT NULL,
            certificate BLOB NOT NULL REFERENCES certificates (digest),
            roots BLOB NOT NULL
        ) STRICT;
        CREATE INDEX packages_by_app ON packages (app, build);
        CREATE INDEX packages_by_certificate ON packages (certificate);

        CREATE TABLE events (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            time INTEGER NOT NULL,
            app TEXT,
            build INTEGER,
            digest BLOB,
            code TEXT,
            message TEXT NOT NULL,
            uid INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            count INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX events_refused ON events (uid, code, sequence) WHERE kind = 'refused';
        CREATE INDEX events_of_refusals ON events (sequence) WHERE kind = 'refused';
        """
}
