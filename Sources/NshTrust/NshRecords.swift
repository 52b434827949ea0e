/// The highest build of an app that the store has accepted.
public struct NshAcceptedBuild: Hashable, Sendable {
    /// The app id.
    public let app: String
    /// The build; lower ones are refused.
    public let build: Int
    /// Whom the app belongs to.
    public let publisher: String
    /// The package digest in hex; nil after a root lowered the build.
    public let digest: String?
    /// When it was accepted, in seconds since 1970 UTC.
    public let acceptedAt: Int64

    /// Takes a record of the store.
    package init(_ record: AcceptedBuild) {
        app = record.app.text
        build = Int(record.build)
        publisher = record.publisher.text
        digest = record.digest?.hex
        acceptedAt = record.acceptedAt
    }

    /// Makes a record of its parts.
    package init(app: String, build: Int, publisher: String, digest: String?, acceptedAt: Int64) {
        self.app = app
        self.build = build
        self.publisher = publisher
        self.digest = digest
        self.acceptedAt = acceptedAt
    }
}

/// A revocation list in force.
public struct NshRevocationList: Hashable, Sendable {
    /// Hex SHA-256 of the root that issued it.
    public let issuer: String
    /// Its number.
    public let sequence: Int64
    /// When it was issued, in seconds since 1970 UTC.
    public let issuedAt: Int64
    /// After this second it makes every package stale; nil for never.
    public let expiresAt: Int64?
    /// Whether it withdraws its issuer for good.
    public let revokesIssuer: Bool
    /// When it was applied, in seconds since 1970 UTC.
    public let appliedAt: Int64
    /// Numbers of entries by the member's name: `certificates`, `keys`, `packages`, `minimumBuilds` ….
    public let entryCounts: [String: Int64]

    /// Takes a record of the store.
    package init(_ list: StoredList) {
        issuer = list.summary.list.issuer.hex
        sequence = list.summary.list.sequence
        issuedAt = list.summary.issuedAt
        expiresAt = list.summary.expiresAt
        revokesIssuer = list.revokesIssuer
        appliedAt = list.appliedAt
        entryCounts = list.entryCounts
    }

    /// Makes a list of its parts.
    package init(
        issuer: String, sequence: Int64, issuedAt: Int64, expiresAt: Int64?, revokesIssuer: Bool, appliedAt: Int64,
        entryCounts: [String: Int64]
    ) {
        self.issuer = issuer
        self.sequence = sequence
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.revokesIssuer = revokesIssuer
        self.appliedAt = appliedAt
        self.entryCounts = entryCounts
    }
}

/// What applying a revocation list did.
public struct NshRevocationUpdate: Hashable, Sendable {
    /// Whether anything changed; false when the list was in force already.
    public let changed: Bool
    /// Hex SHA-256 of the root that issued it.
    public let issuer: String
    /// The list's number.
    public let sequence: Int64
    /// What was passed over or looks odd, a sentence each.
    public let warnings: [String]
    /// Ids of apps whose newest installed build is refused from now on and was not before.
    public let stoppedApps: [String]

    /// Makes an update of its parts.
    package init(changed: Bool, issuer: String, sequence: Int64, warnings: [String], stoppedApps: [String]) {
        self.changed = changed
        self.issuer = issuer
        self.sequence = sequence
        self.warnings = warnings
        self.stoppedApps = stoppedApps
    }
}

/// Something that was decided or done.
public struct NshEvent: Hashable, Sendable {
    /// Its number; rising, with gaps where rows were dropped.
    public let sequence: Int64
    /// When, in seconds since 1970 UTC.
    public let time: Int64
    /// `opened`, `refused`, `revocations`, `rootAdded` …; new words may come.
    public let kind: String
    /// The app id, where one was established.
    public let app: String?
    /// Its build.
    public let build: Int?
    /// The package digest, or the key hash of a root or issuer, in hex.
    public let digest: String?
    /// The refusal's code.
    public let code: NshError.Code?
    /// One line for people.
    public let message: String
    /// The user id of who asked; `unknownUser` where a daemon does not say.
    public let uid: UInt32
    /// The process id of who asked; 0 where a daemon does not say.
    public let pid: Int32
    /// How many equal refusals the row stands for.
    public let count: Int64

    /// Stands for a user who is not named; nobody has this id.
    public static let unknownUser = UInt32.max

    /// Takes a row of the store.
    package init(_ row: StoredEvent) {
        sequence = row.sequence
        time = row.event.time
        kind = row.event.kind.rawValue
        app = row.event.app?.text
        build = row.event.build.map(Int.init)
        digest = row.event.digest?.hex
        code = row.event.code.map(NshError.Code.init(rawValue:))
        message = row.event.message
        uid = row.event.uid
        pid = row.event.pid
        count = row.count
    }

    /// Makes an event of its parts.
    package init(
        sequence: Int64, time: Int64, kind: String, app: String?, build: Int?, digest: String?, code: NshError.Code?,
        message: String, uid: UInt32, pid: Int32, count: Int64
    ) {
        self.sequence = sequence
        self.time = time
        self.kind = kind
        self.app = app
        self.build = build
        self.digest = digest
        self.code = code
        self.message = message
        self.uid = uid
        self.pid = pid
        self.count = count
    }
}

/// How far a long verification has come.
public struct NshProgress: Hashable, Sendable {
    /// Bytes of the package done so far.
    public let done: Int64
    /// Bytes of the package in all.
    public let total: Int64

    /// What is told of progress; called on a thread of the library and should return soon.
    public typealias Handler = @Sendable (NshProgress) -> Void

    /// Makes a report of progress.
    package init(done: Int64, total: Int64) {
        self.done = done
        self.total = total
    }
}
