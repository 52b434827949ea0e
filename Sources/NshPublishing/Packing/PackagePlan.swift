internal import NshTrust

/// What a package is to say besides its files: the options and the certificate, read and judged.
struct PackagePlan {
    /// What the certificate says.
    let certificate: Certificate
    /// The roots to check the certificate with; none when the publisher does not know them.
    let roots: [PublicKey]
    /// How many of them must have signed.
    let rootThreshold: Int
    /// The time of signing.
    let time: Int64
    /// The lowest host runtime.
    let minimumRuntime: RuntimeVersion?
    /// Notes.
    let annotations: Annotations
    /// How the payload is stored.
    let compression: PackageHeader.Compression
    /// The zstd level; nil for none.
    let level: Int?
    /// The bounds of readers.
    let limits: Limits

    /// Reads options and certificate.
    ///
    /// - Parameters:
    ///   - document: The certificate.
    ///   - options: The options.
    ///   - key: The key that is to sign the package.
    ///   - time: The time of signing.
    /// - Throws: `malformed`, `badRequest`, `untrustedRoot`, `badSignature` for a key that is not the certificate's,
    ///   `signedOutsideWindow`, `limitExceeded`.
    init(_ document: SignedDocument, options: PackageOptions, key: PublicKey, time: Int64) throws {
        certificate = try document.certificate()
        let certificateBytes = document.bytes
        guard document.signatureCount > 0 else {
            throw Refusal.malformed("the certificate has no signature yet; a root must sign it first")
        }
        guard certificateBytes.count <= options.limits.certificateEnvelopeBytes else {
            throw Refusal(
                .limitExceeded,
                "the certificate has \(certificateBytes.count) bytes, readers take "
                    + "\(options.limits.certificateEnvelopeBytes)")
        }
        let roots = try options.trust.keys()
        if !roots.isEmpty {
            let signers = Signers(of: document.envelope, among: roots).keys
            guard signers.count >= options.trust.threshold else {
                throw Refusal(
                    .untrustedRoot,
                    "the certificate has \(signers.count) of \(options.trust.threshold) signatures by the given roots "
                        + roots.map(\.id).joined(separator: ", "))
            }
        }
        self.roots = roots
        rootThreshold = options.trust.threshold
        self.time = time
        minimumRuntime = try options.minimumRuntime.map { text in
            guard let version = RuntimeVersion(text) else {
                throw Refusal.malformed(
                    "the minimum runtime “\(Printable.escaped(text, limit: 40))” is not 1 to 4 numbers joined by dots")
            }
            return version
        }
        annotations = try Annotations(publishing: options.annotations)
        switch options.compression {
        case .none: (compression, level) = (.none, nil)
        case .zstd(let chosen):
            guard ZstdEncoder.levels.contains(chosen) else {
                throw Trouble(.badRequest, "zstd level \(chosen) is not in 1 … 19")
            }
            (compression, level) = (.zstd, chosen)
        }
        limits = options.limits
        guard key == certificate.key else {
            throw Refusal(
                .badSignature,
                "the certificate is for release key \(certificate.key.id), the package would be signed by \(key.id)")
        }
        guard (certificate.notBefore...certificate.notAfter).contains(time) else {
            throw Refusal(
                .signedOutsideWindow,
                "the package would be signed \(Timestamp.text(time)), outside its certificate’s window "
                    + "\(Timestamp.text(certificate.notBefore)) to \(Timestamp.text(certificate.notAfter))")
        }
    }

    /// Refuses a header that a reader would refuse.
    ///
    /// - Throws: `malformed` for its form, `appNotCertified`, `limitExceeded`.
    func judge(_ header: PackageHeader) throws(Refusal) {
        _ = try PackageHeader(parsing: header.serialized)
        guard certificate.covers(header.app.id) else {
            let patterns = certificate.apps.map(\.description).joined(separator: ", ")
            throw Refusal(.appNotCertified, "the certificate covers \(patterns), not \(header.app.id)")
        }
        guard header.payload.files <= limits.files else {
            throw Refusal(.limitExceeded, "there are \(header.payload.files) files, a package holds \(limits.files)")
        }
        guard header.payload.unpackedSize <= limits.unpackedBytes else {
            throw Refusal(
                .limitExceeded,
                "the files have \(header.payload.unpackedSize) bytes, a package holds \(limits.unpackedBytes)")
        }
    }

    /// What the publisher should know although nothing is wrong.
    func remarks(clock: Int64) -> [String] {
        var remarks: [String] = []
        if certificate.notAfter < clock {
            remarks.append(
                "the certificate ended \(Timestamp.text(certificate.notAfter)): stores that do not have the package yet "
                    + "will refuse it")
        }
        if time > clock + Judge.maximumSkewSeconds {
            remarks.append("the time of signing, \(Timestamp.text(time)), lies ahead of this machine’s clock")
        }
        return remarks
    }
}
