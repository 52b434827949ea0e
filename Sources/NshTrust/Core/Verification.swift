/// One verification of one package, rules 1 to 13 in order: the path that every way in takes.
package struct Verification: Sendable {
    /// The framing and the two envelopes of a package, read and not yet judged, and the given lists, verified.
    package struct Front: Sendable {
        fileprivate let prefix: ContainerPrefix
        fileprivate let certificate: [UInt8]
        fileprivate let header: [UInt8]
        fileprivate let lists: [VerifiedList]
    }

    private let roots: [PublicKey]
    private let policy: Policy
    private let lists: [GivenList]
    private let clock: WallClock

    /// Prepares a verification.
    ///
    /// - Parameters:
    ///   - roots: The pinned roots.
    ///   - policy: What the host asks for.
    ///   - lists: Revocation lists to honour besides those of the store.
    ///   - clock: The local time, in whole seconds since 1970 UTC.
    package init(
        roots: [PublicKey], policy: Policy, lists: [GivenList] = [], clock: WallClock
    ) {
        self.roots = roots
        self.policy = policy
        self.lists = lists
        self.clock = clock
    }

    /// Reads the front of a package, runs rule 1, and verifies the given lists.
    ///
    /// - Throws: `truncated`, `unsupportedFormat`, `malformed`, `limitExceeded`, `untrustedRoot`, or what the input throws.
    /// - Spec: POL-1, REV-21
    package func readFront(_ input: inout some PackageInput) throws -> Front {
        let prefix = try ContainerPrefix(
            parsing: try input.bytes(upTo: ContainerPrefix.count), limits: policy.limits)
        let certificate = try input.bytes(upTo: prefix.certificateCount)
        let header = try input.bytes(upTo: prefix.headerCount)
        guard certificate.count == prefix.certificateCount, header.count == prefix.headerCount else {
            throw Refusal(
                .truncated,
                "the file ends within its envelopes; they end at byte \(prefix.payloadOffset)")
        }
        return Front(prefix: prefix, certificate: certificate, header: header, lists: try verifiedLists())
    }

    /// Runs rules 2 to 12.
    ///
    /// - Parameters:
    ///   - front: The front of the package.
    ///   - state: A snapshot of the store.
    ///   - established: Gains what is established on the way.
    /// - Returns: The chain, acceptable but for the payload.
    /// - Throws: `Refusal` with the code of the first rule that fails, or what the snapshot throws.
    package func judge(
        _ front: Front, against state: any TrustState, established: inout Established
    ) throws -> VerifiedChain {
        let now = clock.now()
        let judge = try Judge(
            policy: policy, pinned: roots, state: try overlay(front.lists, on: state, clock: now), clock: now)
        return try Examination(roots: roots, judge: judge).verify(
            prefix: front.prefix, certificate: front.certificate, header: front.header, established: &established)
    }

    /// Runs rules 2 and 3 on a certificate alone.
    ///
    /// - Parameters:
    ///   - certificate: The certificate envelope's bytes.
    ///   - state: A snapshot of the store.
    /// - Returns: The certificate and the roots that signed it.
    /// - Throws: `Refusal`, or what the snapshot throws.
    /// - Spec: POL-2, POL-3
    package func judge(certificate: [UInt8], against state: any TrustState) throws -> VerifiedCertificate {
        let now = clock.now()
        let judge = try Judge(
            policy: policy, pinned: roots, state: try overlay(verifiedLists(), on: state, clock: now), clock: now)
        var established = Established()
        return try Examination(roots: roots, judge: judge).verifyCertificate(certificate, established: &established)
    }

    /// Repeats rules 2, 3 and 6 to 12 on a chain that held, with state and clock read afresh.
    ///
    /// - Parameters:
    ///   - chain: What `judge` returned.
    ///   - front: The front that it was made of.
    ///   - state: The transaction that is to record the package.
    /// - Throws: `Refusal` with the code of the first rule that fails, or what the snapshot throws.
    /// - Spec: POL-18
    package func repeatDecision(on chain: VerifiedChain, of front: Front, against state: any TrustState) throws {
        let now = clock.now()
        func decide(_ policy: Policy, _ state: any TrustState) throws {
            let judge = try Judge(policy: policy, pinned: roots, state: state, clock: now)
            try judge.roots(chain.certificate.roots)
            try judge.certificate(chain.certificate.certificate)
            try judge.package(chain)
        }
        try decide(policy, try overlay(front.lists, on: state, clock: now))
        guard !front.lists.isEmpty else { return }
        // The given lists are not applied: what they give back must not be recorded, so all must hold without them, too.
        // Only whether the lists are fresh has been answered with them.
        var unheeding = policy
        unheeding.maximumListAgeSeconds = nil
        unheeding.listExpiry = .ignoredUnsafely
        try decide(unheeding, state)
    }

    /// Verifies a whole package and changes nothing.
    ///
    /// - Parameters:
    ///   - input: The package, at its first byte.
    ///   - store: The store to judge by; nil judges as if nothing had ever been accepted.
    ///   - sink: What receives the files; nil drops them.
    ///   - monitor: Watches and stops.
    ///   - established: Gains what is established on the way.
    /// - Returns: The chain; the payload was found to be what the header says.
    /// - Throws: `Refusal`, or `Trouble` when nothing can be decided.
    package func verify(
        _ input: inout some PackageInput, store: (any TrustStore)?, sink: (any PayloadSink)?, monitor: Monitor,
        established: inout Established
    ) throws -> VerifiedChain {
        try requireRoots()
        let front = try readFront(&input)
        let chain: VerifiedChain
        if let store {
            chain = try store.read { state in try judge(front, against: state, established: &established) }
        } else {
            chain = try judge(front, against: EmptyTrustState(), established: &established)
        }
        try PayloadVerifier.run(chain, input: &input, limits: policy.limits, sink: sink, monitor: monitor)
        return chain
    }

    /// Verifies a whole package, changes nothing, and reports.
    ///
    /// - Returns: The whole chain.
    /// - Throws: `NshError`, whose report says what had been established when the package was refused.
    /// - Spec: POL-17
    package func report(
        _ input: inout some PackageInput, store: (any TrustStore)?, sink: (any PayloadSink)? = nil, monitor: Monitor
    ) throws(NshError) -> NshReport {
        var established = Established()
        do {
            _ = try verify(&input, store: store, sink: sink, monitor: monitor, established: &established)
            return NshReport(established, payloadVerified: true)
        } catch {
            throw NshError(wrapping: error, report: NshReport(established, payloadVerified: false))
        }
    }

    /// Refuses to decide when no root is trusted: an empty set never means that nothing is required.
    package func requireRoots() throws(Trouble) {
        guard roots.isEmpty else { return }
        throw Trouble(.noTrustedRoots, "no root key is trusted, so no package can be; add one first")
    }

    /// Verifies the given lists, which may be long, outside of any transaction of the store: others are not kept waiting.
    private func verifiedLists() throws -> [VerifiedList] {
        try lists.map { try $0.verified(roots: roots, policy: policy) }
    }

    private func overlay(
        _ lists: [VerifiedList], on state: any TrustState, clock: Int64
    ) throws -> any TrustState {
        if lists.isEmpty { return state }
        let judged = try lists.map { try $0.judged(against: state, policy: policy) }
        return try ListOverlay(judged, over: state, clock: clock)
    }
}
