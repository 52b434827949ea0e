import NshTrust
import TestSupport
import Testing

/// Old builds and lists that come back, numbers that run to their end, floors that are lost.
@Suite struct RollbackAttacks {
    private static let orders = PackageBuilder.id("com.example.orders")
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    @Test(.attack("C1"), .rules("POL-10", "REV-6")) func everyKindOfObjectHasAFloor() throws {
        try host.open(PackageBuilder(build: 7))
        try host.mustRefuse(PackageBuilder(build: 6), .rolledBack)
        try host.apply(ListBuilder(sequence: 7))
        try host.mustRefuse(list: ListBuilder(sequence: 6), .revocationsOlder)
        // Certificates have no order: an older one is put out of use by its serial.
        var revoking = ListBuilder(sequence: 8)
        revoking.list.certificates = [PackageBuilder.serial(7)]
        try host.apply(revoking)
        try host.mustRefuse(PackageBuilder(build: 8), .certificateRevoked)
        var renewed = PackageBuilder(build: 8)
        renewed.certificate.serial = PackageBuilder.serial(8)
        #expect(try host.code(renewed) == nil)
    }

    @Test(.attack("C2", "C5"), .rules("REV-7", "POL-10")) func theSameNumberWithOtherContentIsAConflict() throws {
        try host.apply(ListBuilder(sequence: 5))
        var other = ListBuilder(sequence: 5)
        other.list.keys = [TestKey.release.publicKey.hash]
        try host.mustRefuse(list: other, .revocationsConflict)
        try host.open(PackageBuilder(build: 5))
        var rebuilt = PackageBuilder(build: 5)
        rebuilt.files["bundle.js"] = Array("console.log('other')\n".utf8)
        try host.mustRefuse(rebuilt, .buildConflict)
        #expect(try host.core.store.read { try $0.listsInForce() }.map(\.list.sequence) == [5])
    }

    @Test(.attack("C5"), .rules("POL-10", "POL-20", "REV-7")) func theSameAgainChangesNothing() throws {
        try host.open(PackageBuilder(build: 5))
        try host.apply(ListBuilder(sequence: 5))
        let before = try host.contents
        try host.open(PackageBuilder(build: 5))
        #expect(try host.apply(ListBuilder(sequence: 5)).changed == false)
        #expect(try host.contents == before)
    }

    @Test(
        .attack("C3"), .rules("JSN-7", "PKG-9", "REV-4"),
        arguments: ["9007199254740992", "9223372036854775807", "18446744073709551615"])
    func noCounterGoesBeyondWhatOneMoreCanFollow(_ number: String) throws {
        var package = PackageBuilder()
        package.editHeaderBytes = { $0.replace("\"build\":42", with: "\"build\":\(number)") }
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editBytes = { $0.replace("\"sequence\":1", with: "\"sequence\":\(number)") }
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(.attack("C3"), .rules("REV-15", "REV-10", "REV-17")) func aCounterDrivenToItsEndCanBeTakenBack() throws {
        let last: Int64 = 9_007_199_254_740_991
        try host.open(PackageBuilder(build: last))
        try host.mustRefuse(PackageBuilder(build: 43), .rolledBack)
        var recovery = ListBuilder(sequence: last)
        recovery.list.maximumBuilds = [Self.orders: 43]
        try host.apply(recovery)
        try host.mustRefuse(PackageBuilder(build: last), .aboveMaximumBuild)
        #expect(try host.code(PackageBuilder(build: 43)) == nil)
        // No number follows the last one; a root whose lists stand at the end withdraws itself, whatever the number.
        try host.mustRefuse(list: ListBuilder(sequence: last - 1), .revocationsOlder)
        var withdrawal = ListBuilder(sequence: 1)
        withdrawal.list.revokesIssuer = true
        #expect(try host.apply(withdrawal).changed)
        try host.mustRefuse(PackageBuilder(build: 44), .rootWithdrawn)
    }

    @Test(
        .attack("C6", "E4"), .rules("JSN-6", "JSN-7", "PKG-9"),
        arguments: [
            "\"65536\"", "007", "\"1.2.3\"", "1.0", "1e3", "1E400", "-0", "-1", "+1", "0x10", "１２", "4 2", "42.",
            String(repeating: "9", count: 300), "9007199254740993", "null", "true", "NaN", "Infinity",
        ])
    func aBuildHasOneSpelling(_ number: String) throws {
        var package = PackageBuilder()
        package.editHeaderBytes = { $0.replace("\"build\":42", with: "\"build\":\(number)") }
        try host.mustRefuse(package, .malformed)
        package.editHeaderBytes = { $0.replace("\"signedAt\":1764470000", with: "\"signedAt\":\(number)") }
        try host.mustRefuse(package, .malformed)
        package.editHeaderBytes = nil
        package.editCertificateBytes = { $0.replace("\"notAfter\":1795996800", with: "\"notAfter\":\(number)") }
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editBytes = { $0.replace("\"sequence\":1", with: "\"sequence\":\(number)") }
        try host.mustRefuse(list: list, .malformed)
        list.editBytes = { $0.replace("\"minimumBuilds\":{}", with: "\"minimumBuilds\":{\"com.example.a\":\(number)}") }
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(
        .attack("C6"), .rules("PKG-10"),
        arguments: [
            "", ".", "1.", ".1", "1..2", "1.2.3.4.5", "1.x", "1.-2", "1 .2", "1234567890", "１.２", "1e3",
            String(repeating: "9", count: 300),
        ])
    func aRuntimeIsFourNumbersAtMost(_ version: String) throws {
        var package = PackageBuilder()
        package.minimumRuntime = RuntimeVersion("1.2.3")
        package.editHeaderBytes = { $0.replace("\"1.2.3\"", with: "\"\(version)\"") }
        try host.mustRefuse(package, .malformed)
    }

    @Test(
        .attack("C6"), .rules("POL-12", "PKG-10"), arguments: [("2.10", "2.9"), ("2.9.1", "2.9"), ("3", "2.999999999")])
    func runtimesAreComparedNumberByNumber(_ needed: String, _ own: String) throws {
        var package = PackageBuilder()
        package.minimumRuntime = RuntimeVersion(needed)
        let older = try AttackHost { $0.runtime = own }
        try older.mustRefuse(package, .runtimeTooOld)
        #expect(try AttackHost { $0.runtime = needed }.code(package) == nil)
    }

    @Test(.attack("C7", "K8"), .rules("STO-4")) func aFloorDoesNotGoWithItsFiles() throws {
        try host.open(PackageBuilder(build: 7))
        // The app's trees: the floor stays.
        try host.core.administration().remove(Self.orders)
        try host.mustRefuse(PackageBuilder(build: 6), .rolledBack)
        try host.open(PackageBuilder(build: 7))
        // The database: what it leaves behind is no fresh store.
        for name in ["trust.sqlite", "trust.sqlite-journal"] { host.directory.remove(ifPresent: "state/" + name) }
        let before = try host.contents
        #expect(AttackHost.code { try host.again() } == .storeCorrupt)
        #expect(try host.contents == before)
    }

    @Test(.attack("C8", "B14"), .rules("POL-10", "POL-6")) func theFloorIsTheAppsWhoeverCertifiedTheKey() throws {
        try host.open(PackageBuilder(build: 7))
        let other = TestKey(seed: 9)
        var package = PackageBuilder(build: 6)
        package.certificate.key = other.publicKey
        package.certificate.serial = PackageBuilder.serial(9)
        package.certificate.apps = [.exactly(Self.orders)]
        package.signedBy = [other]
        try host.mustRefuse(package, .rolledBack)
        package.app.build = 7
        package.files["bundle.js"] = [0x3B]
        try host.mustRefuse(package, .buildConflict)
        package.app.build = 8
        #expect(try host.code(package) == nil)
    }

    @Test(.attack("B14"), .rules("POL-3", "REV-13"), arguments: [0, 1])
    func overlappingCertificatesAreJudgedEachForItself(_ revokedFirst: Int) throws {
        let keys = [TestKey(seed: 8), TestKey(seed: 9)]
        let packages = keys.enumerated().map { index, key in
            var package = PackageBuilder(build: Int64(10 + index))
            package.certificate.apps = index == 0 ? [.any] : [.below("com.example."), .exactly(Self.orders)]
            package.certificate.serial = PackageBuilder.serial(UInt8(20 + index))
            package.certificate.key = key.publicKey
            package.signedBy = [key]
            return package
        }
        var list = ListBuilder()
        list.list.certificates = [PackageBuilder.serial(20)]
        if revokedFirst == 1 {
            try host.apply(list)
        } else {
            #expect(try host.code(packages[0]) == nil)
            try host.apply(list)
        }
        try host.mustRefuse(packages[0], .certificateRevoked)
        #expect(try host.code(packages[1]) == nil)
        try host.mustRefuse(packages[0], .certificateRevoked)
    }

    @Test(.attack("K13"), .rules("STO-2", "REV-8", "POL-10")) func aListThatComesBackRaisesWhatARestoredCopyForgot()
        throws
    {
        try host.open(PackageBuilder(build: 5))
        let copy = try AttackHost()
        try copy.open(PackageBuilder(build: 5))
        // The copy is older: it takes build 6 again, as the documents say, until a list with a floor is there.
        try host.open(PackageBuilder(build: 7))
        #expect(try copy.code(PackageBuilder(build: 6)) == nil)
        var list = ListBuilder()
        list.list.minimumBuilds = [Self.orders: 7]
        let update = try copy.apply(list)
        #expect(update.stoppedApps == ["com.example.orders"])
        try copy.mustRefuse(PackageBuilder(build: 6), .belowMinimumBuild)
    }
}
