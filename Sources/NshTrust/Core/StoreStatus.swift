/// What a store holds, and what in it needs attention.
package struct StoreStatus: Hashable, Sendable {
    /// A root that some process trusted on this store.
    package struct Root: Hashable, Sendable {
        /// The key.
        package let key: PublicKey
        /// When it was trusted first, in seconds since 1970 UTC.
        package let since: Int64
        /// A list in force that withdraws it; nil when none does.
        package let withdrawal: ListReference?
    }

    /// Number of apps with an accepted build.
    package let builds: Int64
    /// Number of installed packages.
    package let packages: Int64
    /// Bytes of all their files.
    package let unpackedSize: Int64
    /// The lists in force, by issuer; a withdrawal keeps those it was united with.
    package let lists: [StoredList]
    /// The roots seen here.
    package let roots: [Root]
    /// The greatest `rootThreshold` used so far.
    package let threshold: Int
    /// The oldest event that is kept, or 0 when there is none.
    package let oldestEvent: Int64
    /// The newest event, or 0 when there is none.
    package let newestEvent: Int64
    /// What has run out or will within thirty days, a sentence each.
    package let warnings: [String]

    /// Looks at a store in short reads, between which others commit: sums and warnings need not be of one moment.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - now: The time, in seconds since 1970 UTC.
    ///   - maximumWarnings: Apps of whose certificates is warned; one sentence says that there are more.
    /// - Throws: A trouble of the store.
    init(of store: any TrustStore, now: Int64, maximumWarnings: Int = 1000) throws {
        var sum = PackageSum(packages: 0, unpackedSize: 0, row: 0)
        try store.forEachPage(
            { (snapshot, last: PackageSum?) in
                try snapshot.packageSum(afterRow: last?.row ?? 0, limit: StorePage.rows).map { [$0] } ?? []
            },
            { page in
                for part in page {
                    sum.packages += part.packages
                    sum.unpackedSize += part.unpackedSize
                }
            })
        (packages, unpackedSize) = (sum.packages, sum.unpackedSize)
        (builds, lists, roots) = try store.read { snapshot in
            (
                try snapshot.acceptedBuildCount(), try snapshot.storedLists(),
                try snapshot.rootsSeen().map { seen in
                    Root(
                        key: seen.key, since: seen.since,
                        withdrawal: try snapshot.withdrawals(ofRoot: seen.key.hash).first)
                }
            )
        }
        (threshold, oldestEvent, newestEvent) = try store.read { snapshot in
            (
                try snapshot.greatestThreshold(), try snapshot.events(after: 0, limit: 1).oldest,
                try snapshot.newestEvent()
            )
        }
        warnings = Self.warnings(of: lists, now) + (try Self.warningsOfCertificates(in: store, now, maximumWarnings))
    }

    private static func warnings(of lists: [StoredList], _ now: Int64) -> [String] {
        lists.compactMap { list in
            guard let end = list.summary.expiresAt, let text = Expiry.warning(end, now: now) else { return nil }
            return "\(list.summary.list) \(text); get a newer one from its issuer"
        }
    }

    /// Warns of the certificate of each app's newest installed package, by app.
    private static func warningsOfCertificates(
        in store: any TrustStore, _ now: Int64, _ maximumWarnings: Int
    ) throws -> [String] {
        var ending: [(app: AppID, text: String)] = []
        try store.forEachPage(
            { (snapshot, last: StoredCertificate?) in
                try snapshot.certificates(afterRow: last?.row ?? 0, ofInstalled: true, limit: StorePage.apps)
            },
            { page in
                for stored in page where ending.count <= maximumWarnings {
                    guard let text = Expiry.warning(stored.certificate.notAfter, now: now) else { continue }
                    let apps = try store.read {
                        try $0.apps(newestCertifiedBy: stored, limit: maximumWarnings + 1 - ending.count)
                    }
                    ending += apps.map { ($0, "certificate \(stored.certificate.serial) of \($0) \(text)") }
                }
            })
        let warnings = ending.prefix(maximumWarnings).sorted { $0.app < $1.app }.map(\.text)
        return ending.count > maximumWarnings ? warnings + ["the certificates of more apps end soon"] : warnings
    }
}

/// What a store knows of one app.
package struct AppRecord: Hashable, Sendable {
    /// The highest accepted build.
    package let build: AcceptedBuild
    /// What is installed of it, by rising build.
    package let installed: [InstalledPackage]
}

/// What looking for damage found.
package struct StoreCheckResult: Sendable {
    /// What is wrong: a stable code and a sentence each; none when all is well.
    package let problems: [(code: String, message: String)]
    /// Installed packages.
    package let packages: Int
}

/// What taking over an export did.
package struct StoreImport: Hashable, Sendable {
    /// Accepted builds in the document.
    package internal(set) var builds = 0
    /// Revocation lists in the document.
    package internal(set) var lists = 0
    /// Lists of it that came into force.
    package internal(set) var applied = 0
    /// What was passed over or looks odd, a sentence each that names the list by its place.
    package internal(set) var warnings: [String] = []
    /// Lists that newer ones of this store have overtaken, a sentence each.
    package internal(set) var notes: [String] = []
}
