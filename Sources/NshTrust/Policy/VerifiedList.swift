/// A revocation list that its issuer, a pinned root, signed; only `verifying` makes one.
///
/// - Spec: REV-5
package struct VerifiedList: Sendable {
    /// What the issuer says; `maximumBuilds` and `transfers` are empty when too few roots signed.
    package let list: RevocationList
    /// The envelope as it came.
    package let envelope: [UInt8]
    /// SHA-256 of the payload's bytes: equal digests are the same list.
    package let payloadDigest: Digest
    /// The distinct pinned, not withdrawn roots that signed.
    package let signers: [PublicKey]
    /// Entries that give trust back and were passed over because too few roots signed; nil when there were none.
    package let ignoredGrants: String?
    /// Whether a list in force had withdrawn the issuer when this one was verified.
    package let issuerWasWithdrawn: Bool

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
    ///   - bytes: The envelope.
    ///   - roots: The pinned roots.
    ///   - state: The lists in force, which may have withdrawn a root.
    ///   - policy: The threshold and the limits.
    /// - Throws: `limitExceeded`, `malformed`, `untrustedRoot`, or what the snapshot throws.
    /// - Spec: REV-5, REV-17, REV-22
    package static func verifying(
        _ bytes: [UInt8], roots: [PublicKey], state: any TrustState, policy: Policy
    ) throws -> VerifiedList {
        guard bytes.count <= policy.limits.revocationListBytes else {
            throw Refusal(
                .limitExceeded,
                "the revocation list has \(bytes.count) bytes, the limit is \(policy.limits.revocationListBytes)")
        }
        let envelope = try Envelope(parsing: bytes, as: .revocations)
        let signers = Signers(of: envelope, among: roots)
        guard !signers.keys.isEmpty else {
            throw Refusal(.untrustedRoot, "the revocation list is not signed by any trusted root")
        }
        var list = try RevocationList(parsing: envelope.signedBytes, in: envelope.payloadRange)
        guard let issuer = signers.keys.first(where: { $0.hash == list.issuer }) else {
            throw Refusal(
                .untrustedRoot,
                "the revocation list names root \(list.issuer.shortHex) as its issuer, which is not trusted or did not sign it")
        }
        var standing: [PublicKey] = []
        for root in signers.keys where try state.withdrawals(ofRoot: root.hash).isEmpty { standing.append(root) }
        var ignored: String?
        if standing.count < max(policy.rootThreshold, 1), !list.maximumBuilds.isEmpty || !list.transfers.isEmpty {
            ignored =
                "maximumBuilds and transfers were passed over: \(standing.count) of "
                + "\(max(policy.rootThreshold, 1)) needed roots signed the list"
            list.maximumBuilds = [:]
            list.transfers = [:]
        }
        return VerifiedList(
            list: list, envelope: bytes, payloadDigest: SHA256.hash(envelope.payload), signers: standing,
            ignoredGrants: ignored, issuerWasWithdrawn: !standing.contains(issuer))
    }

    /// Returns this list with the entries of another list of the same issuer, one of which withdraws it for good.
    ///
    /// What gives trust back is not united: a withdrawn issuer gives none.
    package func united(with other: VerifiedList) -> VerifiedList {
        let (head, rest) = list.revokesIssuer ? (self, other) : (other, self)
        return VerifiedList(
            list: head.list.united(with: rest.list), envelope: head.envelope, payloadDigest: head.payloadDigest,
            signers: head.signers, ignoredGrants: head.ignoredGrants, issuerWasWithdrawn: false)
    }
}

extension RevocationList {
    /// Returns this list with another's revocations and lowest builds added.
    ///
    /// - Spec: REV-10
    package func united(with other: RevocationList) -> RevocationList {
        var united = self
        united.certificates = Array(Set(certificates).union(other.certificates))
        united.keys = Array(Set(keys).union(other.keys))
        united.packages = Array(Set(packages).union(other.packages))
        united.minimumBuilds.merge(other.minimumBuilds, uniquingKeysWith: max)
        return united
    }
}
