internal import NshTrust

/// Makes a signed package of a directory or an archive.
///
/// The same files, options, key, certificate and time give the same bytes. Memory does not grow with the size of the
/// files, only with their number. Whatever goes wrong, no file is left and an older one stays as it was.
///
/// - Spec: PKG-17
public struct PackagePublisher: Sendable {
    private let certificate: SignedDocument
    private let options: PackageOptions

    /// Prepares a publisher.
    ///
    /// - Parameters:
    ///   - certificate: The certificate of the key that will sign.
    ///   - options: How the package is made.
    public init(certificate: SignedDocument, options: PackageOptions = PackageOptions()) {
        self.certificate = certificate
        self.options = options
    }

    /// Makes a package, verifies it like a reader would, and puts it in its place.
    ///
    /// What a reader would refuse is refused here, before anything is written where that can be known: a key, app id,
    /// time or content that the certificate does not cover; links, special files and names that no reader takes, each of
    /// them told to the observer.
    ///
    /// - Parameters:
    ///   - source: A directory, in which nothing is written, or a tar or zip archive.
    ///   - output: The package; a regular file there is replaced at the end.
    ///   - key: The release key.
    ///   - time: The time of signing in seconds since 1970 UTC; `SigningTime.current()` gives it.
    ///   - observer: Watches and may stop the work.
    /// - Returns: What was made.
    /// - Throws: The code that a reader would refuse the package with; `ioFailure`, also when a file changed meanwhile;
    ///   `noSuchFile`, `notARegularFile`, `badRequest`, `cancelled`.
    public func publish(
        _ source: String, to output: String, signedBy key: borrowing SecretKey, at time: Int64,
        observer: PackagingObserver = PackagingObserver()
    ) throws -> PublishedPackage {
        try publicly {
            try make(source, output, for: key.publicKey, at: time, observer) { try $0.signed(by: key) }
        }
    }

    /// Makes a package whose header a key elsewhere is still to sign, and verifies everything else of it.
    ///
    /// `PackageFile` reads it, gives the bytes to sign and takes the signature; no reader takes it before.
    ///
    /// - Parameters:
    ///   - source: A directory, in which nothing is written, or a tar or zip archive.
    ///   - output: The draft; a regular file there is replaced at the end.
    ///   - key: The public half of the release key in base64.
    ///   - time: The time of signing in seconds since 1970 UTC.
    ///   - observer: Watches and may stop the work.
    /// - Returns: What was made.
    /// - Throws: As `publish(_:to:signedBy:at:observer:)`.
    public func publishDraft(
        _ source: String, to output: String, forKey key: String, at time: Int64,
        observer: PackagingObserver = PackagingObserver()
    ) throws -> PublishedPackage {
        try publicly {
            try make(source, output, for: try PublicKey(publishing: key), at: time, observer) { $0 }
        }
    }

    private func make(
        _ source: String, _ output: String, for key: PublicKey, at time: Int64, _ observer: PackagingObserver,
        sign: (SignedDocument) throws -> SignedDocument
    ) throws -> PublishedPackage {
        let plan = try PackagePlan(certificate, options: options, key: key, time: time)
        for remark in plan.remarks(clock: SigningTime.clock()) { observer.remark(.note(remark)) }
        let contents = try contents(of: source, output: output, observer: observer)
        try contents.judge(by: plan)
        let progress = PackingProgress(total: 3 * contents.size, observer: observer)
        let file = try OutputFile(at: output)
        let spool = try SpoolFile(beside: output)
        // The package is copied from its file on a thread that does not hold it.
        defer { withExtendedLifetime(spool) {} }
        let header = try PayloadPacker(contents, plan: plan, progress: progress).pack(into: spool)
        let document = try sign(SignedDocument(Envelope(kind: .package, payload: header.serialized)))
        let assembly = PackageAssembly(certificate: certificate, header: document)
        let verification = ResultVerification(
            roots: plan.roots, rootThreshold: plan.rootThreshold, limits: plan.limits)
        do {
            return try assembly.publish(
                spool.slice, to: file, limits: plan.limits, by: verification, observer: observer, progress: progress)
        } catch let refusal as Refusal where refusal.code == .manifestMismatch {
            // Names and forms were judged before: only what a file holds can be another.
            throw SourceReading.changed(refusal)
        }
    }

    private func contents(of source: String, output: String, observer: PackagingObserver) throws -> PackageContents {
        let files: any FileSource
        let inventory: SourceInventory
        if SourceKind.isDirectory(source) {
            let tree = try TreeSource(source)
            try SourceKind.checkOutside(output, of: tree)
            inventory = try tree.inventory(options, observer: observer)
            files = tree
        } else {
            try SourceKind.checkReadable(source)
            let spool = try SpoolFile(beside: output)
            inventory = try ArchiveReader.inventory(of: source, spool: spool, options: options, observer: observer)
            files = spool
        }
        return try PackageContents(inventory, from: files, options: options, observer: observer)
    }
}

extension PublishedPackage {
    init(header: PackageHeader, digest: Digest, packageSize: Int64, certificate: CertificateCheck) {
        self.init(
            id: header.app.id.text, name: header.app.name.text, version: header.app.version.text,
            build: header.app.build, digest: digest.hex, manifest: header.payload.manifest.hex,
            files: header.payload.files, unpackedSize: header.payload.unpackedSize, packageSize: packageSize,
            signedAt: header.signedAt, certificate: certificate)
    }
}
