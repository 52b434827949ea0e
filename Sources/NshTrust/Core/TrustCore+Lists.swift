extension TrustCore {
    /// Applies a revocation list to the store.
    ///
    /// - Parameters:
    ///   - bytes: The list's envelope, given away: a long one is not in memory twice unless the caller keeps it.
    ///   - caller: Who is named in the decision log.
    ///   - dryRun: Whether to say only what would change.
    /// - Returns: What changed or would change, and what was passed over.
    /// - Throws: `Refusal` or `Trouble`; the store is then as it was.
    /// - Spec: REV-22, STO-15
    package func applyRevocations(
        _ bytes: consuming [UInt8], by caller: Caller = .thisProcess, dryRun: Bool = false
    ) throws -> NshRevocationUpdate {
        guard !roots.isEmpty else {
            throw Trouble(.noTrustedRoots, "no root key is trusted, so no revocation list can be; add one first")
        }
        let now = clock.now()
        // Verified outside of any transaction, of reading ones too, which keep others from committing: a list of a
        // million entries must not keep other processes waiting. Whether its signers still stand is asked inside.
        let verified = try VerifiedList.verifying(
            consume bytes, roots: roots, state: EmptyTrustState(), policy: policy)
        var (list, changed) = try store.read { state in
            let list = try verified.judged(against: state, policy: policy)
            let succession = try ListSuccession.decide(list, after: try summary(of: list.list.issuer, in: state))
            return (list, succession != .unchanged)
        }
        var stopped = changed ? try appsStopped(by: list, now) : []
        if changed, !dryRun {
            let event = newEvent(
                .revocations, by: caller, digest: list.list.issuer,
                message: "\(list.reference) was applied\(list.list.revokesIssuer ? "; it withdraws its issuer" : "")")
            changed = try store.commit { transaction in
                let again = try list.judged(against: transaction, policy: policy)
                let succession = try ListSuccession.decide(
                    again, after: try summary(of: list.list.issuer, in: transaction))
                return try transaction.apply(again, succession: succession, clock: now, event: event)
            }
            // Somebody else has applied it in between, or it is held already: that was not this call's doing.
            if !changed { stopped = [] }
        }
        return NshRevocationUpdate(
            changed: changed, issuer: list.list.issuer.hex, sequence: list.list.sequence,
            warnings: warnings(of: list, now), stoppedApps: stopped.map(\.text))
    }

    /// Takes over what another store knew: its lists first, each verified like any other, then its floors and threshold.
    ///
    /// - Parameters:
    ///   - document: The export, whose floors are believed.
    ///   - caller: Who is named in the decision log.
    /// - Returns: What was taken over, and what was passed over.
    /// - Throws: The `Refusal` of a list, or a `Trouble`; what was applied before it stays.
    /// - Spec: STO-17
    package func importStore(_ document: StoreDocument, by caller: Caller = .thisProcess) throws -> StoreImport {
        var result = StoreImport()
        result.lists = document.lists.count
        for (index, list) in document.lists.enumerated() {
            do {
                let update = try applyRevocations(list, by: caller)
                if update.changed { result.applied += 1 }
                result.warnings += update.warnings.map { "list \(index + 1): \($0)" }
            } catch let refusal as Refusal {
                if refusal.code == .revocationsOlder {
                    result.notes.append("list \(index + 1): \(refusal.message)")
                } else if let withdrawal = try withdrawalOfIssuer(of: list, refused: refusal) {
                    result.warnings.append("list \(index + 1) was passed over: \(withdrawal)")
                } else {
                    throw refusal
                }
            }
        }
        result.builds = try administration(by: caller).importBuilds(document)
        return result
    }

    /// Says that a list was refused because a list in force withdraws its issuer; nil when that is not why.
    ///
    /// An import of both, repeated, comes to that. The list is not verified; it is not applied either.
    private func withdrawalOfIssuer(of bytes: [UInt8], refused refusal: Refusal) throws -> String? {
        guard refusal.code == .rootWithdrawn || refusal.code == .untrustedRoot else { return nil }
        let envelope = try Envelope(parsing: bytes, as: .revocations)
        let list = try RevocationList(parsing: envelope.signedBytes, in: envelope.payloadRange)
        guard let withdrawal = try store.read({ try $0.withdrawals(ofRoot: list.issuer).first }) else { return nil }
        return "root \(list.issuer.shortHex), which issued it, was withdrawn by \(withdrawal)"
    }

    private func summary(of issuer: Digest, in state: any TrustState) throws -> ListSummary? {
        try state.listsInForce().first { $0.list.issuer == issuer }
    }

    private func warnings(of list: VerifiedList, _ now: Int64) -> [String] {
        var warnings: [String] = []
        if let ignored = list.ignoredGrants { warnings.append(ignored) }
        if list.list.issuedAt - Judge.maximumSkewSeconds > now {
            warnings.append(
                "the list was issued \(Timestamp.text(list.list.issuedAt)), now is \(Timestamp.text(now)): "
                    + "it counts as stale where a maximum age is asked for")
        }
        if let end = list.list.expiresAt, end < now {
            warnings.append("the list expired \(Timestamp.text(end)): it makes every package stale")
        }
        return warnings
    }

    /// The apps whose newest installed build may run now and may not once the list is in force.
    ///
    /// Some apps at a time, each page in a snapshot of its own: there may be a million, and others wait to commit.
    private func appsStopped(by list: VerifiedList, _ now: Int64) throws -> [AppID] {
        var stopped: [AppID] = []
        try store.forEachPage(
            { (state, last: (app: AppID, isStopped: Bool)?) in
                let packages = try state.installedPackages(after: last?.app, apps: StorePage.apps)
                // By rising build: the last of an app is its newest.
                let newest = packages.indices.filter {
                    $0 + 1 == packages.count || packages[$0 + 1].app.id != packages[$0].app.id
                }
                let after = try Judge(
                    policy: policy, pinned: roots, state: try ListOverlay([list], over: state, clock: now), clock: now)
                let before = try Judge(policy: policy, pinned: roots, state: state, clock: now)
                return newest.map { packages[$0] }.map {
                    ($0.app.id, isStopped: !after.allows($0.facts) && before.allows($0.facts))
                }
            },
            { page in stopped += page.filter(\.isStopped).map(\.app) })
        return stopped
    }
}

extension Judge {
    /// Tells whether a package that was opened may still run; what the snapshot cannot answer counts as no.
    fileprivate func allows(_ facts: PackageFacts) -> Bool {
        do {
            try stillTrusted(facts)
            return true
        } catch {
            return false
        }
    }
}
