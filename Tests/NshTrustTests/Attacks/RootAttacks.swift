import NshTrust
import TestSupport
import Testing

/// Roots that are missing, doubled, weak, or fewer than the host asks for.
@Suite struct RootAttacks {
    @Test(.attack("A2"), .rules("ENV-8", "POL-2", "KEY-1")) func oneKeyInTwoFilesIsOneRoot() throws {
        let host = try AttackHost { $0.rootThreshold = 2 }
        try host.core.addRoot(TestKey.root.publicKey.base64)
        try host.core.addRoot(TestKey.root.publicKey.base64 + "\n")
        #expect(host.core.roots.count == 1)
        try host.mustRefuse(PackageBuilder(), .untrustedRoot)
    }

    @Test(.attack("A3"), .rules("POL-16"), arguments: [Int.min, -1, 0, 17, Int.max])
    func aThresholdThatCannotBeMeantOpensNoStore(_ threshold: Int) throws {
        let host = try AttackHost()
        let before = try host.contents
        #expect(AttackHost.code { try host.again { $0.rootThreshold = threshold } } == .badRequest)
        #expect(try host.contents == before)
    }

    @Test(.attack("A3"), .rules("POL-2")) func aThresholdAboveThePinnedRootsRefusesEverything() throws {
        let host = try AttackHost(roots: [.root, .secondRoot]) { $0.rootThreshold = 3 }
        var package = PackageBuilder()
        package.certifiedBy = [.root, .secondRoot, .root, .stranger]
        try host.mustRefuse(package, .untrustedRoot)
    }

    @Test(.attack("A3", "C26"), .rules("STO-3")) func theThresholdThatWasUsedCannotBeLoweredLater() throws {
        let host = try AttackHost(roots: [.root, .secondRoot]) { $0.rootThreshold = 2 }
        let before = try host.contents
        #expect(AttackHost.code { try host.again { $0.rootThreshold = 1 } } == .storeUnsafe)
        #expect(try host.contents == before)
    }

    @Test(.attack("A7"), .rules("POL-2", "REV-5"), arguments: [[TestKey.root, .secondRoot], [.secondRoot, .root]])
    func everyPinnedRootCounts(_ roots: [TestKey]) throws {
        for signer in roots {
            let host = try AttackHost(roots: roots)
            var package = PackageBuilder()
            package.certifiedBy = [signer]
            #expect(try host.code(package) == nil)
            #expect(try host.apply(ListBuilder(by: signer)).changed)
        }
    }

    @Test(.attack("A20"), .rules("POL-22")) func withoutARootNothingIsAccepted() throws {
        let host = try AttackHost(roots: [])
        try host.mustRefuse(PackageBuilder(), .noTrustedRoots)
        try host.mustRefuse(list: ListBuilder(), .noTrustedRoots)
        var unsigned = PackageBuilder()
        unsigned.certifiedBy = []
        try host.mustRefuse(unsigned, .noTrustedRoots)
    }

    @Test(
        .attack("A20", "A21", "E12"), .rules("KEY-1"),
        arguments: [
            "", "\n", " ", "null", "AAAA", "AQ==", TestKey.root.publicKey.base64 + "\n\n",
            TestKey.root.publicKey.base64 + "\r\n", " " + TestKey.root.publicKey.base64,
            String(TestKey.root.publicKey.base64.dropLast()), TestKey.root.publicKey.hash.hex,
            String(repeating: "A", count: 1 << 20),
        ])
    func whatIsNoKeyPinsNothing(_ text: String) throws {
        let host = try AttackHost(roots: [])
        let before = try host.contents
        #expect(AttackHost.code { try host.core.addRoot(text) } == .malformed)
        #expect(host.core.roots.isEmpty)
        #expect(try host.contents == before)
    }

    @Test(.attack("B8", "B19"), .rules("REV-10", "REV-11", "POL-2"))
    func aWithdrawnRootCertifiesNothingWhateverElseIsWaived() throws {
        let loose: (inout NshTrust.Options) -> Void = { options in
            options.expiry = .atSigningOnly
            options.listExpiry = .ignoredUnsafely
            options.publisherContinuity = .waivedUnsafely
            options.rebuilding = .allowedUnsafely
        }
        let host = try AttackHost(roots: [.root, .secondRoot], loose)
        #expect(try host.code(PackageBuilder(build: 1)) == nil)
        var withdrawal = ListBuilder()
        withdrawal.list.revokesIssuer = true
        try host.apply(withdrawal)
        try host.mustRefuse(PackageBuilder(build: 2), .rootWithdrawn)
        // Issued before the root was withdrawn or dated after it: no certificate of that root counts any more.
        var later = PackageBuilder(build: 3)
        later.certificate.notBefore = PackageBuilder.now - 1
        later.signedAt = PackageBuilder.now
        try host.mustRefuse(later, .rootWithdrawn)
        later.certifiedBy = [.secondRoot]
        #expect(try host.code(later) == nil)
        #expect(AttackHost.code { try host.again(roots: [.root], loose) } == .rootWithdrawn)
    }

    @Test(.attack("B15", "M18"), .rules("POL-14", "POL-18", "POL-2")) func aVerdictIsNotKeptWhenTheRootsChange() throws
    {
        let host = try AttackHost()
        let file = try host.write(PackageBuilder().build())
        let report = try host.core.verify(path: file)
        #expect(report.info?.build == 42)
        try host.core.replaceRoots(with: [TestKey.secondRoot.publicKey])
        try host.mustRefuse(PackageBuilder(), .untrustedRoot)
        try host.core.replaceRoots(with: [TestKey.root.publicKey])
        let opened = try host.open(PackageBuilder())
        try host.core.replaceRoots(with: [TestKey.secondRoot.publicKey])
        #expect(AttackHost.code { try opened.take() } == .untrustedRoot)
        #expect(AttackHost.code { try host.open(PackageBuilder()) } == .untrustedRoot, "installed already")
    }

    @Test(.attack("C17"), .rules("POL-18")) func aRootThatWasMissingCountsAtOnce() throws {
        let host = try AttackHost(roots: [.secondRoot])
        try host.mustRefuse(PackageBuilder(), .untrustedRoot)
        try host.core.addRoot(TestKey.root.publicKey)
        #expect(try host.code(PackageBuilder()) == nil)
    }

    @Test(.attack("D12"), .rules("KEY-10", "ENV-5")) func anIdThatCollidesIsNoKey() throws {
        let host = try AttackHost()
        var package = PackageBuilder()
        package.certifiedBy = [.stranger]
        package.editCertificateSignatures = { signatures in
            let id = TestKey.root.publicKey.id
            signatures = signatures.map { Envelope.Signature(keyID: id, bytes: $0.bytes) }
        }
        try host.mustRefuse(package, .untrustedRoot)
        var list = ListBuilder()
        list.editBytes = { $0.replace("\"keys\":[]", with: "\"keys\":[\"\(TestKey.release.publicKey.id)\"]") }
        try host.mustRefuse(list: list, .malformed)
    }
}
