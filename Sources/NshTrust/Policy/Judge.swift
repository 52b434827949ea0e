/// The rules of the decision, each a function of facts, a snapshot of the store and the time.
///
/// No rule opens a file or reads a clock. Each throws the `Refusal` of its own code; the callers run them in the order of
/// the specification, so the first failing rule gives the code.
package struct Judge {
    /// How far ahead of the clock a signature or a list may be, in seconds.
    package static let maximumSkewSeconds: Int64 = 300

    private let policy: Policy
    private let pinned: [PublicKey]
    private let state: any TrustState
    /// The time of the decision, never earlier than the store's time floor.
    package let now: Int64

    /// Prepares a decision.
    ///
    /// - Parameters:
    ///   - policy: What the host asks for.
    ///   - pinned: The roots the host trusts.
    ///   - state: A snapshot of the store.
    ///   - clock: The local time, in seconds since 1970 UTC.
    /// - Throws: `storeUnsafe` when the store has been used with a greater threshold, or what the snapshot throws.
    /// - Spec: POL-15, STO-3
    package init(policy: Policy, pinned: [PublicKey], state: any TrustState, clock: Int64) throws {
        self.policy = policy
        self.pinned = pinned
        self.state = state
        try policy.requireThreshold(atLeast: try state.greatestThreshold())
        now = max(clock, try state.timeFloor())
    }

    // MARK: - Rule 2

    /// Refuses unless enough distinct pinned roots signed that no list has withdrawn.
    ///
    /// - Parameter signers: The distinct pinned roots whose signature verifies.
    /// - Throws: `untrustedRoot`, `rootWithdrawn`, or what the snapshot throws.
    /// - Spec: POL-2
    package func roots(_ signers: [PublicKey]) throws {
        let needed = max(policy.rootThreshold, 1)
        guard signers.count >= needed else {
            let pinnedText = pinned.isEmpty ? "none is trusted" : "trusted are \(Self.names(pinned))"
            throw Refusal(
                .untrustedRoot,
                "the certificate has \(signers.count) of \(needed) signatures by trusted roots; \(pinnedText)")
        }
        var standing = 0
        var withdrawals: [String] = []
        for root in signers {
            if let list = try state.withdrawals(of: root).first {
                withdrawals.append("root \(root.id) was withdrawn by \(list)")
            } else {
                standing += 1
            }
        }
        guard standing >= needed else {
            throw Refusal(
                .rootWithdrawn,
                "\(withdrawals.joined(separator: ", ")); \(standing) of \(needed) needed roots remain")
        }
    }

    // MARK: - Rule 3

    /// Refuses a revoked certificate or key.
    ///
    /// - Spec: POL-3
    package func certificate(_ certificate: Certificate) throws {
        if let list = try state.revocations(ofCertificate: certificate.serial).first {
            throw Refusal(.certificateRevoked, "certificate \(certificate.serial) was revoked by \(list)")
        }
        if let list = try state.revocations(of: certificate.key).first {
            throw Refusal(.keyRevoked, "release key \(certificate.key.id) was revoked by \(list)")
        }
    }

    // MARK: - Rule 5

    /// Refuses a package that says it is larger than the limits.
    ///
    /// - Spec: POL-5
    package func limits(of header: PackageHeader) throws(Refusal) {
        let (payload, limits) = (header.payload, policy.limits)
        guard payload.files <= limits.files else {
            throw Refusal(.limitExceeded, "the package has \(payload.files) files, the limit is \(limits.files)")
        }
        guard payload.unpackedSize <= limits.unpackedBytes else {
            throw Refusal(
                .limitExceeded,
                "the package unpacks to \(payload.unpackedSize) bytes, the limit is \(limits.unpackedBytes)")
        }
    }

    // MARK: - Rules 6 to 12

    /// Runs rules 6 to 12 in order on a chain whose signatures hold.
    ///
    /// - Spec: POL-6 … POL-12, POL-14
    package func package(_ chain: VerifiedChain) throws {
        try package(PackageFacts(of: chain))
    }

    /// Runs rules 6 to 12 in order on recorded facts of a chain whose signatures held.
    ///
    /// - Spec: POL-6 … POL-12, POL-14
    package func package(_ facts: PackageFacts) throws {
        let accepted = try state.acceptedBuild(of: facts.app)
        try scope(facts, accepted)
        try window(facts)
        try revocation(facts)
        try builds(facts, accepted)
        try freshness()
        try runtime(facts)
    }

    /// Runs rules 2, 3, 9 and 11 on recorded facts: what may have changed since a package was opened.
    ///
    /// - Spec: POL-19
    package func stillTrusted(_ facts: PackageFacts) throws {
        // Only roots that are pinned now count: one may have been unpinned since the package was verified.
        try roots(facts.roots.filter(pinned.contains))
        try certificate(facts.certificate)
        try revocation(facts)
        try freshness()
    }

    /// Runs rules 2, 3 and 6 to 12 on recorded facts: whether an installed package may start now.
    ///
    /// A build that a newer one has overtaken is `rolledBack`.
    ///
    /// - Spec: POL-23
    package func mayStart(_ facts: PackageFacts) throws {
        // Most often all are pinned still, and no list of them need be made.
        try roots(facts.roots.allSatisfy(pinned.contains) ? facts.roots : facts.roots.filter(pinned.contains))
        try certificate(facts.certificate)
        try package(facts)
    }

    /// - Spec: POL-6
    private func scope(_ facts: PackageFacts, _ accepted: AcceptedBuild?) throws {
        guard facts.certificate.covers(facts.app) else {
            let patterns = facts.certificate.apps.map(\.description).joined(separator: ", ")
            throw Refusal(.appNotCertified, "the certificate covers \(patterns), not \(facts.app)")
        }
        guard policy.publisherContinuity == .required, let accepted else { return }
        let publisher = facts.certificate.publisher
        if accepted.publisher == publisher { return }
        guard try state.transfers(of: facts.app).contains(where: { $0.publisher == publisher }) else {
            throw Refusal(
                .publisherChanged,
                "\(facts.app) belongs to “\(accepted.publisher)”, this package is by “\(publisher)”; "
                    + "a root must transfer the app first")
        }
    }

    /// - Spec: POL-7, POL-8, LIM-24
    private func window(_ facts: PackageFacts) throws {
        let certificate = facts.certificate
        guard (certificate.notBefore...certificate.notAfter).contains(facts.signedAt) else {
            throw Refusal(
                .signedOutsideWindow,
                "the package was signed \(Timestamp.text(facts.signedAt)), outside its certificate’s window "
                    + "\(Timestamp.text(certificate.notBefore)) to \(Timestamp.text(certificate.notAfter))")
        }
        guard facts.signedAt - Self.maximumSkewSeconds <= now else {
            throw Refusal(
                .signedInFuture,
                "the package was signed \(Timestamp.text(facts.signedAt)), now is \(Timestamp.text(now)); "
                    + "check this machine’s clock")
        }
        guard policy.expiry == .atOpening, now > certificate.notAfter else { return }
        guard try state.hasAccepted(package: facts.digest) else {
            throw Refusal(
                .certificateExpired,
                "the certificate ended \(Timestamp.text(certificate.notAfter)), now is \(Timestamp.text(now)); "
                    + "ask the publisher for a renewed one")
        }
    }

    /// - Spec: POL-9, REV-12, REV-14, REV-15
    private func revocation(_ facts: PackageFacts) throws {
        if let list = try state.revocations(ofPackage: facts.digest).first {
            throw Refusal(.packageRevoked, "package \(facts.digest.shortHex) was revoked by \(list)")
        }
        if let list = try state.revocations(ofPackage: facts.manifest).first {
            throw Refusal(.packageRevoked, "content \(facts.manifest.shortHex) was revoked by \(list)")
        }
        if let bound = try state.minimumBuilds(of: facts.app).max(by: { $0.build < $1.build }),
            facts.build < bound.build
        {
            throw Refusal(
                .belowMinimumBuild, "build \(facts.build) is below \(bound.build), the lowest that \(bound.list) allows"
            )
        }
        if let bound = try state.maximumBuilds(of: facts.app).min(by: { $0.build < $1.build }),
            facts.build > bound.build
        {
            throw Refusal(
                .aboveMaximumBuild,
                "build \(facts.build) is above \(bound.build), the highest that \(bound.list) allows")
        }
    }

    /// - Spec: POL-10
    private func builds(_ facts: PackageFacts, _ accepted: AcceptedBuild?) throws(Refusal) {
        guard let accepted else { return }
        guard facts.build >= accepted.build else {
            throw Refusal(
                .rolledBack,
                "build \(facts.build) is older than build \(accepted.build), accepted "
                    + Timestamp.text(accepted.acceptedAt))
        }
        guard facts.build == accepted.build, policy.rebuilding == .refused, let identity = accepted.identity else {
            return
        }
        guard facts.identity == identity else {
            throw Refusal(
                .buildConflict,
                "build \(facts.build) was accepted \(Timestamp.text(accepted.acceptedAt)) with other content; "
                    + "a changed app needs a higher build")
        }
    }

    /// - Spec: POL-11, REV-18, REV-19, REV-20
    private func freshness() throws {
        let lists = try state.listsInForce()
        if policy.listExpiry == .enforced {
            for list in lists {
                guard let end = list.expiresAt, end < now else { continue }
                throw Refusal(
                    .revocationsStale, "\(list.list) expired \(Timestamp.text(end)); apply a newer one")
            }
        }
        guard let age = policy.maximumListAgeSeconds else { return }
        for root in pinned where try state.withdrawals(of: root).isEmpty {
            guard let list = lists.first(where: { $0.list.issuer == root.hash }) else {
                throw Refusal(.revocationsStale, "there is no revocation list of root \(root.id); apply one")
            }
            if let end = list.expiresAt, end < now {
                throw Refusal(.revocationsStale, "\(list.list) expired \(Timestamp.text(end)); apply a newer one")
            }
            guard list.issuedAt - Self.maximumSkewSeconds <= now else {
                throw Refusal(
                    .revocationsStale,
                    "\(list.list) was issued \(Timestamp.text(list.issuedAt)), now is \(Timestamp.text(now)); "
                        + "check this machine’s clock")
            }
            guard now - list.issuedAt <= age else {
                throw Refusal(
                    .revocationsStale,
                    "\(list.list) is \(now - list.issuedAt) s old, at most \(age) s are allowed; apply a newer one")
            }
        }
    }

    /// - Spec: POL-12
    private func runtime(_ facts: PackageFacts) throws(Refusal) {
        guard let own = policy.runtime, let minimum = facts.minimumRuntime, own < minimum else { return }
        throw Refusal(.runtimeTooOld, "the package needs runtime \(minimum), this host has \(own)")
    }

    private static func names(_ keys: [PublicKey]) -> String { keys.map(\.id).joined(separator: ", ") }
}
