import NshTrust
import TestSupport
import Testing

/// Clocks that are unset, set back or set forward, and windows at their ends.
@Suite struct ClockAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    private func set(_ seconds: Int64) { host.clock.withLock { $0 = seconds } }

    @Test(.attack("B6"), .rules("POL-8")) func aKeyStolenAfterItsEndDoesNotBackdate() throws {
        set(1_795_996_801)
        var package = PackageBuilder()
        package.signedAt = 1_795_996_000
        try host.mustRefuse(package, .certificateExpired)
        package.signedAt = 1_795_996_801
        try host.mustRefuse(package, .signedOutsideWindow)
    }

    @Test(.attack("C10"), .rules("POL-15")) func aClockSetBackRevivesNothing() throws {
        var package = PackageBuilder(build: 7)
        package.certificate.notAfter = PackageBuilder.now + 10
        package.signedAt = PackageBuilder.now
        set(PackageBuilder.now + 11)
        try host.mustRefuse(package, .certificateExpired)
        var list = ListBuilder()
        list.list.issuedAt = PackageBuilder.now + 11
        try host.apply(list)
        for clock in [PackageBuilder.now, 1, 0, -1, Int64.min] {
            set(clock)
            try host.mustRefuse(package, .certificateExpired)
            #expect(try host.again().code(package) == .certificateExpired, "after a restart")
        }
    }

    @Test(.attack("C10"), .rules("POL-15")) func aListThatExpiredStaysExpired() throws {
        var list = ListBuilder()
        list.list.expiresAt = PackageBuilder.now + 5
        try host.apply(list)
        var later = ListBuilder(sequence: 1, by: .secondRoot)
        later.list.issuedAt = PackageBuilder.now + 6
        try host.core.addRoot(TestKey.secondRoot.publicKey)
        set(PackageBuilder.now + 6)
        try host.apply(later)
        set(PackageBuilder.now)
        try host.mustRefuse(PackageBuilder(), .revocationsStale)
    }

    @Test(.attack("C11"), .rules("POL-7", "POL-15"), arguments: [0, 1, -1, Int64.min])
    func anUnsetClockHasItsOwnVerdictAndMovesNoFloor(_ clock: Int64) throws {
        set(clock)
        try host.mustRefuse(PackageBuilder(), .signedInFuture)
        #expect(try host.apply(ListBuilder()).changed, "a list takes trust away, so it is applied")
        try host.mustRefuse(PackageBuilder(), .signedInFuture)
        set(PackageBuilder.now)
        #expect(try host.code(PackageBuilder()) == nil)
    }

    @Test(.attack("C11"), .rules("POL-15"), arguments: [Int64.max, Int64.max - 1, 1 << 53])
    func aClockFarAheadMovesNoFloor(_ clock: Int64) throws {
        set(clock)
        try host.mustRefuse(PackageBuilder(), .certificateExpired)
        try host.apply(ListBuilder())
        set(PackageBuilder.now)
        #expect(try host.code(PackageBuilder()) == nil)
    }

    @Test(
        .attack("C14"), .rules("POL-7", "POL-8", "CRT-2"),
        arguments: [
            (-1, .signedOutsideWindow), (0, nil), (1, nil), (99, nil), (100, nil), (101, .signedOutsideWindow),
        ] as [(Int64, NshError.Code?)])
    func bothEndsOfTheWindowBelongToIt(_ offset: Int64, _ expected: NshError.Code?) throws {
        var package = PackageBuilder()
        package.certificate.notBefore = PackageBuilder.now
        package.certificate.notAfter = PackageBuilder.now + 100
        package.signedAt = PackageBuilder.now + offset
        set(PackageBuilder.now + 100)
        if let expected { try host.mustRefuse(package, expected) } else { #expect(try host.code(package) == nil) }
    }

    @Test(.attack("C14"), .rules("CRT-2", "POL-8")) func aWindowOfOneSecondIsOneAndABackwardOneIsNone() throws {
        var package = PackageBuilder()
        package.certificate.notBefore = PackageBuilder.now
        package.certificate.notAfter = PackageBuilder.now
        package.signedAt = PackageBuilder.now
        set(PackageBuilder.now + 1)
        try host.mustRefuse(package, .certificateExpired)
        set(PackageBuilder.now)
        #expect(try host.code(package) == nil)
        package.certificate.notBefore += 1
        try host.mustRefuse(package, .malformed)
    }

    @Test(
        .attack("C27"), .rules("PKG-6", "JSN-11"),
        arguments: ["\"signedAt\":null", "\"signedAt\":\"1764470000\"", "\"signedat\":1764470000", nil])
    func aHeaderWithoutATimeOfSigningIsMalformed(_ member: String?) throws {
        var package = PackageBuilder()
        package.editHeaderBytes = {
            $0.replace(member == nil ? ",\"signedAt\":1764470000" : "\"signedAt\":1764470000", with: member ?? "")
        }
        try host.mustRefuse(package, .malformed)
    }

    @Test(.attack("M17"), .rules("POL-8", "POL-19", "REV-18")) func whatWasVerifiedOnceIsJudgedByTheClockAgain() throws
    {
        var package = PackageBuilder()
        package.certificate.notAfter = PackageBuilder.now + 10
        let file = try host.write(package.build())
        _ = try host.core.verify(path: file)
        set(PackageBuilder.now + 11)
        try host.mustRefuse(package, .certificateExpired)
        set(PackageBuilder.now)
        var list = ListBuilder()
        list.list.expiresAt = PackageBuilder.now + 5
        try host.apply(list)
        let opened = try host.open(package)
        set(PackageBuilder.now + 6)
        #expect(AttackHost.code { try opened.take() } == .revocationsStale)
    }
}
