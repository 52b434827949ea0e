import Synchronization

/// Everything that a decision on one installed package asks of the store, taken from one snapshot.
///
/// It answers for that package alone: a question about anything else throws, for "nothing stands against it" would be a
/// lie.
package final class PackageExcerpt: TrustState, Sendable {
    /// The package's record.
    package let installed: InstalledPackage
    /// The roots that were pinned when the excerpt was taken; it answers for these and for those that signed.
    private let pinned: [PublicKey]

    /// The second in which the package was last found to be allowed to start; nothing else that the decision depends on
    /// changes while the excerpt is good.
    private let allowedAt = Atomic<Int64>(.min)

    private let floor: Int64
    private let threshold: Int
    private let lists: [ListSummary]
    private let withdrawn: [(root: PublicKey, by: [ListReference])]
    private let ofCertificate: [ListReference]
    private let ofKey: [ListReference]
    private let ofPackage: [ListReference]
    private let ofManifest: [ListReference]
    private let minimum: [BuildBound]
    private let maximum: [BuildBound]
    private let passed: [Transfer]
    private let accepted: AcceptedBuild?
    private let wasAccepted: Bool

    /// Takes an excerpt, or returns nil when the package is not installed.
    ///
    /// - Parameters:
    ///   - digest: The package digest.
    ///   - pinned: The roots that the host trusts now.
    ///   - snapshot: The store.
    /// - Throws: What the snapshot throws.
    init?(of digest: Digest, pinned: [PublicKey], in snapshot: any StoreSnapshot) throws {
        guard let installed = try snapshot.installedPackage(digest) else { return nil }
        let facts = installed.facts
        self.installed = installed
        self.pinned = pinned
        floor = try snapshot.timeFloor()
        threshold = try snapshot.greatestThreshold()
        lists = try snapshot.listsInForce()
        let roots = pinned + facts.roots.filter { !pinned.contains($0) }
        withdrawn = try roots.map { (root: $0, by: try snapshot.withdrawals(of: $0)) }
        ofCertificate = try snapshot.revocations(ofCertificate: facts.certificate.serial)
        ofKey = try snapshot.revocations(of: facts.certificate.key)
        ofPackage = try snapshot.revocations(ofPackage: facts.digest)
        ofManifest = try snapshot.revocations(ofPackage: facts.manifest)
        minimum = try snapshot.minimumBuilds(of: facts.app)
        maximum = try snapshot.maximumBuilds(of: facts.app)
        passed = try snapshot.transfers(of: facts.app)
        accepted = try snapshot.acceptedBuild(of: facts.app)
        wasAccepted = try snapshot.hasAccepted(package: facts.digest)
    }

    /// Whether it was decided in this second already that the package may start: all within one have the same answer.
    func mayStart(at now: Int64) -> Bool { allowedAt.load(ordering: .relaxed) == now }

    /// Decides whether the package may start.
    ///
    /// - Parameters:
    ///   - now: The local time, in seconds since 1970 UTC.
    ///   - policy: What the host asks for, the same each time: that of the one core that uses the store.
    /// - Throws: The `Refusal` of the first rule that fails, or a trouble.
    func judge(at now: Int64, policy: Policy) throws {
        try Judge(policy: policy, pinned: pinned, state: self, clock: now).mayStart(facts)
        allowedAt.store(now, ordering: .relaxed)
    }

    private var facts: PackageFacts { installed.facts }

    private func outside(_ what: String) -> Trouble {
        Trouble(.ioFailure, "what is known of package \(facts.digest.shortHex) does not tell of \(what)")
    }

    // MARK: - TrustState

    /// The time floor.
    package func timeFloor() -> Int64 { floor }

    /// The greatest threshold.
    package func greatestThreshold() -> Int { threshold }

    /// The lists in force.
    package func listsInForce() -> [ListSummary] { lists }

    /// The withdrawals of a root that is pinned or signed.
    package func withdrawals(ofRoot root: Digest) throws -> [ListReference] {
        for entry in withdrawn where entry.root.hash == root { return entry.by }
        throw outside("root \(root.shortHex)")
    }

    /// The withdrawals of a root that is pinned or signed.
    package func withdrawals(of root: PublicKey) throws -> [ListReference] {
        for entry in withdrawn where entry.root == root { return entry.by }
        throw outside("root \(root.id)")
    }

    /// The revocations of the package's certificate.
    package func revocations(ofCertificate serial: Serial) throws -> [ListReference] {
        guard serial == facts.certificate.serial else { throw outside("certificate \(serial)") }
        return ofCertificate
    }

    /// The revocations of its key.
    package func revocations(ofKey hash: Digest) throws -> [ListReference] {
        guard hash == facts.certificate.key.hash else { throw outside("key \(hash.shortHex)") }
        return ofKey
    }

    /// The revocations of its key.
    package func revocations(of key: PublicKey) throws -> [ListReference] {
        guard key == facts.certificate.key else { throw outside("key \(key.id)") }
        return ofKey
    }

    /// The revocations of the package or its content.
    package func revocations(ofPackage digest: Digest) throws -> [ListReference] {
        if digest == facts.digest { return ofPackage }
        guard digest == facts.manifest else { throw outside("package \(digest.shortHex)") }
        return ofManifest
    }

    /// The lowest acceptable builds of its app.
    package func minimumBuilds(of app: AppID) throws -> [BuildBound] { try answer(minimum, app) }

    /// The highest acceptable builds of its app.
    package func maximumBuilds(of app: AppID) throws -> [BuildBound] { try answer(maximum, app) }

    /// The publishers to which its app may pass.
    package func transfers(of app: AppID) throws -> [Transfer] { try answer(passed, app) }

    /// The highest accepted build of its app.
    package func acceptedBuild(of app: AppID) throws -> AcceptedBuild? { try answer(accepted, app) }

    /// Whether the package has been accepted before.
    package func hasAccepted(package digest: Digest) throws -> Bool {
        guard digest == facts.digest else { throw outside("package \(digest.shortHex)") }
        return wasAccepted
    }

    private func answer<Value>(_ value: Value, _ app: AppID) throws -> Value {
        guard app == facts.app else { throw outside(app.text) }
        return value
    }
}
