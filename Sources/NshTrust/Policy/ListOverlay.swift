/// A snapshot as it would be if given lists had been applied: how `verify` honours lists that no store holds.
///
/// Of one issuer the newest list counts, those of the store included.
///
/// - Spec: POL-15
package struct ListOverlay: TrustState {
    private let base: any TrustState
    private var lists: [Digest: VerifiedList] = [:]
    private let clock: Int64

    /// Lays verified lists over a snapshot.
    ///
    /// - Parameters:
    ///   - given: The lists, in any order.
    ///   - base: The snapshot beneath.
    ///   - clock: The local time, in seconds since 1970 UTC.
    /// - Throws: `revocationsConflict` for two lists of one issuer and number that differ, `rootWithdrawn` for a list
    ///   whose issuer a list of the snapshot has withdrawn, or what the snapshot throws.
    package init(_ given: [VerifiedList], over base: any TrustState, clock: Int64) throws {
        self.base = base
        self.clock = clock
        var inForce: [Digest: ListSummary] = [:]
        for list in try base.listsInForce() { inForce[list.list.issuer] = list }
        for list in given { try add(list, inForce: inForce[list.list.issuer]) }
    }

    private mutating func add(_ list: VerifiedList, inForce: ListSummary?) throws(Refusal) {
        let issuer = list.list.issuer
        do {
            guard try ListSuccession.decide(list, after: inForce) != .unchanged else { return }
        } catch {
            // A list older than the one in force is honoured already: the newest counts.
            if error.code == .revocationsOlder { return }
            throw error
        }
        guard let held = lists[issuer] else {
            lists[issuer] = list
            return
        }
        if held.payloadDigest == list.payloadDigest { return }
        if held.list.revokesIssuer || list.list.revokesIssuer {
            lists[issuer] = held.united(with: list)
        } else if held.list.sequence == list.list.sequence {
            throw Refusal(
                .revocationsConflict, "two lists of root \(issuer.shortHex) have the number \(list.list.sequence) and differ")
        } else if list.list.sequence > held.list.sequence {
            lists[issuer] = list
        }
    }

    /// The references of the snapshot that no given list replaces, and those of the given lists.
    private func combine<Entry>(
        _ below: [Entry], issuer: (Entry) -> Digest, _ entry: (VerifiedList) -> Entry?
    ) -> [Entry] {
        below.filter { entry in lists[issuer(entry)].map { $0.list.revokesIssuer } ?? true } + lists.values.compactMap(entry)
    }

    // MARK: - TrustState

    /// The snapshot's floor, raised by the given lists as applying them would.
    package func timeFloor() throws -> Int64 {
        lists.values.reduce(try base.timeFloor()) { max($0, min($1.list.issuedAt, clock)) }
    }

    /// The lists in force with the given ones in place of older ones.
    package func listsInForce() throws -> [ListSummary] {
        let below = try base.listsInForce().filter { lists[$0.list.issuer] == nil }
        let given = lists.values.map { list in
            ListSummary(
                list: list.reference, issuedAt: list.list.issuedAt, expiresAt: list.list.expiresAt,
                payloadDigest: list.payloadDigest)
        }
        return (below + given).sorted { $0.list.issuer < $1.list.issuer }
    }

    /// The lists that withdraw the root.
    package func withdrawals(ofRoot root: Digest) throws -> [ListReference] {
        combine(try base.withdrawals(ofRoot: root), issuer: \.issuer) { list in
            let withdraws = list.list.keys.contains(root) || list.list.revokesIssuer && list.list.issuer == root
            return withdraws ? list.reference : nil
        }
    }

    /// The lists that revoke the certificate.
    package func revocations(ofCertificate serial: Serial) throws -> [ListReference] {
        combine(try base.revocations(ofCertificate: serial), issuer: \.issuer) { list in
            list.list.certificates.contains(serial) ? list.reference : nil
        }
    }

    /// The lists that revoke the key.
    package func revocations(ofKey hash: Digest) throws -> [ListReference] {
        combine(try base.revocations(ofKey: hash), issuer: \.issuer) { list in
            list.list.keys.contains(hash) ? list.reference : nil
        }
    }

    /// The lists that revoke the digest.
    package func revocations(ofPackage digest: Digest) throws -> [ListReference] {
        combine(try base.revocations(ofPackage: digest), issuer: \.issuer) { list in
            list.list.packages.contains(digest) ? list.reference : nil
        }
    }

    /// The lowest acceptable builds.
    package func minimumBuilds(of app: AppID) throws -> [BuildBound] {
        combine(try base.minimumBuilds(of: app), issuer: \.list.issuer) { list in
            list.list.minimumBuilds[app].map { BuildBound(build: $0, list: list.reference) }
        }
    }

    /// The highest acceptable builds.
    package func maximumBuilds(of app: AppID) throws -> [BuildBound] {
        combine(try base.maximumBuilds(of: app), issuer: \.list.issuer) { list in
            list.list.maximumBuilds[app].map { BuildBound(build: $0, list: list.reference) }
        }
    }

    /// The publishers to which lists let the app pass.
    package func transfers(of app: AppID) throws -> [Transfer] {
        combine(try base.transfers(of: app), issuer: \.list.issuer) { list in
            list.list.transfers[app].map { Transfer(publisher: $0, list: list.reference) }
        }
    }

    /// The accepted build, lowered where a given list lowers it.
    package func acceptedBuild(of app: AppID) throws -> AcceptedBuild? {
        guard var accepted = try base.acceptedBuild(of: app) else { return nil }
        for list in lists.values {
            if let bound = list.list.maximumBuilds[app] { accepted.lower(to: bound) }
        }
        return accepted
    }

    /// Whether the snapshot's store has accepted the package.
    package func hasAccepted(package digest: Digest) throws -> Bool { try base.hasAccepted(package: digest) }
}

extension AcceptedBuild {
    /// Lowers a higher build to the bound, with no content: any content may take that number.
    ///
    /// - Spec: REV-10
    package mutating func lower(to bound: Int64) {
        guard build > bound else { return }
        build = bound
        identity = nil
        digest = nil
    }
}

/// The snapshot of no store: nothing accepted, no list in force.
package struct EmptyTrustState: TrustState {
    /// Makes the snapshot.
    package init() {}
    /// 0.
    package func timeFloor() -> Int64 { 0 }
    /// None.
    package func listsInForce() -> [ListSummary] { [] }
    /// None.
    package func withdrawals(ofRoot root: Digest) -> [ListReference] { [] }
    /// None.
    package func revocations(ofCertificate serial: Serial) -> [ListReference] { [] }
    /// None.
    package func revocations(ofKey hash: Digest) -> [ListReference] { [] }
    /// None.
    package func revocations(ofPackage digest: Digest) -> [ListReference] { [] }
    /// None.
    package func minimumBuilds(of app: AppID) -> [BuildBound] { [] }
    /// None.
    package func maximumBuilds(of app: AppID) -> [BuildBound] { [] }
    /// None.
    package func transfers(of app: AppID) -> [Transfer] { [] }
    /// None.
    package func acceptedBuild(of app: AppID) -> AcceptedBuild? { nil }
    /// False.
    package func hasAccepted(package digest: Digest) -> Bool { false }
}
