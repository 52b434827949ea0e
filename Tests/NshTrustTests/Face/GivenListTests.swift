import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Lists that a caller of `open` brings along and the store has not applied.
@Suite("Opening with given lists")
struct GivenListTests {
    let host: Host
    init() throws { host = try Host() }

    private func open(_ trust: NshTrust, build: Int64, _ list: String) throws -> NshPackage {
        try trust.core.open(
            path: try host.package(build: build).path,
            lists: [Verification.GivenList(name: "given.json", bytes: Array(list.utf8))])
    }

    @Test("a given list answers for its root’s freshness", .rules("POL-18", "REV-19", "REV-21"))
    func countsForFreshness() async throws {
        let trust = try host.trust { $0.maximumListAgeSeconds = 3600 }
        let url = try host.package(build: 5)
        #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == .revocationsStale)
        #expect(try open(trust, build: 5, host.list(1)).info.build == 5)
        #expect(try trust.revocations.isEmpty)
    }

    @Test("a given list that is expired makes stale", .rules("REV-18", "REV-21")) func countsWhenExpired() async throws
    {
        let trust = try host.trust()
        let list = host.list(1) { $0.expiresAt = PackageBuilder.now - 1 }
        #expect(await nshError { _ = try open(trust, build: 5, list) }?.code == .revocationsStale)
    }

    @Test("what a list gives back is not recorded before the list is applied", .rules("REV-15", "POL-10", "POL-21"))
    func lowersNothing() async throws {
        let trust = try host.trust()
        let app = PackageBuilder.id("com.example.orders")
        _ = try await trust.openPackage(at: try host.package(build: 6))
        let list = host.list(1) { $0.maximumBuilds = [app: 5] }
        #expect(await nshError { _ = try open(trust, build: 5, list) }?.code == .rolledBack)
        #expect(try trust.acceptedBuild(forApp: app.text)?.build == 6 && host.staged.isEmpty)
        try trust.updateRevocations(list)
        #expect(try open(trust, build: 5, list).info.build == 5)
    }

    @Test("a given list replaces none that is in force", .rules("REV-8")) func revokesFurther() async throws {
        let trust = try host.trust()
        try trust.updateRevocations(host.list(1) { $0.keys = [TestKey.release.publicKey.hash] })
        #expect(await nshError { _ = try open(trust, build: 5, host.list(2)) }?.code == .keyRevoked)
        #expect(try trust.acceptedBuilds.isEmpty)
    }
}
