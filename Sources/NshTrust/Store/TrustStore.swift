/// The trust store as everything above it sees it: read a snapshot, commit a change if the decision still holds, follow
/// what was decided.
///
/// SQLite on the local disk is the embedded implementation. Nothing above this folder knows SQL.
///
/// - Spec: STO-1
package protocol TrustStore: Sendable {
    /// Runs the body on one consistent snapshot, which reflects every commit that finished 50 ms before.
    ///
    /// - Throws: What the body throws, or a `Trouble` when the store cannot be read.
    func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value

    /// Runs the body in one immediate transaction, alone among all processes, and commits what it recorded.
    ///
    /// When the body throws, nothing of the transaction remains. When this returns, the change survives power loss.
    ///
    /// - Throws: What the body throws, or a `Trouble` when the store cannot be written.
    func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws -> Value

    /// Returns what a decision on one installed package asks of the store, from memory where it can.
    ///
    /// It reflects every commit of this process, and those of others that finished 50 ms before. It never waits for
    /// another use of the store, but for the commit of a process.
    ///
    /// - Parameters:
    ///   - digest: The package digest.
    ///   - pinned: Returns the roots that the host trusts now; asked when the store is.
    /// - Returns: The excerpt, or nil when the package is not installed.
    /// - Throws: A `Trouble` when the store cannot be read, or what `pinned` throws.
    /// - Spec: POL-24
    func excerpt(of digest: Digest, pinned: () throws -> [PublicKey]) throws -> LocalExcerpt?

    /// Drops what `excerpt` has in memory; to be called after the host has come to trust other roots.
    func forgetExcerpts()

    /// Returns a number that differs after every commit of any process, this one included.
    ///
    /// - Throws: A `Trouble`: `storeBusy` when a lock was waited for in vain, or what the system says.
    func changeCount() throws -> Int64

    /// Looks at all that is kept and restores every record, for `store check`.
    ///
    /// - Returns: One sentence for each thing that is wrong; none when all is well.
    /// - Throws: A `Trouble`: `storeCorrupt` when it cannot even be looked at; `storeBusy`, `ioFailure`.
    func problems() throws -> [String]
}

extension StateDirectory {
    /// Opens the trust store that lives here; with write access makes it when there is none, and brings an older one up
    /// to date.
    ///
    /// - Parameters:
    ///   - busyTimeoutSeconds: How long locks of other processes are waited for.
    ///   - durability: What a commit survives.
    ///   - users: Whether more than one thread will use the store.
    /// - Returns: The store.
    /// - Throws: `noSuchFile` when there is none and none may be made; `storeCorrupt`, `storeNewer`, `storeUnsafe`,
    ///   `storeBusy`, `storeFull`, `ioFailure`.
    /// - Spec: STO-4, STO-5, STO-6
    package func openStore(
        busyTimeoutSeconds: Double = 30, durability: Durability = .powerLoss, users: StoreUsers = .manyThreads
    ) throws(Trouble) -> any TrustStore {
        try SQLiteTrustStore.open(
            in: self, busyTimeoutSeconds: busyTimeoutSeconds, durability: durability, users: users)
    }
}

/// How many threads of this process use a store.
package enum StoreUsers: Hashable, Sendable {
    /// One, which asks or changes one thing after another: what is opened for it serves for both.
    case oneThread
    /// Several: who asks does not wait for who changes.
    case manyThreads
}

/// One consistent view of the store.
package protocol StoreSnapshot: TrustState {
    /// The record of an installed package, or nil when this digest has no tree here.
    func installedPackage(_ digest: Digest) throws -> InstalledPackage?
    /// All installed packages of an app, by rising build.
    func installedPackages(of app: AppID) throws -> [InstalledPackage]
    /// All installed packages of the next so many apps behind one, by app and rising build; none when there is no further
    /// app.
    func installedPackages(after app: AppID?, apps: Int) throws -> [InstalledPackage]
    /// Number and bytes of installed packages, in rows of which none need be restored: one sum for the next so many behind a
    /// row, or none when there is no further row.
    func packageSum(afterRow row: Int64, limit: Int) throws -> PackageSum?
    /// Whether an installed package has its tree at this path.
    func hasTree(at path: String) throws -> Bool
    /// Apps of which more than so many packages are installed, or one that is above the accepted build, by id.
    func apps(withMoreThan kept: Int) throws -> [AppID]
    /// Accepted builds by app id, starting after an id, at most `limit` of them.
    func acceptedBuilds(after app: AppID?, limit: Int) throws -> [AcceptedBuild]
    /// Number of apps with an accepted build.
    func acceptedBuildCount() throws -> Int64
    /// The lists in force, by issuer; a withdrawal keeps those it was united with.
    func storedLists() throws -> [StoredList]
    /// The envelope of one of them as it came; empty when there is no list of that number.
    func envelope(ofList number: Int64) throws -> [UInt8]
    /// The certificates seen, or those that installed packages have, the next so many behind a row.
    func certificates(afterRow row: Int64, ofInstalled: Bool, limit: Int) throws -> [StoredCertificate]
    /// Apps whose newest installed package has this certificate, by id, at most so many.
    func apps(newestCertifiedBy certificate: StoredCertificate, limit: Int) throws -> [AppID]
    /// Roots that some process pinned on this store, with the time of the first.
    func rootsSeen() throws -> [(key: PublicKey, since: Int64)]
    /// The decision log after a sequence number, oldest first, at most `limit` rows.
    func events(after sequence: Int64, limit: Int) throws -> EventPage
    /// The number of the newest event, or 0 when there is none.
    func newestEvent() throws -> Int64
}

/// A snapshot that may be changed; every change is part of one transaction.
package protocol StoreTransaction: StoreSnapshot {
    /// Records an accepted package: its build, its certificate, its tree and the event.
    ///
    /// - Parameters:
    ///   - package: The record; a record of the same digest is replaced.
    ///   - certificate: The certificate's envelope as it came.
    ///   - event: What the log says.
    /// - Throws: A `Trouble` when it cannot be written.
    func record(_ package: InstalledPackage, certificate: [UInt8], event: NewEvent) throws
    /// Applies a verified list: its entries, its envelope, the time floor, lowered builds, and the event.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - succession: What applying it does; `unchanged` records nothing.
    ///   - clock: The local time in seconds since 1970 UTC, which caps the new time floor.
    ///   - event: What the log says.
    /// - Returns: Whether anything was recorded: not when the list is unchanged, or held behind the newest of its issuer.
    /// - Throws: A `Trouble` when it cannot be written.
    @discardableResult
    func apply(_ list: VerifiedList, succession: ListSuccession, clock: Int64, event: NewEvent) throws -> Bool
    /// Removes all lists of an issuer from force, withdrawals included; an administrator's act.
    ///
    /// - Returns: Whether there was one.
    func forgetLists(of issuer: Digest, event: NewEvent) throws -> Bool
    /// Forgets the tree of a package; its build stays accepted.
    func forgetTree(of digest: Digest, event: NewEvent) throws
    /// Remembers a root that a process pinned.
    func rememberRoot(_ key: PublicKey, event: NewEvent) throws
    /// Raises the remembered threshold.
    func raiseThreshold(to threshold: Int) throws
    /// Adds to the decision log. When refusals of one user and code flood, within a minute, they are counted in one row.
    func record(_ event: NewEvent) throws
    /// Takes over a floor from another store: never lowers one.
    func raiseFloor(to build: AcceptedBuild, event: NewEvent) throws
}

/// The record of a package whose tree lies under the store.
package struct InstalledPackage: Hashable, Sendable {
    /// What rules 2, 3 and 6 to 12 need.
    package let facts: PackageFacts
    /// The app, for people.
    package let app: PackageHeader.App
    /// What the app asks for.
    package let capabilities: JSONObject?
    /// Lines of `SHA256SUMS`.
    package let files: Int64
    /// Bytes of all files.
    package let unpackedSize: Int64
    /// Bytes of the package file up to its end.
    package let packageSize: Int64
    /// The tree's directory, relative to the state directory, such as `apps/com.example.orders/42-1a2b3c4d5e6f7081`.
    package let tree: String
    /// When it was accepted, in seconds since 1970 UTC.
    package let acceptedAt: Int64

    /// Makes a record.
    package init(
        facts: PackageFacts, app: PackageHeader.App, capabilities: JSONObject?, files: Int64, unpackedSize: Int64,
        packageSize: Int64, tree: String, acceptedAt: Int64
    ) {
        self.facts = facts
        self.app = app
        self.capabilities = capabilities
        self.files = files
        self.unpackedSize = unpackedSize
        self.packageSize = packageSize
        self.tree = tree
        self.acceptedAt = acceptedAt
    }
}

/// Installed packages added up.
package struct PackageSum: Hashable, Sendable {
    /// How many.
    package var packages: Int64
    /// Bytes of all their files.
    package var unpackedSize: Int64
    /// The last row that was counted.
    package let row: Int64
}

/// A certificate as the store keeps it.
package struct StoredCertificate: Hashable, Sendable {
    /// Its row.
    package let row: Int64
    /// Its envelope as it came.
    package let envelope: [UInt8]
    /// What it says.
    package let certificate: Certificate

    /// What packages name it by.
    var digest: Digest { SHA256.hash(envelope) }
}

/// A list in force as the store keeps it.
package struct StoredList: Hashable, Sendable {
    /// Its place in the order in which the store applied its lists.
    package let number: Int64
    /// Which list, and what decides its freshness.
    package let summary: ListSummary
    /// Whether it withdraws its issuer.
    package let revokesIssuer: Bool
    /// When it was applied, in seconds since 1970 UTC.
    package let appliedAt: Int64
    /// Numbers of entries: certificates, keys, packages, lowest builds, highest builds, transfers.
    package let entryCounts: [String: Int64]

    /// Makes a record.
    package init(
        number: Int64, summary: ListSummary, revokesIssuer: Bool, appliedAt: Int64, entryCounts: [String: Int64]
    ) {
        self.number = number
        self.summary = summary
        self.revokesIssuer = revokesIssuer
        self.appliedAt = appliedAt
        self.entryCounts = entryCounts
    }
}

/// Something that was decided or done, before the log numbers it.
package struct NewEvent: Hashable, Sendable {
    /// What happened.
    package enum Kind: String, CaseIterable, Sendable {
        case opened, reopened, refused, revocations, rootAdded, rootForgotten, treeRemoved, buildImported
    }

    /// What happened.
    package var kind: Kind
    /// When, in seconds since 1970 UTC by the local clock.
    package var time: Int64
    /// The app, where one was established.
    package var app: AppID?
    /// Its build.
    package var build: Int64?
    /// The package digest, or the key hash of a root or an issuer.
    package var digest: Digest?
    /// The refusal's code.
    package var code: String?
    /// One line for people, escaped.
    package var message: String
    /// Who asked: the user.
    package var uid: UInt32
    /// Who asked: the process.
    package var pid: Int32

    /// Makes an event.
    package init(
        _ kind: Kind, time: Int64, app: AppID? = nil, build: Int64? = nil, digest: Digest? = nil, code: String? = nil,
        message: String, uid: UInt32, pid: Int32
    ) {
        self.kind = kind
        self.time = time
        self.app = app
        self.build = build
        self.digest = digest
        self.code = code
        self.message = message
        self.uid = uid
        self.pid = pid
    }
}

/// A row of the decision log.
package struct StoredEvent: Hashable, Sendable {
    /// The row's number; rising, with gaps where rows were dropped.
    package let sequence: Int64
    /// What happened.
    package let event: NewEvent
    /// How many equal refusals the row stands for; 1 for everything else.
    package let count: Int64

    /// Makes a row.
    package init(sequence: Int64, event: NewEvent, count: Int64) {
        self.sequence = sequence
        self.event = event
        self.count = count
    }
}

/// A page of the decision log.
package struct EventPage: Hashable, Sendable {
    /// The rows, oldest first.
    package let events: [StoredEvent]
    /// The number to ask after next.
    package let next: Int64
    /// The oldest number still kept, or 0 when the log is empty: an `after` below it minus one has missed rows.
    package let oldest: Int64

    /// Makes a page.
    package init(events: [StoredEvent], next: Int64, oldest: Int64) {
        self.events = events
        self.next = next
        self.oldest = oldest
    }
}
