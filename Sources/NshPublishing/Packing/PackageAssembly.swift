internal import NshTrust

/// Puts the parts of a package together: prefix, certificate, header, payload.
///
/// - Spec: PKG-1 … PKG-5
struct PackageAssembly {
    /// The certificate.
    let certificate: SignedDocument
    /// The header.
    let header: SignedDocument

    /// Copies the payload behind its header, verifies what was written, and puts it in its place.
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
        let name = Printable.escaped(file.path)
        let place = PayloadPlace(descriptor: file.raw, start: offset, what: name)
        let copy = try PayloadCopy(of: payload, to: place, observer: observer)
        let written = FileInput(descriptor: file.raw, name: name, offset: offset)
        let checked = Result {
            try verify(
                CopiedPayload(written, behind: copy), size: offset + payload.count, by: verification,
                observer: observer, progress: progress)
        }
        copy.finish()
        return try keep(file, size: offset + payload.count, try checked.get())
    }

    /// Writes the header in front of a payload that is in its place already, verifies the payload as it lies
    /// there, and puts the package in its place.
    ///
    /// - Parameters:
    ///   - place: Where the payload starts in `file`, which is where the header must end.
    ///   - size: Bytes of the payload.
    ///   - file: Where the package comes into being.
    ///   - limits: The bounds of readers.
    ///   - verification: With which roots and limits.
    ///   - observer: May stop the work.
    ///   - progress: Counts the bytes of the payload.
    /// - Returns: What was made.
    /// - Throws: As the other one.
    func publish(
        around place: PayloadPlace, size: Int64, in file: consuming OutputFile, limits: Limits,
        by verification: ResultVerification, observer: PackagingObserver, progress: PackingProgress
    ) throws -> PublishedPackage {
        let offset = try writeEnvelopes(to: file, limits: limits)
        guard offset == place.start else {
            throw Trouble(.ioFailure, "the header ends at byte \(offset), it was to end at \(place.start)")
        }
        let check = try verify(
            FileInput(descriptor: file.raw, name: place.what, offset: offset), size: offset + size, by: verification,
            observer: observer, progress: progress)
        return try keep(file, size: offset + size, check)
    }

    private func verify(
        _ payload: some PackageInput, size: Int64, by verification: ResultVerification, observer: PackagingObserver,
        progress: PackingProgress
    ) throws -> PublishedPackage.CertificateCheck {
        try verification.run(
            ResultVerification.Subject(certificate: certificate, header: header), payload: payload, observer: observer,
            advance: progress.remainder(size))
    }

    private func keep(
        _ file: consuming OutputFile, size: Int64, _ check: PublishedPackage.CertificateCheck
    ) throws -> PublishedPackage {
        let said = try PackageHeader(parsing: header.envelope.signedBytes, in: header.envelope.payloadRange)
        try file.keep()
        return PublishedPackage(
            header: said, digest: SHA256.hash(header.envelope.payload), packageSize: size, certificate: check)
    }

    /// The first bytes of the package, which say where its payload starts.
    ///
    /// - Throws: `limitExceeded` when an envelope is larger than readers take.
    func prefix(limits: Limits) throws -> ContainerPrefix {
        try prefix(certificate.bytes.count, header.bytes.count, limits)
    }

    private func prefix(_ certificateCount: Int, _ headerCount: Int, _ limits: Limits) throws -> ContainerPrefix {
        guard headerCount <= limits.headerEnvelopeBytes else {
            throw Refusal(
                .limitExceeded,
                "the package header has \(headerCount) bytes, readers take \(limits.headerEnvelopeBytes)")
        }
        guard let prefix = ContainerPrefix(certificateCount: certificateCount, headerCount: headerCount) else {
            throw Refusal(.limitExceeded, "an envelope is empty or has more than 4 GiB")
        }
        return prefix
    }

    /// Writes everything before the payload, and returns where that starts.
    private func writeEnvelopes(to file: borrowing OutputFile, limits: Limits) throws -> Int64 {
        let (certificate, header) = (certificate.bytes, header.bytes)
        let prefix = try prefix(certificate.count, header.count, limits)
        try file.write(prefix.serialized + certificate + header)
        return prefix.payloadOffset
    }
}
