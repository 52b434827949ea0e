/// A certificate that enough pinned roots signed; only `Examination` makes one.
///
/// - Spec: POL-2
package struct VerifiedCertificate: Sendable {
    /// What the roots vouch for.
    package let certificate: Certificate
    /// The pinned roots whose signature verifies, withdrawn ones included: whether enough of them count is asked again
    /// at each decision.
    package let roots: [PublicKey]
    /// The envelope as it came.
    package let envelope: [UInt8]

    fileprivate init(certificate: Certificate, roots: [PublicKey], envelope: [UInt8]) {
        self.certificate = certificate
        self.roots = roots
        self.envelope = envelope
    }
}

/// A package header that the key of a verified certificate signed, and the certificate: rules 1 to 5 hold.
///
/// - Spec: POL-4
package struct VerifiedChain: Sendable {
    /// The certificate and who signed it.
    package let certificate: VerifiedCertificate
    /// What the release key signed.
    package let header: PackageHeader
    /// SHA-256 of the header payload's bytes: the package digest.
    package let digest: Digest
    /// Where the payload starts in the file.
    package let payloadOffset: Int64
    /// What the build is.
    package let identity: ContentIdentity

    fileprivate init(
        certificate: VerifiedCertificate, header: PackageHeader, digest: Digest, payloadOffset: Int64
    ) {
        self.certificate = certificate
        self.header = header
        self.digest = digest
        self.payloadOffset = payloadOffset
        identity = ContentIdentity(of: header)
    }
}

/// What a verification has established so far, so that a refusal can show it and nothing else.
package struct Established: Sendable {
    /// The certificate, once enough pinned roots were found to have signed it.
    package internal(set) var certificate: VerifiedCertificate?
    /// The chain, once the certificate's key was found to have signed the header.
    package internal(set) var chain: VerifiedChain?

    /// Starts with nothing.
    package init() {}
}

/// Reads the two envelopes of a package in the only order that is safe, and judges each before the next is read.
package struct Examination {
    private let roots: [PublicKey]
    private let judge: Judge

    /// Prepares an examination.
    ///
    /// - Parameters:
    ///   - roots: The pinned roots; none means that every certificate is refused as `untrustedRoot`.
    ///   - judge: The rules, the snapshot and the time.
    package init(roots: [PublicKey], judge: Judge) {
        self.roots = roots
        self.judge = judge
    }

    /// Runs rules 2 to 12 on the envelopes of one package.
    ///
    /// Nothing but framing is interpreted before its signature has been verified: roots verify the certificate, the
    /// certificate's key verifies the header.
    ///
    /// - Parameters:
    ///   - prefix: The framing that rule 1 accepted.
    ///   - certificate: The certificate envelope's bytes.
    ///   - header: The header envelope's bytes.
    ///   - established: Gains each part as soon as its signature has been verified.
    /// - Returns: The chain, acceptable to this snapshot at this time but for the payload.
    /// - Throws: `Refusal` with the code of the first rule that fails, or what the snapshot throws.
    /// - Spec: POL-2 … POL-12, ENV-10
    package func verify(
        prefix: ContainerPrefix, certificate: [UInt8], header: [UInt8], established: inout Established
    ) throws -> VerifiedChain {
        let verified = try verifyCertificate(certificate, established: &established)
        let envelope = try Envelope(parsing: header, as: .package)
        let key = verified.certificate.key
        guard !Signers(of: envelope, among: [key]).keys.isEmpty else {
            throw Refusal(
                .badSignature, "the package header is not signed by key \(key.id), which its certificate names")
        }
        let chain = VerifiedChain(
            certificate: verified, header: try PackageHeader(parsing: envelope.signedBytes, in: envelope.payloadRange),
            digest: SHA256.hash(envelope.payload), payloadOffset: prefix.payloadOffset)
        established.chain = chain
        try judge.limits(of: chain.header)
        try judge.package(chain)
        return chain
    }

    /// Runs rules 2 and 3 on a certificate envelope.
    ///
    /// - Throws: `malformed`, `untrustedRoot`, `rootWithdrawn`, `certificateRevoked`, `keyRevoked`, or what the
    ///   snapshot throws.
    package func verifyCertificate(
        _ bytes: [UInt8], established: inout Established
    ) throws -> VerifiedCertificate {
        let envelope = try Envelope(parsing: bytes, as: .certificate)
        let signers = Signers(of: envelope, among: roots)
        try judge.roots(signers.keys)
        let certificate = try Certificate(parsing: envelope.signedBytes, in: envelope.payloadRange)
        guard !roots.contains(certificate.key) else {
            throw Refusal.malformed("the certificate names root \(certificate.key.id) as a release key")
        }
        let verified = VerifiedCertificate(certificate: certificate, roots: signers.keys, envelope: bytes)
        established.certificate = verified
        try judge.certificate(certificate)
        return verified
    }
}
