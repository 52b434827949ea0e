/// A snapshot as it would be if given lists had been applied: how `verify` honours lists that no store holds.
///
/// Of one issuer the newest list counts, those of the store included.
///
/// - Spec: REV-21
package struct ListOverlay: TrustState {
    private let base: any TrustState
    private let clock: Int64
    private var overlaid: [Digest: Overlaid] = [:]

    /// What the given lists of one issuer come to.
    private struct Overlaid {
        /// The newest list with the entries of all withdrawals.
        let list: VerifiedList
        /// Whether the snapshot's own list of the issuer still counts beside it.
        let keepsBase: Bool
    }

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
        for (issuer, lists) in Dictionary(grouping: given, by: \.list.issuer) {
            let newest = try Self.newest(of: lists.filter { !$0.list.revokesIssuer }, after: inForce[issuer])
            let withdrawals = try lists.filter { list in
                try list.list.revokesIssuer && ListSuccession.decide(list, after: inForce[issuer]) != .unchanged
            }
            guard let first = withdrawals.first ?? newest else { continue }
            let united = (withdrawals.dropFirst() + (withdrawals.isEmpty ? [] : [newest].compactMap { $0 }))
                .reduce(first) { $0.united(with: $1) }
            overlaid[issuer] = Overlaid(list: united, keepsBase: newest == nil)
        }
    }

    /// Returns the newest list that takes the place of the one in force, or nil when that one is the newest.
    private static func newest(
        of lists: [VerifiedList], after inForce: ListSummary?
    ) throws(Refusal) -> VerifiedList? {
        var newest: VerifiedList?
        for list in lists {
            do {
                guard try ListSuccession.decide(list, after: inForce) == .replaces else { continue }
            } catch {
                // Older than the one in force: that one counts already.
                if error.code == .revocationsOlder { continue }
                throw error
            }
            guard let held = newest else {
                newest = list
                continue
            }
            if held.list.sequence == list.list.sequence, held.payloadDigest != list.payloadDigest {
                throw Refusal(
                    .revocationsConflict,
                    "two lists of root \(list.list.issuer.shortHex) have the number \(list.list.sequence) and differ")
            }
            if list.list.sequence > held.list.sequence { newest = list }
        }
        return newest
    }

    /// The answers of the snapshot's lists that still count, and those of the given lists.
    private func combine<Entry>(
        _ below: [Entry], issuer: (Entry) -> Digest, _ entry: (VerifiedList) -> Entry?
    ) -> [Entry] {
        below.filter { overlaid[issuer($0)]?.keepsBase ?? true } + overlaid.values.compactMap { entry($0.list) }
    }

    // MARK: - TrustState

    /// The snapshot's floor, raised by the given lists as applying them would.
    package func timeFloor() throws -> Int64 {
        overlaid.values.reduce(try base.timeFloor()) { max($0, min($1.list.list.issuedAt, clock)) }
    }

    /// The snapshot's.
    package func greatestThreshold() throws -> Int { try base.greatestThreshold() }

    /// The lists in force with the given ones in place of older ones.
    package func listsInForce() throws -> [ListSummary] {
        let below = try base.listsInForce().filter { overlaid[$0.list.issuer] == nil }
        let given = overlaid.values.map { $0.list.summary }
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
        for overlaid in overlaid.values {
            if let bound = overlaid.list.list.maximumBuilds[app] { accepted.lower(to: bound) }
        }
        return accepted
    }

    /// Whether the snapshot's store has accepted the package.
    package func hasAccepted(package digest: Digest) throws -> Bool { try base.hasAccepted(package: digest) }
}

extension AcceptedBuild {
    /// Lowers a higher build to the bound, with no content: any content may take that number.
    ///
    /// - Spec: REV-15
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
    /// 1.
    package func greatestThreshold() -> Int { 1 }
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
