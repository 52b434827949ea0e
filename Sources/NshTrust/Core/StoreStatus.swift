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

    /// Takes everything from a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The store.
    ///   - now: The time, in seconds since 1970 UTC.
    /// - Throws: What the snapshot throws.
    init(_ snapshot: any StoreSnapshot, now: Int64) throws {
        let installed = try snapshot.installedPackages(of: nil)
        builds = try snapshot.acceptedBuildCount()
        packages = Int64(installed.count)
        unpackedSize = installed.reduce(0) { $0 + $1.unpackedSize }
        lists = try snapshot.storedLists()
        roots = try snapshot.rootsSeen().map { seen in
            Root(
                key: seen.key, since: seen.since, withdrawal: try snapshot.withdrawals(ofRoot: seen.key.hash).first)
        }
        threshold = try snapshot.greatestThreshold()
        oldestEvent = try snapshot.events(after: 0, limit: 1).oldest
        newestEvent = try snapshot.newestEvent()
        warnings = Self.warnings(lists, installed, now)
    }

    private static func warnings(_ lists: [StoredList], _ installed: [InstalledPackage], _ now: Int64) -> [String] {
        var warnings: [String] = []
        for list in lists {
            guard let end = list.summary.expiresAt, let text = Expiry.warning(end, now: now) else { continue }
            warnings.append("\(list.summary.list) \(text); get a newer one from its issuer")
        }
        var newest: [AppID: InstalledPackage] = [:]
        for package in installed { newest[package.app.id] = package }
        for (app, package) in newest.sorted(by: { $0.key < $1.key }) {
            guard let text = Expiry.warning(package.facts.certificate.notAfter, now: now) else { continue }
            warnings.append("certificate \(package.facts.certificate.serial) of \(app) \(text)")
        }
        return warnings
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
