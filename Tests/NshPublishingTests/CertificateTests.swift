import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct CertificateTests {
    private func request(key: UInt8 = 2, apps: [String] = ["com.example.*"]) throws -> CertificateRequest {
        CertificateRequest(
            key: try TestKeys.key(key).publicKeyText, publisher: "Example Ltd", apps: apps, notBefore: 1_764_460_800,
            notAfter: 1_795_996_800)
    }

    @Test(.rules("CRT-1", "CRT-3", "CRT-4", "CRT-5", "CRT-6")) func saysWhatWasAskedAndIsSignedByTheRoot() throws {
        let root = try TestKeys.key(1)
        var asked = try request(apps: ["com.example.*", "org.other.app"])
        asked.content = ["bytecode", "source"]
        asked.annotations = ["ticket": "17"]
        let document = try asked.signed(by: root)
        let certificate = try SignedDocument(parsing: document.bytes).certificate()
        #expect(certificate.apps.map(\.description) == asked.apps)
        #expect(certificate.publisher.text == "Example Ltd")
        #expect(certificate.key == (try TestKeys.key(2).publicKey))
        #expect(certificate.notBefore == 1_764_460_800)
        #expect(certificate.notAfter == 1_795_996_800)
        #expect(certificate.statesContent)
        #expect(certificate.annotations.entries.map(\.text) == ["17"])
        #expect(document.isSigned(by: root.publicKey))
        #expect(document.envelope.signatures.map(\.keyID) == [root.publicKey.id])
    }

    @Test(.rules("CRT-5")) func givesEachCertificateItsOwnSerial() throws {
        let first = try request().draft().certificate()
        let second = try request().draft().certificate()
        #expect(first.serial != second.serial)
    }

    @Test(
        .attack("C14", "D3"),
        .rules("CRT-2", "CRT-3", "CRT-6", "CRT-7", "APP-2"),
        arguments: [
            { $0.apps = [] }, { $0.apps = ["com.*.app"] }, { $0.apps = ["a.b", "a.b"] }, { $0.apps = ["single"] },
            { $0.publisher = "" }, { $0.publisher = "line\nbreak" }, { $0.notAfter = 1_764_460_799 },
            { $0.notBefore = -1 }, { $0.content = [] }, { $0.content = ["native"] }, { $0.key = "AAAA" },
            { $0.key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" }, { $0.annotations = ["A": "x"] },
            { $0.apps = (0..<65).map { "com.example.a\($0)" } },
        ] as [@Sendable (inout CertificateRequest) -> Void])
    func refusesToMakeWhatNoReaderTakes(change: @Sendable (inout CertificateRequest) -> Void) throws {
        var asked = try request()
        change(&asked)
        expectRefusal(.malformed) { _ = try asked.draft() }
    }

    @Test(.rules("KEY-3")) func refusesToCertifyTheRootItself() throws {
        expectRefusal(.malformed) { _ = try request(key: 1).signed(by: TestKeys.key(1)) }
        let document = try request(key: 2).signed(by: TestKeys.key(1))
        expectRefusal(.malformed) { _ = try document.cosigned(by: TestKeys.key(2)) }
    }

    @Test(.rules("LIM-1")) func refusesACertificateThatIsTooLargeForReaders() throws {
        var asked = try request()
        for index in 0..<64 { asked.annotations["a\(index)"] = String(repeating: "a", count: 1000) }
        expectRefusal(.limitExceeded) { _ = try asked.draft() }
    }

    @Test(.rules("CRT-8")) func aRenewalKeepsAllButEndAndSerial() throws {
        let root = try TestKeys.key(1)
        var asked = try request()
        asked.content = ["source"]
        asked.annotations = ["ticket": "17"]
        let old = try asked.signed(by: root)
        let renewal = try CertificateRequest(
            renewing: old, until: 1_827_532_800, trusting: [root.publicKeyText])
        let (before, after) = (try old.certificate(), try renewal.signed(by: root).certificate())
        var expected = before
        expected.notAfter = 1_827_532_800
        expected.serial = after.serial
        #expect(after == expected)
        #expect(after.serial != before.serial)
    }

    @Test func renewsOnlyWhatARootSigned() throws {
        let stranger = try request(apps: ["*"]).signed(by: TestKeys.key(9))
        let roots = [try TestKeys.key(1).publicKeyText]
        expectRefusal(.untrustedRoot) {
            _ = try CertificateRequest(renewing: stranger, until: 1_827_532_800, trusting: roots)
        }
    }

    @Test(.rules("ENV-8")) func aSecondRootCosigns() throws {
        let document = try request().signed(by: TestKeys.key(1)).cosigned(by: TestKeys.key(3))
        let keys = [try TestKeys.key(1).publicKey, try TestKeys.key(3).publicKey]
        #expect(Signers(of: document.envelope, among: keys).keys == keys)
    }

    @Test(.rules("ENV-8")) func refusesASecondSignatureByTheSameRoot() throws {
        let document = try request().signed(by: TestKeys.key(1))
        expectTrouble(.exists) { _ = try document.cosigned(by: TestKeys.key(1)) }
    }

    @Test(.rules("LIM-14")) func refusesANinthSignature() throws {
        var document = try request(key: 99).draft()
        for number in 1...8 as ClosedRange<UInt8> { document = try document.signed(by: TestKeys.key(number)) }
        let full = document
        expectRefusal(.limitExceeded) { _ = try full.signed(by: TestKeys.key(9)) }
    }

    @Test(.rules("ENV-9")) func attachesASignatureThatWasMadeElsewhere() throws {
        let root = try TestKeys.key(1)
        let draft = try SignedDocument(parsing: request().draft().bytes)
        #expect(draft.signatureCount == 0)
        #expect(draft.bytesToSign.starts(with: Array("DSSEv1 39 application/vnd.nsh.certificate.v1+json ".utf8)))
        let signature = root.sign(draft.envelope).signatures[0].bytes
        let signed = try draft.attaching(signature: Base64.encode(signature), by: root.publicKeyText)
        #expect(signed.bytes == (try draft.signed(by: root).bytes))
        expectTrouble(.exists) {
            _ = try signed.attaching(signature: Base64.encode(signature), by: root.publicKeyText)
        }
    }

    @Test(.rules("ENV-9")) func attachesNothingThatDoesNotVerify() throws {
        let root = try TestKeys.key(1)
        let other = try TestKeys.key(3)
        let draft = try request().draft(serial: [UInt8](repeating: 1, count: 16))
        let signature = Base64.encode(root.sign(draft.envelope).signatures[0].bytes)
        expectRefusal(.badSignature) { _ = try draft.attaching(signature: signature, by: other.publicKeyText) }
        let changed = try request(apps: ["com.example.b"]).draft(serial: [UInt8](repeating: 1, count: 16))
        expectRefusal(.badSignature) { _ = try changed.attaching(signature: signature, by: root.publicKeyText) }
        expectRefusal(.malformed) { _ = try draft.attaching(signature: "AAAA", by: root.publicKeyText) }
        expectRefusal(.malformed) { _ = try draft.attaching(signature: signature, by: "AAAA") }
    }

    @Test(.rules("ENV-4")) func noReaderTakesADraft() throws {
        let draft = try request().draft()
        expectRefusal(.malformed) { _ = try Envelope(parsing: draft.bytes, as: .certificate) }
    }

    @Test func signsNoDocumentThatAReaderWouldRefuse() throws {
        let envelope = Envelope(kind: .certificate, payload: Array(#"{"apps":["*"]}"#.utf8))
        expectRefusal(.malformed) { _ = try SignedDocument(parsing: envelope.serialized) }
    }
}
