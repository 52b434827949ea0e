import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Options at the ends of their types: a host's slip is an error or means the nearest sensible value, never a crash.
@Suite("Options")
struct OptionsTests {
    let host: Host
    init() throws { host = try Host() }

    @Test("without a place for a root nothing opens", .rules("LIM-7"), arguments: [0, -1, Int.min])
    func refusesNoRoots(_ limit: Int) async throws {
        #expect(await nshError { _ = try host.trust { $0.limits.pinnedRoots = limit } }?.code == .badRequest)
    }

    @Test("any time to wait", arguments: [Int.min, -1, 0, Int.max]) func takesAnyTimeout(_ seconds: Int) async throws {
        let trust = try host.trust { $0.busyTimeoutSeconds = seconds }
        #expect(try await trust.openPackage(at: try host.package(build: 5)).info.build == 5)
    }

    @Test("any clock") func takesAnyClock() async throws {
        let trust = try host.trust { $0.maximumListAgeSeconds = .max }
        host.clock.withLock { $0 = .max }
        let update = try trust.updateRevocations(host.list(1))
        #expect(update.changed && update.warnings.isEmpty)
        let url = try host.package(build: 5)
        #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == .certificateExpired)
    }

    @Test("a root that could not be written down is not trusted") func pinsNothingWhenItThrows() async throws {
        let other = try host.trust()
        var options = NshTrust.Options()
        options.busyTimeoutSeconds = 0
        let trust = try NshTrust(stateDirectory: host.state, options: options)
        let error = try other.core.store.commit { _ in
            #expect(throws: NshError.self) { try trust.addRoot(TestKey.secondRoot.publicKey.base64) }
        }
        #expect(error?.code == .storeBusy && trust.trustedRoots.isEmpty)
        try trust.addRoot(TestKey.secondRoot.publicKey.base64)
        #expect(trust.trustedRoots.count == 1)
    }
}
