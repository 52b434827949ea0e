internal import NshTrust

/// Puts the parts of a package together: prefix, certificate, header, payload.
///
/// - Spec: PKG-1 … PKG-5
struct PackageAssembly {
    /// The certificate.
    let certificate: SignedDocument
    /// The header.
    let header: SignedDocument

    /// Writes the package, verifies what was written, and puts it in its place.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - file: Where the package comes into being.
    ///   - limits: The bounds of readers.
    ///   - verification: With which roots and limits.
    ///   - observer: May stop the work.
    ///   - progress: Counts the bytes of the payload.
    /// - Returns: What was made.
    /// - Throws: `limitExceeded` when an envelope is larger than readers take; the refusal that a reader would give;
    ///   `ioFailure`, `storeFull`, `cancelled`. Then nothing has changed.
    func publish(
        _ payload: FileSlice, to file: consuming OutputFile, limits: Limits, by verification: ResultVerification,
        observer: PackagingObserver, progress: PackingProgress
    ) throws -> PublishedPackage {
        let offset = try writeEnvelopes(to: file, limits: limits)
        let size = offset + payload.count
        let name = Printable.escaped(file.path)
        let copy = try PayloadCopy(of: payload, to: file.raw, what: name)
        let written = FileInput(descriptor: file.raw, name: name, offset: offset)
        let checked = Result {
            try verification.run(
                ResultVerification.Subject(certificate: certificate, header: header),
                payload: CopiedPayload(written, behind: copy), observer: observer, advance: progress.remainder(size))
        }
        copy.finish()
        let check = try checked.get()
        let said = try PackageHeader(parsing: header.envelope.signedBytes, in: header.envelope.payloadRange)
        try file.keep()
        return PublishedPackage(
            header: said, digest: SHA256.hash(header.envelope.payload), packageSize: size, certificate: check)
    }

    /// Writes everything before the payload, and returns where that starts.
    private func writeEnvelopes(to file: borrowing OutputFile, limits: Limits) throws -> Int64 {
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
}
