internal import NshTrust

/// Puts the parts of a package together: prefix, certificate, header, payload.
///
/// - Spec: PKG-1 … PKG-5
struct PackageAssembly {
    /// The certificate.
    let certificate: SignedDocument
    /// The header.
    let header: SignedDocument

    /// Writes everything before the payload.
    ///
    /// - Parameters:
    ///   - file: Where the package comes into being.
    ///   - limits: The bounds of readers.
    /// - Returns: Where the payload starts.
    /// - Throws: `limitExceeded` when an envelope is larger than readers take, `ioFailure`.
    func writeEnvelopes(to file: borrowing OutputFile, limits: Limits) throws -> Int64 {
        let (certificate, header) = (certificate.bytes, header.bytes)
        guard header.count <= limits.headerEnvelopeBytes else {
            throw Refusal(
                .limitExceeded,
                "the package header has \(header.count) bytes, readers take \(limits.headerEnvelopeBytes)")
        }
        guard let prefix = ContainerPrefix(certificateCount: certificate.count, headerCount: header.count) else {
            throw Refusal(.limitExceeded, "an envelope is empty or has more than 4 GiB")
        }
        try file.write(prefix.serialized + certificate + header)
        return prefix.payloadOffset
    }

    /// Verifies the package that was written and puts it in its place.
    ///
    /// - Parameters:
    ///   - file: The package, written whole.
    ///   - payloadOffset: Where its payload starts.
    ///   - packageSize: Its bytes.
    ///   - verification: With which roots and limits.
    ///   - observer: May stop the work.
    ///   - progress: Counts the bytes of the payload.
    /// - Returns: What was made.
    /// - Throws: The refusal that a reader would give; then nothing has changed.
    func verifyAndKeep(
        _ file: consuming OutputFile, payloadOffset: Int64, packageSize: Int64, by verification: ResultVerification,
        observer: PackagingObserver, progress: PackingProgress
    ) throws -> PublishedPackage {
        let subject = ResultVerification.Subject(
            certificate: certificate, header: header, descriptor: file.raw, payloadOffset: payloadOffset,
            name: Printable.escaped(file.path))
        let check = try verification.run(subject, observer: observer, advance: progress.remainder(packageSize))
        let said = try PackageHeader(parsing: header.envelope.signedBytes, in: header.envelope.payloadRange)
        try file.keep()
        return PublishedPackage(
            header: said, digest: SHA256.hash(header.envelope.payload), packageSize: packageSize, certificate: check)
    }
}
