import NshTrust
import TestSupport
import Testing

/// Signatures that count twice, count without being there, or count in another length or spelling.
@Suite struct SignatureAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    private func twoRoots() throws -> AttackHost {
        try AttackHost(roots: [.root, .secondRoot]) { $0.rootThreshold = 2 }
    }

    @Test(.attack("A1"), .rules("ENV-8", "POL-2", "REV-17")) func oneKeySigningTwiceCountsOnce() throws {
        let host = try twoRoots()
        var package = PackageBuilder()
        package.certifiedBy = [.root, .root]
        try host.mustRefuse(package, .untrustedRoot)
        package.editCertificateSignatures = { $0[1] = Envelope.Signature(keyID: "another name", bytes: $0[1].bytes) }
        try host.mustRefuse(package, .untrustedRoot)
        package.editCertificateSignatures = nil
        package.certifiedBy = [.root, .secondRoot]
        #expect(try host.code(package) == nil)

        var list = ListBuilder()
        list.list.maximumBuilds = [PackageBuilder.id("com.example.orders"): 1]
        list.signedBy = [.root, .root]
        #expect(try host.apply(list).warnings.count == 1, "the grant is passed over and said")
        #expect(try host.build() == 42)
    }

    @Test(.attack("A4"), .rules("ENV-5", "ENV-8")) func keysAreCountedAndNotTheirNames() throws {
        let host = try twoRoots()
        let sameName: @Sendable (inout [Envelope.Signature]) -> Void = { signatures in
            signatures = signatures.map { Envelope.Signature(keyID: "same", bytes: $0.bytes) }
        }
        var package = PackageBuilder()
        package.editCertificateSignatures = sameName
        package.certifiedBy = [.root, .stranger]
        try host.mustRefuse(package, .untrustedRoot)
        package.certifiedBy = [.root, .root, .release]
        try host.mustRefuse(package, .untrustedRoot)
        package.certifiedBy = [.root, .secondRoot]
        #expect(try host.code(package) == nil, "two keys under one name are two keys")
    }

    @Test(.attack("A10", "A12"), .rules("ENV-6", "ENV-7"), arguments: [0, 1, 63, 65, 128, 8192, 8193])
    func aSignatureOfAnotherLengthCountsForNothing(_ count: Int) throws {
        let resize: @Sendable (inout [Envelope.Signature]) -> Void = { signatures in
            let bytes = Array((signatures[0].bytes + [UInt8](repeating: 0, count: 8192)).prefix(count))
            signatures[0] = Envelope.Signature(keyID: signatures[0].keyID, bytes: bytes)
        }
        let isForm = (1...8192).contains(count)
        var package = PackageBuilder()
        package.editCertificateSignatures = resize
        try host.mustRefuse(package, isForm ? .untrustedRoot : .malformed)
        package.editCertificateSignatures = nil
        package.editHeaderSignatures = resize
        try host.mustRefuse(package, isForm ? .badSignature : .malformed)
        var list = ListBuilder()
        list.editSignatures = resize
        try host.mustRefuse(list: list, isForm ? .untrustedRoot : .malformed)
    }

    @Test(
        .attack("A14", "A19", "A21"), .rules("ENV-4", "JSN-11"),
        arguments: [
            "[]", "null", "0", "true", "\"\"", "{}", "[null]", "[0]", "[\"\"]", "[[]]", "[{}]", "[{\"keyid\":\"\"}]",
            "[{\"sig\":null}]", "[{\"sig\":0}]", "[{\"sig\":[]}]", "[{\"sig\":{}}]",
            "[{\"keyid\":null,\"sig\":\"AA==\"}]",
            "[{\"keyid\":7,\"sig\":\"AA==\"}]",
        ])
    func noSignatureIsNoSignature(_ signatures: String) throws {
        let edit: @Sendable (inout [UInt8]) -> Void = { envelope in
            let start = envelope.indices.first { envelope[$0...].starts(with: Array("\"signatures\":".utf8)) } ?? 0
            envelope = envelope[..<start] + Array("\"signatures\":\(signatures)}".utf8)
        }
        var package = PackageBuilder()
        package.editCertificateEnvelope = edit
        try host.mustRefuse(package, .malformed)
        package.editCertificateEnvelope = nil
        package.editHeaderEnvelope = edit
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editEnvelope = edit
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(.attack("A22"), .rules("ENV-8", "POL-2", "REV-5")) func keysThatARootCertifiedAreNotRoots() throws {
        let host = try twoRoots()
        var package = PackageBuilder()
        package.certifiedBy = [.root, .release]
        try host.mustRefuse(package, .untrustedRoot)
        var list = ListBuilder()
        list.list.maximumBuilds = [PackageBuilder.id("com.example.orders"): 1]
        list.signedBy = [.root, .release]
        #expect(try host.apply(list).warnings.count == 1)
        try host.mustRefuse(list: ListBuilder(by: .release), .untrustedRoot)
    }
}
