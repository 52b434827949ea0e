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
            let job = try job(source, output, for: key.publicKey, at: time, observer)
            return try run(job, signer: key.publicKey) { try $0.signed(by: key) }
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
            try run(job(source, output, for: PublicKey(publishing: key), at: time, observer), signer: nil) { $0 }
        }
    }

    /// What is to be made of what, read and judged; nothing has been written.
    private struct Job {
        let plan: PackagePlan
        let contents: PackageContents
        let output: String
        let observer: PackagingObserver
    }

    private func job(
        _ source: String, _ output: String, for key: PublicKey, at time: Int64, _ observer: PackagingObserver
    ) throws -> Job {
        let plan = try PackagePlan(certificate, options: options, key: key, time: time)
        for remark in plan.remarks(clock: SigningTime.clock()) { observer.remark(.note(remark)) }
        let contents = try contents(of: source, output: output, observer: observer)
        try contents.judge(by: plan)
        return Job(plan: plan, contents: contents, output: output, observer: observer)
    }

    private func run(
        _ job: Job, signer: PublicKey?, sign: (SignedDocument) throws -> SignedDocument
    ) throws -> PublishedPackage {
        guard let level = job.plan.level else { return try makePlain(job, signer: signer, sign) }
        do {
            return try makeCompressed(job, level: level, sign)
        } catch let refusal as Refusal where refusal.code == .manifestMismatch {
            // Names and forms were judged before: only what a file holds can be another.
            throw SourceReading.changed(refusal)
        }
    }

    private func assembly(
        _ header: PackageHeader, _ sign: (SignedDocument) throws -> SignedDocument
    ) throws -> PackageAssembly {
        let document = try sign(SignedDocument(Envelope(kind: .package, payload: header.serialized)))
        return PackageAssembly(certificate: certificate, header: document)
    }

    /// The payload's place in the package is known: each byte is written once.
    private func makePlain(
        _ job: Job, signer: PublicKey?, _ sign: (SignedDocument) throws -> SignedDocument
    ) throws -> PublishedPackage {
        let plan = job.plan
        let layout = try PayloadLayout(job.contents)
        let offset = try layout.payloadOffset(
            of: job.contents, plan: plan, certificate: certificate, signer: signer)
        let progress = PackingProgress(total: 2 * job.contents.size, observer: job.observer)
        let file = try OutputFile(at: job.output)
        let place = PayloadPlace(descriptor: file.raw, start: offset, what: Printable.escaped(job.output))
        let header = try PayloadPacker(job.contents, plan: plan, progress: progress).pack(at: place, as: layout)
        return try assembly(header, sign).publish(
            around: place, size: layout.size, in: file, limits: plan.limits, by: verification(plan),
            observer: job.observer, progress: progress)
    }

    /// How long the header will be is known when everything has been compressed: the payload waits in a spool.
    private func makeCompressed(
        _ job: Job, level: Int, _ sign: (SignedDocument) throws -> SignedDocument
    ) throws -> PublishedPackage {
        let progress = PackingProgress(total: 3 * job.contents.size, observer: job.observer)
        let file = try OutputFile(at: job.output)
        let spool = try SpoolFile(beside: job.output)
        // The package is copied from its file on a thread that does not hold it.
        defer { withExtendedLifetime(spool) {} }
        let header = try PayloadPacker(job.contents, plan: job.plan, progress: progress)
            .pack(into: spool, level: level)
        return try assembly(header, sign).publish(
            spool.place.slice(header.payload.size), to: file, limits: job.plan.limits, by: verification(job.plan),
            observer: job.observer, progress: progress)
    }

    private func verification(_ plan: PackagePlan) -> ResultVerification {
        ResultVerification(roots: plan.roots, rootThreshold: plan.rootThreshold, limits: plan.limits)
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
