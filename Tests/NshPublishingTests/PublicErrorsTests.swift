import NshPublishing
import NshTrust
import Testing

/// What a program outside of the package sees: this file imports the modules as everybody does.
@Suite struct PublicErrorsTests {
    private let nowhere = "/nonexistent/nsh"

    @Test func everyPublicCallThrowsAnNshError() throws {
        let key = try SecretKey.generate()
        let document = try RevocationRequest().signFirst(with: key, at: 0)
        let calls: [(NshError.Code, () throws -> Void)] = [
            (.malformed, { _ = try SecretKey(seed: []) }),
            (.noSuchFile, { _ = try Passphrase(readingFile: nowhere) }),
            (.noSuchFile, { _ = try SecretKeyFile(reading: nowhere) }),
            (.noSuchFile, { _ = try KeyFiles.publicKeyText(readingFile: nowhere) }),
            (.noSuchFile, { try KeyFiles.createUnsealed(key, named: nowhere) }),
            (.malformed, { _ = try SignedDocument(parsing: []) }),
            (.noSuchFile, { _ = try SignedDocument(readingFile: nowhere) }),
            (.exists, { _ = try document.signed(by: key) }),
            (.exists, { _ = try document.cosigned(by: key) }),
            (.malformed, { _ = try document.attaching(signature: "", by: key.publicKeyText) }),
            (.malformed, { _ = try document.isSigned(by: "") }),
            (.noSuchFile, { try document.write(to: nowhere) }),
            (.malformed, { _ = try CertificateRequest(renewing: document, until: 0, trusting: []) }),
            (
                .malformed,
                { _ = try CertificateRequest(key: "", publisher: "", apps: [], notBefore: 0, notAfter: 0).draft() }
            ),
            (.malformed, { _ = try RevocationRequest().draftFirst(issuer: "", at: 0) }),
            (
                .malformed,
                {
                    _ = try PackagePublisher(certificate: document).publish(nowhere, to: nowhere, signedBy: key, at: 0)
                }
            ),
            (.noSuchFile, { _ = try PackageFile(reading: nowhere) }),
            (.malformed, { _ = try RotationCheck(oldRoots: [""], newRoots: []) }),
        ]
        for (index, (code, call)) in calls.enumerated() {
            let error = #expect(throws: NshError.self, "call \(index)") { try call() }
            #expect(error?.code == code, "call \(index)")
        }
    }

    @Test func whatTheCallerThrowsPassesAsItIs() throws {
        struct Mine: Error {}
        let scratch = Scratch()
        var bytes = Array("p".utf8)
        let path = scratch.file("k")
        try KeyFiles.create(
            SecretKey.generate(), named: path, sealedWith: Passphrase(wiping: &bytes), cost: TestKeys.cheap)
        let file = try SecretKeyFile(reading: path + ".secret")
        #expect(throws: Mine.self) { _ = try file.open { throw Mine() } }
    }
}
