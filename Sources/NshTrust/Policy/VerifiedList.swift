/// A revocation list that its issuer, a pinned root, signed; only `verifying` makes one.
///
/// - Spec: REV-5
package struct VerifiedList: Sendable {
    /// What the issuer says; `maximumBuilds` and `transfers` are empty when too few roots signed.
    package let list: RevocationList
    /// The envelope, which gives its document back as it came.
    package let envelope: Envelope
    /// SHA-256 of the payload's bytes: equal digests are the same list.
    package let payloadDigest: Digest
    /// Entries that give trust back and were passed over because too few roots signed; nil when there were none.
    package let ignoredGrants: String?
    /// Whether a list in force had withdrawn the issuer when this one was judged.
    package let issuerWasWithdrawn: Bool

    /// What the list says whoever signed it, and the pinned roots that did.
    private let signed: (list: RevocationList, roots: [PublicKey])

    /// What the list is called in other lists' company.
    package var reference: ListReference { ListReference(issuer: list.issuer, sequence: list.sequence) }

    /// What decides the list's freshness and what may follow it.
    package var summary: ListSummary {
        ListSummary(
            list: reference, issuedAt: list.issuedAt, expiresAt: list.expiresAt, payloadDigest: payloadDigest)
    }

    /// Verifies a revocation list: size, envelope, signature by a pinned root that is the issuer, payload.
    ///
    /// - Parameters:
    ///   - bytes: The envelope, given away: a long one is not in memory twice unless the caller keeps it.
    ///   - roots: The pinned roots.
    ///   - state: The lists in force, which may have withdrawn a root.
    ///   - policy: The threshold and the limits.
    /// - Returns: The list.
    /// - Throws: `limitExceeded`, `malformed`, `untrustedRoot`, or what the snapshot throws.
    /// - Spec: REV-5, REV-17, REV-22
    package static func verifying(
        _ bytes: consuming [UInt8], roots: [PublicKey], state: any TrustState, policy: Policy
    ) throws -> VerifiedList {
        let envelope = try envelope(taking: consume bytes, limits: policy.limits)
        return try verifying(envelope, roots: roots, state: state, policy: policy)
    }

    /// Reads the envelope of a list, of which nothing is believed yet.
    ///
    /// - Throws: `limitExceeded`, `malformed`.
    package static func envelope(taking bytes: consuming [UInt8], limits: Limits) throws(Refusal) -> Envelope {
        guard bytes.count <= limits.revocationListBytes else {
            throw Refusal(
                .limitExceeded,
                "the revocation list has \(bytes.count) bytes, the limit is \(limits.revocationListBytes)")
        }
        return try Envelope(taking: consume bytes, as: .revocations)
    }

    /// Verifies a revocation list whose envelope was read: signature by a pinned root that is the issuer, payload.
    ///
    /// Nothing is made of the payload before its signature was found good.
    package static func verifying(
        _ envelope: Envelope, roots: [PublicKey], state: any TrustState, policy: Policy
    ) throws -> VerifiedList {
        let signers = Signers(of: envelope, among: roots)
        guard !signers.keys.isEmpty else {
            throw Refusal(.untrustedRoot, "the revocation list is not signed by any trusted root")
        }
        let list = try RevocationList(parsing: envelope.signedBytes, in: envelope.payloadRange)
        guard signers.keys.contains(where: { $0.hash == list.issuer }) else {
            throw Refusal(
                .untrustedRoot,
                "the revocation list names root \(list.issuer.shortHex) as its issuer, which is not trusted or did not sign it"
            )
        }
        let payloadDigest = envelope.signedBytes.withUnsafeBytes {
            SHA256.hash(UnsafeRawBufferPointer(rebasing: $0[envelope.payloadRange]))
        }
        return try VerifiedList(
            signed: (list, signers.keys), envelope: envelope, payloadDigest: payloadDigest, state: state, policy: policy
        )
    }

    /// Returns this list judged by another snapshot: which of its signers have been withdrawn may have changed.
    ///
    /// - Throws: What the snapshot throws.
    package func judged(against state: any TrustState, policy: Policy) throws -> VerifiedList {
        try VerifiedList(signed: signed, envelope: envelope, payloadDigest: payloadDigest, state: state, policy: policy)
    }

    /// - Spec: REV-17, STO-3
    private init(
        signed: (list: RevocationList, roots: [PublicKey]), envelope: Envelope, payloadDigest: Digest,
        state: any TrustState, policy: Policy
    ) throws {
        try policy.requireThreshold(atLeast: try state.greatestThreshold())
        var list = signed.list
        var standing: Set<Digest> = []
        for root in signed.roots where try state.withdrawals(of: root).isEmpty { standing.insert(root.hash) }
        var ignored: String?
        let needed = max(policy.rootThreshold, 1)
        if standing.count < needed, !list.maximumBuilds.isEmpty || !list.transfers.isEmpty {
            ignored =
                "maximumBuilds and transfers were passed over: \(standing.count) of \(needed) needed roots signed the list"
            list.maximumBuilds = [:]
            list.transfers = [:]
        }
        self.init(
            list: list, envelope: envelope, payloadDigest: payloadDigest, ignoredGrants: ignored,
            issuerWasWithdrawn: !standing.contains(list.issuer), signed: signed)
    }

    private init(
        list: RevocationList, envelope: Envelope, payloadDigest: Digest, ignoredGrants: String?,
        issuerWasWithdrawn: Bool, signed: (list: RevocationList, roots: [PublicKey])
    ) {
        self.list = list
        self.envelope = envelope
        self.payloadDigest = payloadDigest
        self.ignoredGrants = ignoredGrants
        self.issuerWasWithdrawn = issuerWasWithdrawn
        self.signed = signed
    }

    /// Returns this list with the entries of another list of the same issuer, one of which withdraws it for good.
    ///
    /// Ceilings stay, transfers do not: a withdrawn issuer gives nothing.
    package func united(with other: VerifiedList) -> VerifiedList {
        let (head, rest) = list.revokesIssuer ? (self, other) : (other, self)
        return VerifiedList(
            list: head.list.united(with: rest.list), envelope: head.envelope, payloadDigest: head.payloadDigest,
            ignoredGrants: head.ignoredGrants, issuerWasWithdrawn: head.issuerWasWithdrawn, signed: head.signed)
    }
}

extension RevocationList {
    /// Returns this list with another's revocations, lowest and highest builds added; not its transfers.
    ///
    /// - Spec: REV-10
    package func united(with other: RevocationList) -> RevocationList {
        var united = self
        united.certificates.formUnion(other.certificates)
        united.keys.formUnion(other.keys)
        united.packages.formUnion(other.packages)
        united.minimumBuilds.merge(other.minimumBuilds, uniquingKeysWith: max)
        united.maximumBuilds.merge(other.maximumBuilds, uniquingKeysWith: min)
        return united
    }
}
