public import NshTrust

/// A package whose envelopes are to be changed while its payload stays: a renewed certificate, or the signature of a key
/// that is kept elsewhere.
///
/// The result is verified like a reader would before it is kept, and the file that was read stays as it is unless the
/// result replaces it.
///
/// - Spec: CRT-8
public struct PackageFile: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    private let payloadOffset: Int64
    private let payloadSize: Int64
    private let limits: Limits
    private let shown: String

    /// The certificate in the package; nothing has been verified.
    public let certificate: SignedDocument
    /// The header of the package; nothing has been verified, and a draft has no signature yet.
    public let header: SignedDocument

    /// Opens a package; its payload is not read yet.
    ///
    /// - Parameters:
    ///   - path: The package.
    ///   - limits: The bounds of readers.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`; `truncated`, `unsupportedFormat`, `malformed` or
    ///   `limitExceeded` when it is no package.
    public init(reading path: String, limits: Limits = Limits()) throws {
        self = try publicly { try PackageFile(fromFile: path, limits: limits) }
    }

    private init(fromFile path: String, limits: Limits) throws {
        let shown = Printable.escaped(path)
        let file = try PlainFile.open(path, name: shown)
        let status = file.status
        let descriptor = file.take()
        var input = FileInput(descriptor: descriptor.raw, name: shown)
        let prefix = try ContainerPrefix(parsing: try input.bytes(upTo: ContainerPrefix.count), limits: limits)
        let certificate = try input.bytes(upTo: prefix.certificateCount)
        let header = try input.bytes(upTo: prefix.headerCount)
        guard certificate.count == prefix.certificateCount, header.count == prefix.headerCount else {
            throw Refusal(.truncated, "\(shown) ends within its envelopes")
        }
        let certificateDocument = SignedDocument(try Envelope(parsing: certificate, as: .certificate))
        let headerDocument = try SignedDocument(parsing: header)
        guard headerDocument.kind == .packageHeader else {
            throw Refusal.malformed("\(shown) has \(headerDocument.envelope.kind.subject) in place of its header")
        }
        self.certificate = certificateDocument
        self.header = headerDocument
        payloadOffset = prefix.payloadOffset
        payloadSize = Int64(status.size) - prefix.payloadOffset
        self.descriptor = descriptor
        self.limits = limits
        self.shown = shown
    }

    /// Writes the package with another certificate of the same key; header, signature and digest stay what they are.
    ///
    /// - Parameters:
    ///   - renewed: The certificate to put in.
    ///   - output: The package to write; it may be the one that was read.
    ///   - trust: The roots that must have signed the certificate, when the publisher knows them.
    ///   - observer: Watches and may stop the work.
    /// - Returns: What was made.
    /// - Throws: `badSignature` when the certificate is for another key; `appNotCertified`, `signedOutsideWindow`,
    ///   `contentNotCertified` or `untrustedRoot` when it does not fit the package; what is wrong with the payload;
    ///   `ioFailure`, `notARegularFile`, `cancelled`.
    public borrowing func recertify(
        with renewed: SignedDocument, to output: String, trust: CertificateTrust = CertificateTrust(),
        observer: PackagingObserver = PackagingObserver()
    ) throws -> PublishedPackage {
        try publicly {
            let new = try renewed.certificate()
            guard renewed.signatureCount > 0 else {
                throw Refusal.malformed("the certificate has no signature yet; a root must sign it first")
            }
            guard header.isSigned(by: new.key) else {
                throw Refusal(
                    .badSignature,
                    "the package is not signed by release key \(new.key.id), for which the certificate is; "
                        + "only the same key’s certificate can be exchanged")
            }
            let old = try certificate.certificate()
            if old.publisher != new.publisher {
                observer.remark(
                    .note(
                        "the publisher changes from “\(Printable.escaped(old.publisher.text))” to "
                            + "“\(Printable.escaped(new.publisher.text))”: stores that have the app refuse that without a transfer"
                    ))
            }
            return try write(certificate: renewed, header: header, to: output, trust: trust, observer: observer)
        }
    }

    /// Writes the package with a signature that was made elsewhere over its header.
    ///
    /// - Parameters:
    ///   - signature: 64 bytes in base64.
    ///   - key: The release key in base64.
    ///   - output: The package to write; it may be the one that was read.
    ///   - trust: The roots that must have signed the certificate, when the publisher knows them.
    ///   - observer: Watches and may stop the work.
    /// - Returns: What was made.
    /// - Throws: `badSignature` when the signature or the key is not the right one, `exists` when it is there already;
    ///   else as `recertify(with:to:trust:observer:)`.
    public borrowing func attach(
        signature: String, by key: String, to output: String, trust: CertificateTrust = CertificateTrust(),
        observer: PackagingObserver = PackagingObserver()
    ) throws -> PublishedPackage {
        try publicly {
            let expected = try certificate.certificate().key
            guard try PublicKey(publishing: key) == expected else {
                throw Refusal(
                    .badSignature, "the package’s certificate is for release key \(expected.id), not for that key")
            }
            let signed = try header.attaching(signature: signature, by: key)
            return try write(certificate: certificate, header: signed, to: output, trust: trust, observer: observer)
        }
    }

    private borrowing func write(
        certificate: SignedDocument, header: SignedDocument, to output: String, trust: CertificateTrust,
        observer: PackagingObserver
    ) throws -> PublishedPackage {
        let file = try OutputFile(at: output)
        let assembly = PackageAssembly(certificate: certificate, header: header)
        let progress = PackingProgress(total: payloadSize, observer: observer)
        let source = FileSlice(descriptor: descriptor.raw, start: payloadOffset, count: payloadSize, name: shown)
        return try assembly.publish(
            source, to: file, limits: limits,
            by: ResultVerification(roots: try trust.keys(), rootThreshold: trust.threshold, limits: limits),
            observer: observer, progress: progress)
    }
}

/// The roots that must have signed a certificate, when the publisher knows them.
public struct CertificateTrust: Hashable, Sendable {
    /// Roots in base64; none when the publisher does not know them, and their signatures are not checked.
    public var roots: [String]
    /// How many of them must have signed, at least 1.
    public var threshold: Int

    /// Makes a trust; by default no roots are known.
    public init(roots: [String] = [], threshold: Int = 1) {
        self.roots = roots
        self.threshold = threshold
    }

    /// The roots as keys.
    ///
    /// - Throws: `malformed` for a text that is no key, `badRequest` for a threshold below 1.
    func keys() throws -> [PublicKey] {
        guard threshold >= 1 else { throw Trouble(.badRequest, "the root threshold is at least 1") }
        var keys: [PublicKey] = []
        for text in roots { keys.append(try PublicKey(publishing: text)) }
        return keys
    }
}
