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
        let plan = try PackagePlan(certificate, options: options, key: key.publicKey, time: time)
        for remark in plan.remarks(clock: SigningTime.clock()) { observer.remark(.note(remark)) }
        let contents = try contents(of: source, output: output, observer: observer)
        try contents.judge(by: plan)
        let progress = PackingProgress(total: 3 * contents.size, observer: observer)
        let file = try OutputFile(at: output)
        let spool = try SpoolFile(beside: output)
        let header = try PayloadPacker(contents, plan: plan, observer: observer, progress: progress).pack(into: spool)
        let envelope = try SignedDocument(Envelope(kind: .package, payload: header.serialized)).signed(by: key)
        let assembly = PackageAssembly(certificate: plan.certificateBytes, header: envelope.bytes)
        let size = try assembly.write(payload: spool, to: file, limits: plan.limits)
        let package = PublishedPackage(
            header: header, digest: SHA256.hash(envelope.envelope.payload), packageSize: size,
            certificate: plan.roots.isEmpty
                ? .notChecked
                : .signedByRoots(Signers(of: certificate.envelope, among: plan.roots).keys.map(\.base64)))
        try file.keep()
        return package
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
