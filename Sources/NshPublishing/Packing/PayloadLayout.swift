internal import NshTrust

/// Where everything lies in a payload that is not compressed: known before a byte of it has been read.
struct PayloadLayout {
    /// Bytes before the first file's header: `SHA256SUMS` and its header.
    let headCount: Int64
    /// Bytes of the whole payload.
    let size: Int64

    /// Lays out the files of a package.
    ///
    /// - Throws: `limitExceeded` for more bytes than a number holds.
    init(_ contents: PackageContents) throws(Refusal) {
        let listSize = contents.listSize
        headCount = listSize + Int64(TarWriter.overhead(of: Array(FileList.path.utf8), size: listSize))
        var overhead = headCount + Int64(TarWriter.endCount)
        for file in contents.files { overhead += Int64(TarWriter.overhead(of: file.path, size: file.size)) }
        let (size, overflow) = contents.size.addingReportingOverflow(overhead)
        guard !overflow else { throw Refusal(.limitExceeded, "the files have more bytes than a package can hold") }
        self.size = size
    }

    /// Where the payload will start in a package, for digests and signatures have their lengths before they are known.
    ///
    /// - Parameters:
    ///   - contents: The files.
    ///   - plan: What else the header says.
    ///   - certificate: The certificate.
    ///   - signer: Who signs the header; nil for a draft.
    /// - Returns: The offset in the file.
    /// - Throws: `limitExceeded` when the header would be larger than readers take.
    func payloadOffset(
        of contents: PackageContents, plan: PackagePlan, certificate: SignedDocument, signer: PublicKey?
    ) throws -> Int64 {
        let chunks = (size - 1) / PayloadWriter.chunkSize + 1
        guard chunks <= plan.limits.headerEnvelopeBytes / Int64(Digest.zero.bytes.count) else {
            throw Refusal(
                .limitExceeded,
                "the package header has the digests of \(chunks) chunks, readers take "
                    + "\(plan.limits.headerEnvelopeBytes) bytes")
        }
        var header = contents.header(manifest: .zero, plan: plan)
        header.payload.size = size
        header.payload.chunks = Array(repeating: .zero, count: Int(chunks))
        let signatures = signer.map { key in
            Envelope.Signature(keyID: key.id, bytes: [UInt8](repeating: 0, count: SecretKey.signatureCount))
        }
        let envelope = Envelope(
            kind: .package, payload: header.serialized, signatures: signatures.map { [$0] } ?? [])
        let assembly = PackageAssembly(certificate: certificate, header: SignedDocument(envelope))
        return try assembly.prefix(limits: plan.limits).payloadOffset
    }
}
