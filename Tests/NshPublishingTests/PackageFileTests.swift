import Glibc
import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct PackageFileTests {
    private let bench = PublishingBench()

    private func renewed(_ change: (inout CertificateRequest) -> Void = { _ in }) throws -> SignedDocument {
        let root = try TestKeys.key(1)
        var request = try CertificateRequest(
            renewing: PublishingBench.certificate(), until: 1_827_532_800, trusting: [root.publicKeyText])
        change(&request)
        return try request.signed(by: root)
    }

    private func recertify(_ certificate: SignedDocument, to output: String = "new.nshpkg") throws -> PublishedPackage {
        try PackageFile(reading: bench.scratch.file("out.nshpkg"))
            .recertify(with: certificate, to: bench.scratch.file(output))
    }

    @Test(.rules("CRT-8", "PKG-16")) func aRenewedCertificateGoesIntoAPackageThatExists() throws {
        let made = try bench.publish()
        let renewed = try renewed()
        let again = try recertify(renewed)
        #expect(again.digest == made.digest)
        let (old, new) = (bench.scratch.read("out.nshpkg"), bench.scratch.read("new.nshpkg"))
        let file = try PackageFile(reading: bench.scratch.file("new.nshpkg"))
        #expect(file.certificate.bytes == renewed.bytes)
        let oldFile = try PackageFile(reading: bench.scratch.file("out.nshpkg"))
        #expect(file.header.bytes == oldFile.header.bytes)
        let header = try PackageHeader(
            parsing: file.header.envelope.signedBytes, in: file.header.envelope.payloadRange)
        #expect(old.suffix(Int(header.payload.size)) == new.suffix(Int(header.payload.size)))
        #expect(again.packageSize == Int64(new.count))
    }

    @Test(.rules("CRT-8")) func mayReplaceTheFileItRead() throws {
        try bench.publish()
        _ = try recertify(renewed(), to: "out.nshpkg")
        #expect(bench.scratch.names == ["app", "out.nshpkg"])
        #expect(
            try PackageFile(reading: bench.scratch.file("out.nshpkg")).certificate.certificate().notAfter
                == 1_827_532_800)
    }

    @Test(.rules("POL-4")) func refusesACertificateOfAnotherKey() throws {
        try bench.publish()
        expectRefusal(.badSignature) { _ = try recertify(PublishingBench.certificate(key: 3)) }
        #expect(!bench.scratch.exists("new.nshpkg"))
    }

    @Test(.rules("POL-6", "POL-7", "SUM-12")) func refusesACertificateThatDoesNotFit() throws {
        try bench.publish()
        expectRefusal(.appNotCertified) { _ = try recertify(renewed { $0.apps = ["org.other.*"] }) }
        expectRefusal(.signedOutsideWindow) {
            _ = try recertify(renewed { $0.notBefore = PublishingBench.time + 1 })
        }
        expectRefusal(.contentNotCertified) { _ = try recertify(renewed { $0.content = ["bytecode"] }) }
        #expect(!bench.scratch.exists("new.nshpkg"))
    }

    @Test(.rules("POL-2")) func checksTheRootsThatAreGiven() throws {
        try bench.publish()
        let file = try PackageFile(reading: bench.scratch.file("out.nshpkg"))
        let output = bench.scratch.file("new.nshpkg")
        let (right, wrong) = (
            CertificateTrust(roots: [try TestKeys.key(1).publicKeyText]),
            CertificateTrust(roots: [try TestKeys.key(9).publicKeyText])
        )
        expectRefusal(.untrustedRoot) { _ = try file.recertify(with: renewed(), to: output, trust: wrong) }
        #expect(
            try file.recertify(with: renewed(), to: output, trust: right).certificate == .signedByRoots(right.roots))
    }

    @Test(.rules("PAY-1", "PKG-5")) func keepsNothingWhosePayloadIsDamaged() throws {
        try bench.publish()
        var bytes = bench.scratch.read("out.nshpkg")
        bytes[bytes.count - 2000] ^= 1
        bench.scratch.write("out.nshpkg", bytes)
        expectRefusal(.payloadCorrupt) { _ = try recertify(renewed()) }
        bytes[bytes.count - 2000] ^= 1
        bench.scratch.write("out.nshpkg", bytes + [0])
        expectRefusal(.trailingData) { _ = try recertify(renewed()) }
        bench.scratch.write("out.nshpkg", bytes.dropLast())
        expectRefusal(.truncated) { _ = try recertify(renewed()) }
        #expect(!bench.scratch.exists("new.nshpkg"))
    }

    @Test(.rules("PKG-1", "PKG-4")) func refusesWhatIsNoPackage() throws {
        bench.scratch.write("x", "hello, world")
        expectRefusal(.unsupportedFormat) { _ = try PackageFile(reading: bench.scratch.file("x")) }
        try bench.publish()
        bench.scratch.write("x", bench.scratch.read("out.nshpkg").prefix(100))
        expectRefusal(.truncated) { _ = try PackageFile(reading: bench.scratch.file("x")) }
        expectTrouble(.notARegularFile) { _ = try PackageFile(reading: bench.scratch.path) }
    }

    // MARK: - A release key that is kept elsewhere

    @Test(.rules("ENV-9", "PKG-17")) func aDraftAndASignatureGiveThePackageThatTheKeyWouldHaveMade() throws {
        try bench.publish()
        let key = try TestKeys.key(2)
        let publisher = PackagePublisher(certificate: try PublishingBench.certificate(), options: bench.options)
        let draft = bench.scratch.file("draft.nshpkg")
        _ = try publisher.publishDraft(
            bench.scratch.file("app"), to: draft, forKey: key.publicKeyText, at: PublishingBench.time)
        let file = try PackageFile(reading: draft)
        #expect(file.header.signatureCount == 0)
        let signature = key.sign(file.header.envelope).signatures[0].bytes
        _ = try file.attach(
            signature: Base64.encode(signature), by: key.publicKeyText, to: bench.scratch.file("signed.nshpkg"))
        #expect(bench.scratch.read("signed.nshpkg") == bench.scratch.read("out.nshpkg"))
    }

    @Test(.rules("ENV-9")) func attachesNothingThatIsNotTheCertifiedKeysSignature() throws {
        let key = try TestKeys.key(2)
        let other = try TestKeys.key(3)
        let publisher = PackagePublisher(certificate: try PublishingBench.certificate(), options: bench.options)
        let draft = bench.scratch.file("draft.nshpkg")
        _ = try publisher.publishDraft(
            bench.scratch.file("app"), to: draft, forKey: key.publicKeyText, at: PublishingBench.time)
        let file = try PackageFile(reading: draft)
        let output = bench.scratch.file("signed.nshpkg")
        let theirs = Base64.encode(other.sign(file.header.envelope).signatures[0].bytes)
        expectRefusal(.badSignature) { _ = try file.attach(signature: theirs, by: other.publicKeyText, to: output) }
        expectRefusal(.badSignature) { _ = try file.attach(signature: theirs, by: key.publicKeyText, to: output) }
        #expect(!bench.scratch.exists("signed.nshpkg"))
    }

    @Test func aDraftIsRefusedForWhatAPackageIsRefusedFor() throws {
        unlink(bench.scratch.file("app/bundle.js"))
        let publisher = PackagePublisher(certificate: try PublishingBench.certificate(), options: bench.options)
        expectRefusal(.manifestMismatch) {
            _ = try publisher.publishDraft(
                bench.scratch.file("app"), to: bench.scratch.file("draft.nshpkg"),
                forKey: TestKeys.key(2).publicKeyText, at: PublishingBench.time)
        }
    }
}

@Suite struct RotationCheckTests {
    private func certificate(signedBy roots: [UInt8], key: UInt8 = 50) throws -> SignedDocument {
        var document = try CertificateRequest(
            key: TestKeys.key(key).publicKeyText, publisher: "Example Ltd", apps: ["*"], notBefore: 0, notAfter: 1
        ).draft()
        for root in roots { document = try document.signed(by: TestKeys.key(root)) }
        return document
    }

    private func roots(_ numbers: [UInt8]) throws -> [PublicKey] { try numbers.map { try TestKeys.key($0).publicKey } }

    @Test(
        .rules("POL-2"),
        arguments: [
            ([1], [1], [2], 1, .stranded), ([1, 2], [1], [2], 1, .kept), ([2], [1], [2], 1, .newOnly),
            ([3], [1], [2], 1, .untrusted), ([1], [1, 2], [1, 2], 1, .kept), ([1, 2], [1, 2], [2, 3], 2, .stranded),
            ([1, 2, 3], [1, 2], [2, 3], 2, .kept),
        ] as [([UInt8], [UInt8], [UInt8], Int, RotationCheck.Outcome)])
    func tellsWhoWouldBeStranded(
        signers: [UInt8], old: [UInt8], new: [UInt8], threshold: Int, outcome: RotationCheck.Outcome
    ) throws {
        let check = RotationCheck(oldRoots: try roots(old), newRoots: try roots(new), threshold: threshold)
        let rows = try check.rows([("a.cert", certificate(signedBy: signers))])
        #expect(rows.map(\.name) == ["a.cert"])
        #expect(rows[0].outcome == outcome)
        #expect(rows[0].oldSigners == (try roots(old.filter(signers.contains)).map(\.id)))
        #expect(rows[0].newSigners == (try roots(new.filter(signers.contains)).map(\.id)))
    }

    @Test(.rules("KEY-3")) func aReleaseKeyThatBecomesARootStrandsItsCertificates() throws {
        let check = RotationCheck(oldRoots: try roots([1]), newRoots: try roots([1, 50]), threshold: 1)
        #expect(try check.rows([("a.cert", certificate(signedBy: [1]))])[0].outcome == .stranded)
    }

    @Test func refusesAThresholdBelowOne() {
        expectTrouble(.badRequest) { _ = try RotationCheck(oldRoots: [String](), newRoots: [], threshold: 0) }
    }
}
