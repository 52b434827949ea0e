import NshTrust
import TestSupport
import Testing

/// Lists that are ignored, poisoned, late, stale, very long, or that stop more or less than they name.
@Suite struct RevocationAttacks {
    private static let orders = PackageBuilder.id("com.example.orders")
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    @Test(.attack("B13"), .rules("STO-15", "POL-21", "REV-22")) func aRefusedListLeavesNoTrace() throws {
        var bad = ListBuilder(sequence: 9)
        bad.list.keys = [TestKey.release.publicKey.hash]
        bad.signedBy = [.stranger]
        try host.mustRefuse(list: bad, .untrustedRoot)
        bad.signedBy = [.root]
        bad.editBytes = { $0.replace("\"revokesIssuer\":false", with: "\"revokesIssuer\":0") }
        try host.mustRefuse(list: bad, .malformed)
        let again = try host.again()
        #expect(try again.code(PackageBuilder()) == nil)
        #expect(try again.apply(ListBuilder(sequence: 1)).changed, "the refused number was not remembered")
        try again.mustRefuse(list: bad, .malformed)
    }

    @Test(.attack("C13"), .rules("REV-18", "REV-19", "POL-11")) func staleDataIsUsedOnlyOnRequest() throws {
        var list = ListBuilder()
        list.list.expiresAt = PackageBuilder.now - 1
        let update = try host.apply(list)
        #expect(update.warnings.count == 1)
        try host.mustRefuse(PackageBuilder(), .revocationsStale)
        #expect(NshTrust.Options().listExpiry == .enforced)
        let opted = try host.again { $0.listExpiry = .ignoredUnsafely }
        #expect(try opted.code(PackageBuilder()) == nil)
        try host.mustRefuse(PackageBuilder(build: 43), .revocationsStale)
    }

    @Test(.attack("C19"), .rules("REV-19", "POL-11")) func theFirstListComesBeforeTheFirstPackage() throws {
        let strict = try AttackHost { $0.maximumListAgeSeconds = 86_400 }
        try strict.mustRefuse(PackageBuilder(), .revocationsStale)
        try strict.apply(ListBuilder())
        #expect(try strict.code(PackageBuilder()) == nil)
        // A new root needs a list of its own, which only it can issue.
        try strict.core.addRoot(TestKey.secondRoot.publicKey)
        try strict.mustRefuse(PackageBuilder(build: 43), .revocationsStale)
        try strict.apply(ListBuilder(by: .secondRoot))
        #expect(try strict.code(PackageBuilder(build: 43)) == nil)
    }

    @Test(.attack("C21"), .rules("REV-9", "REV-12", "REV-13"), arguments: ["key", "package", "certificate"])
    func theLastOfManyEntriesCounts(_ kind: String) throws {
        func numbered(_ number: Int) -> [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) } }
        let count = 20_000
        var list = ListBuilder()
        let package = PackageBuilder()
        switch kind {
        case "key":
            list.list.keys = SortedSet((1..<count).compactMap { Digest(numbered($0)) })
            list.list.keys.formUnion([TestKey.release.publicKey.hash])
        case "package":
            let digest = try #require(Digest(hex: try host.open(package).digest))
            list.list.packages = SortedSet((1..<count).compactMap { Digest(numbered($0)) })
            list.list.packages.formUnion([digest])
        default:
            list.list.certificates = SortedSet((1..<count).compactMap { Serial(Array(numbered($0).prefix(16))) })
            list.list.certificates.formUnion([PackageBuilder.serial(7)])
        }
        try host.apply(list)
        let expected: NshError.Code =
            switch kind {
            case "key": .keyRevoked
            case "package": .packageRevoked
            default: .certificateRevoked
            }
        try host.mustRefuse(package, expected)
    }

    @Test(.attack("C22"), .rules("REV-8", "STO-11")) func aListInForceBindsEveryoneAndIsShown() throws {
        var list = ListBuilder()
        list.list.keys = [TestKey.release.publicKey.hash]
        try host.apply(list)
        let other = try host.again(roots: [.secondRoot])
        var package = PackageBuilder()
        package.certifiedBy = [.secondRoot]
        try other.mustRefuse(package, .keyRevoked)
        let status = try other.core.administration().status()
        #expect(status.lists.count == 1)
    }

    @Test(.attack("C24"), .rules("REV-12", "REV-14")) func aDigestStopsOneFileAndAFloorAllBelow() throws {
        let opened = try host.open(PackageBuilder(build: 5))
        var list = ListBuilder(sequence: 1)
        list.list.packages = [try #require(Digest(hex: opened.digest))]
        try host.apply(list)
        try host.mustRefuse(PackageBuilder(build: 5), .packageRevoked)
        // Signed again: the same content under another digest.
        var reissued = PackageBuilder(build: 5)
        reissued.signedAt += 1
        #expect(try host.code(reissued) == nil)
        list = ListBuilder(sequence: 2)
        list.list.packages = [SHA256.hash(PackageBuilder(build: 5).sums)]
        try host.apply(list)
        try host.mustRefuse(reissued, .packageRevoked)
        list = ListBuilder(sequence: 3)
        list.list.minimumBuilds = [Self.orders: 7]
        try host.apply(list)
        for build: Int64 in [5, 6] { try host.mustRefuse(PackageBuilder(build: build), .belowMinimumBuild) }
        #expect(try host.code(PackageBuilder(build: 7)) == nil)
    }

    @Test(.attack("C25"), .rules("STO-15", "REV-8")) func whatAListStopsIsSaidBeforeAndAfter() throws {
        try host.open(PackageBuilder(build: 5))
        try host.open(PackageBuilder(build: 1, app: "com.example.invoices"))
        var list = ListBuilder()
        list.list.minimumBuilds = [Self.orders: 6]
        let before = try host.contents
        let rehearsal = try host.core.applyRevocations(list.build(), dryRun: true)
        #expect(rehearsal.stoppedApps == ["com.example.orders"])
        #expect(try host.contents == before)
        #expect(try host.apply(list).stoppedApps == ["com.example.orders"])
    }

    @Test(.attack("C26", "A19"), .rules("POL-2", "POL-4", "POL-16", "PAY-1")) func noPolicyTurnsARefusalIntoARemark()
        throws
    {
        let loosest = try AttackHost { options in
            options.expiry = .atSigningOnly
            options.publisherContinuity = .waivedUnsafely
            options.rebuilding = .allowedUnsafely
            options.listExpiry = .ignoredUnsafely
            options.durability = .processEndUnsafely
        }
        try loosest.open(PackageBuilder(build: 2))
        var package = PackageBuilder(build: 3)
        package.certifiedBy = [.stranger]
        try loosest.mustRefuse(package, .untrustedRoot)
        package = PackageBuilder(build: 3)
        package.signedBy = [.stranger]
        try loosest.mustRefuse(package, .badSignature)
        package = PackageBuilder(build: 3)
        package.damagePayload = { $0[600] ^= 1 }
        try loosest.mustRefuse(package, .payloadCorrupt)
        try loosest.mustRefuse(PackageBuilder(build: 1), .rolledBack)
        var list = ListBuilder()
        list.list.keys = [TestKey.release.publicKey.hash]
        try loosest.apply(list)
        try loosest.mustRefuse(PackageBuilder(build: 3), .keyRevoked)
    }
}
