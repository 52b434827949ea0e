internal import NshTrust

/// Runs a reader's whole verification on a package that was just made, before it is kept.
///
/// The time of the decision is the time of signing: whether the certificate has ended since is the reader's question. A
/// publisher may not know the roots. Then everything but their signatures is verified: the certificate's payload is
/// signed again by a root that exists for this verification only, and the package is judged with that.
struct ResultVerification {
    /// The roots, none when the publisher does not know them.
    let roots: [PublicKey]
    /// How many of them must have signed.
    let rootThreshold: Int
    /// The bounds of readers.
    let limits: Limits

    /// What the verification runs on.
    struct Subject {
        /// The certificate as it goes into the package.
        let certificate: SignedDocument
        /// The header, signed, or a draft that a key elsewhere will sign.
        let header: SignedDocument
    }

    /// Verifies certificate, header and payload.
    ///
    /// - Parameters:
    ///   - subject: What is verified.
    ///   - payload: Its payload as it was written.
    ///   - observer: May stop the work.
    ///   - advance: Told how many bytes of the payload are done.
    /// - Returns: Who is known to stand behind the certificate.
    /// - Throws: The refusal that a reader would give; `ioFailure`, `cancelled`.
    func run(
        _ subject: Subject, payload: some PackageInput, observer: PackagingObserver,
        advance: @escaping @Sendable (Int64) -> Void = { _ in }
    ) throws -> PublishedPackage.CertificateCheck {
        var policy = Policy()
        policy.limits = limits
        policy.rootThreshold = roots.isEmpty ? 1 : rootThreshold
        let header = try PackageHeader(
            parsing: subject.header.envelope.signedBytes, in: subject.header.envelope.payloadRange)
        let stand = try Stand(for: subject, roots: roots)
        guard let prefix = ContainerPrefix(certificateCount: stand.certificate.count, headerCount: stand.header.count)
        else { throw Refusal.malformed("an envelope is empty") }
        _ = try ContainerPrefix(parsing: prefix.serialized, limits: limits)
        let judge = try Judge(policy: policy, pinned: stand.roots, state: EmptyTrustState(), clock: header.signedAt)
        var established = Established()
        let chain = try Examination(roots: stand.roots, judge: judge).verify(
            prefix: prefix, certificate: stand.certificate, header: stand.header, established: &established)
        var input = payload
        let start = chain.payloadOffset
        try PayloadVerifier.run(
            chain, input: &input, limits: limits, sink: nil,
            monitor: Monitor(isCancelled: observer.isCancelled, progress: { done, _ in advance(done - start) }))
        return roots.isEmpty ? .notChecked : .signedByRoots(chain.certificate.roots.map(\.base64))
    }

    /// The envelopes to judge, with keys of this verification's own in place of those that cannot be asked.
    private struct Stand {
        let certificate: [UInt8]
        let header: [UInt8]
        let roots: [PublicKey]

        init(for subject: Subject, roots: [PublicKey]) throws {
            let isDraft = subject.header.signatureCount == 0
            guard roots.isEmpty || isDraft else {
                self.certificate = subject.certificate.bytes
                self.header = subject.header.bytes
                self.roots = roots
                return
            }
            let root = try SecretKey.generate()
            var certificate = try subject.certificate.certificate()
            if isDraft {
                let release = try SecretKey.generate()
                certificate.key = release.publicKey
                header = try subject.header.signed(by: release).bytes
            } else {
                header = subject.header.bytes
            }
            self.certificate = root.sign(Envelope(kind: .certificate, payload: certificate.serialized)).serialized
            self.roots = [root.publicKey]
        }
    }
}
