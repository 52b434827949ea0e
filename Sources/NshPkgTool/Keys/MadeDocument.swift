import NshPublishing
import NshTrust

/// Writes a certificate or list that was made, and says what it is.
enum MadeDocument {
    /// Writes the document and reports it.
    ///
    /// - Parameters:
    ///   - document: Signed, or a draft for a key elsewhere.
    ///   - path: Where; replaced when a regular file is there.
    ///   - signer: The key that is to sign a draft.
    ///   - invocation: Where the report goes.
    /// - Throws: What writing throws, `OutputFailure`.
    static func write(
        _ document: SignedDocument, to path: String, signer: PublicKey, _ invocation: Invocation
    ) throws {
        Interruption.remember()
        try document.write(to: path)
        let isDraft = document.signatureCount == 0
        let envelope = document.envelope
        let (description, summary) = try describe(document)
        var object: JSONObject = [
            "file": .text(path), "verdict": .text("done"), "kind": .text(description.kind),
            "signatures": .integer(Int64(document.signatureCount)),
        ]
        object.append("says", .object(description.object))
        try invocation.console.answer(
            object, text: "OK  \(Terminal.safe(path)): \(isDraft ? "draft of " : "")\(summary)")
        guard isDraft else { return }
        try invocation.console.hint(
            "let key \(signer.id) sign the \(envelope.signedBytes.count) bytes of nsh-pkgtool pae \(Terminal.safe(path)), then "
                + "nsh-pkgtool attach \(Terminal.safe(path)) --signature BASE64 --key FILE.pub -o FILE")
    }

    /// What a document says, and that in one line.
    static func describe(_ document: SignedDocument) throws -> (Description, String) {
        let envelope = document.envelope
        switch document.kind {
        case .certificate:
            let certificate = try document.certificate()
            let view = NshReport.Certificate(certificate)
            return (
                Description(certificate, signedBy: envelope),
                "certificate \(view.serial) for \(Terminal.safe(view.publisher)): \(view.apps.joined(separator: ", "))  "
                    + CertificateView.window(view)
            )
        case .revocations:
            let list = try document.revocationList()
            return (Description(list, signedBy: envelope), Self.summary(of: list))
        case .packageHeader:
            let header = try PackageHeader(parsing: envelope.signedBytes, in: envelope.payloadRange)
            return (
                Description(header, signedBy: envelope),
                "package header of \(header.app.id) \(Terminal.safe(header.app.version.text)) (build \(header.app.build))"
            )
        }
    }

    /// What a list does, in one line.
    static func summary(of list: RevocationList) -> String {
        var parts: [String] = []
        for (count, noun) in [
            (list.keys.count, "key"), (list.certificates.count, "certificate"), (list.packages.count, "package"),
        ] where count > 0 {
            parts.append("\(Amount.count(Int64(count), noun)) revoked")
        }
        for (count, noun) in [
            (list.minimumBuilds.count, "lowest build"), (list.maximumBuilds.count, "highest build"),
            (list.transfers.count, "transfer"),
        ] where count > 0 {
            parts.append(Amount.count(Int64(count), noun))
        }
        if list.revokesIssuer { parts.append("withdraws its issuer") }
        if parts.isEmpty { parts.append("nothing revoked") }
        if let end = list.expiresAt { parts.append("expires \(Timestamp.text(end))") }
        return "list \(list.sequence) of root \(list.issuer.shortHex): \(parts.joined(separator: ", "))"
    }
}
