import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// Taking packages, revoking them, asking the store.
@Suite("Running and revoking")
struct RunAndRevokeTests {
    let host: Host
    init() throws { host = try Host() }

    @Test("a package runs once", .rules("POL-19")) func runsOnce() async throws {
        let trust = try host.trust()
        let package = try await trust.openPackage(at: try host.package(build: 5))
        let run = try package.take()
        #expect(run.info.build == 5 && run.directory == package.directory)
        #expect(await nshError { _ = try package.take() }?.code == .alreadyRun)
    }

    @Test("of many takers one gets it", .rules("POL-19")) func oneTakerWins() async throws {
        let trust = try host.trust()
        let package = try await trust.openPackage(at: try host.package(build: 5))
        let won = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { (try? package.take()) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(won == 1)
    }

    @Test(
        "a revocation between opening and taking", .rules("POL-19", "REV-9", "REV-12", "REV-13", "REV-14", "REV-10"),
        arguments: [
            ("key", NshError.Code.keyRevoked), ("certificate", .certificateRevoked), ("package", .packageRevoked),
            ("content", .packageRevoked), ("build", .belowMinimumBuild), ("root", .rootWithdrawn),
            ("expiry", .revocationsStale),
        ]) func refusesToRun(_ what: String, _ code: NshError.Code) async throws
    {
        let trust = try host.trust()
        let package = try await trust.openPackage(at: try host.package(build: 5))
        let update = try trust.updateRevocations(
            host.list(1) { list in
                switch what {
                case "key": list.keys = [TestKey.release.publicKey.hash]
                case "certificate": list.certificates = [PackageBuilder.serial(7)]
                case "package": list.packages = [Digest(hex: package.digest)!]
                case "content": list.packages = [Digest(hex: package.report.manifest!)!]
                case "build": list.minimumBuilds = [PackageBuilder.id("com.example.orders"): 6]
                case "root": list.revokesIssuer = true
                default: list.expiresAt = PackageBuilder.now - 1
                }
            })
        #expect(update.changed && update.stoppedApps == ["com.example.orders"])
        #expect(await nshError { _ = try package.take() }?.code == code)
        // What names one build or its content says nothing of the next one.
        let url = try host.package(build: 6)
        if ["package", "content", "build"].contains(what) {
            #expect(try await trust.openPackage(at: url).info.build == 6)
        } else {
            #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == code)
        }
    }

    @Test("a list in force binds instances that never pinned its issuer", .rules("REV-8", "STO-11"))
    func outlivesItsRoot() async throws {
        let trust = try host.trust()
        try trust.updateRevocations(
            host.list(1) {
                $0.revokesIssuer = true; $0.keys = [TestKey.release.publicKey.hash]
            })
        let other = try NshTrust(stateDirectory: host.state)
        #expect(await nshError { try other.addRoot(TestKey.root.publicKey.base64) }?.code == .rootWithdrawn)
        try other.addRoot(TestKey.secondRoot.publicKey.base64)
        let url = try host.package(build: 5) { $0.certifiedBy = [.secondRoot] }
        #expect(await nshError { _ = try await other.openPackage(at: url) }?.code == .keyRevoked)
    }

    @Test("the same list again, an older one, another of the same number", .rules("REV-6", "REV-7", "STO-15"))
    func judgesSuccession() async throws {
        let trust = try host.trust()
        #expect(try trust.updateRevocations(host.list(3)).changed)
        #expect(try !trust.updateRevocations(host.list(3)).changed)
        #expect(await nshError { try trust.updateRevocations(host.list(2)) }?.code == .revocationsOlder)
        let other = host.list(3) { $0.keys = [TestKey.release.publicKey.hash] }
        #expect(await nshError { try trust.updateRevocations(other) }?.code == .revocationsConflict)
        let lists = try trust.revocations
        #expect(lists.count == 1 && lists[0].sequence == 3 && lists[0].entryCounts["keys"] ?? 0 == 0)
        _ = try await trust.openPackage(at: try host.package(build: 5))
    }

    @Test("giving trust back needs the threshold, and says so", .rules("REV-17"))
    func reportsIgnoredGrants() throws {
        let trust = try host.trust { $0.rootThreshold = 2 }
        let update = try trust.updateRevocations(
            host.list(1) { $0.maximumBuilds = [PackageBuilder.id("com.example.orders"): 3] })
        #expect(update.changed && update.warnings.count == 1)
        #expect(try trust.revocations[0].entryCounts["maximumBuilds"] ?? 0 == 0)
    }

    @Test("the store remembers the greatest threshold", .rules("STO-3", "POL-16"), arguments: [0, 1, 2, 17])
    func refusesLowerThresholds(_ threshold: Int) async throws {
        _ = try host.trust { $0.rootThreshold = 2 }
        let expected: NshError.Code? =
            switch threshold {
            case 0, 17: .badRequest
            case 1: .storeUnsafe
            default: nil
            }
        let error = try? host.trust { $0.rootThreshold = threshold }
        #expect((error == nil) == (expected != nil))
        if let expected {
            #expect(await nshError { _ = try host.trust { $0.rootThreshold = threshold } }?.code == expected)
        }
    }

    @Test("at most sixteen roots", .rules("LIM-7")) func limitsRoots() async throws {
        let trust = try host.trust()
        for seed in UInt8(10)..<25 { try trust.addRoot(TestKey(seed: seed).publicKey.base64) }
        #expect(trust.trustedRoots.count == 16)
        try trust.addRoot(TestKey.root.publicKey.base64 + "\n")
        #expect(await nshError { try trust.addRoot(TestKey(seed: 99).publicKey.base64) }?.code == .limitExceeded)
    }

    @Test(
        "texts that are no root key", .rules("KEY-1", "KEY-2"),
        arguments: [
            "", "AAAA", TestKey.root.publicKey.base64 + "\n\n", " " + TestKey.root.publicKey.base64,
            Base64.encode([UInt8](repeating: 0, count: 32)), Base64.encode([1] + [UInt8](repeating: 0, count: 31)),
            Base64.encode([UInt8](repeating: 0xFF, count: 32)),
        ]) func refusesKeys(_ text: String) async throws
    {
        let trust = try NshTrust(stateDirectory: host.state)
        #expect(await nshError { try trust.addRoot(text) }?.code == .malformed)
        #expect(trust.trustedRoots.isEmpty)
    }

    @Test("queries") func answersQueries() async throws {
        let trust = try host.trust()
        #expect(try trust.acceptedBuild(forApp: "com.example.orders") == nil && trust.acceptedBuilds.isEmpty)
        _ = try await trust.openPackage(at: try host.package(build: 5))
        let accepted = try #require(try trust.acceptedBuild(forApp: "com.example.orders"))
        #expect(accepted.build == 5 && accepted.publisher == "Example Ltd" && accepted.acceptedAt == PackageBuilder.now)
        #expect(try trust.acceptedBuilds == [accepted])
        #expect(await nshError { _ = try trust.acceptedBuild(forApp: "orders") }?.code == .badRequest)
        let events = try trust.events()
        #expect(events.map(\.kind) == ["rootAdded", "opened"])
        #expect(try trust.events(after: events[0].sequence).map(\.kind) == ["opened"])
        #expect(events[1].uid == getuid() && events[1].pid == getpid() && events[1].digest == accepted.digest)
    }

    @Test("followers hear of what another instance does") func follows() async throws {
        let trust = try host.trust()
        let other = try host.trust()
        let last = try trust.events().last?.sequence ?? 0
        async let heard: [String] = {
            var kinds: [String] = []
            for try await event in trust.events(following: last) {
                kinds.append(event.kind)
                if kinds.count == 3 { break }
            }
            return kinds
        }()
        _ = try await other.openPackage(at: try host.package(build: 5))
        _ = await nshError { _ = try await other.openPackage(at: try host.package(build: 4)) }
        try other.updateRevocations(host.list(1))
        #expect(try await heard == ["opened", "refused", "revocations"])
    }

    @Test("pruning keeps what is used and what is newest", .rules("STO-13")) func prunes() async throws {
        let trust = try host.trust()
        var run: NshRun? = try await trust.openPackage(at: try host.package(build: 5)).take()
        let older = try #require(run?.directory.path)
        let middle = try await trust.openPackage(at: try host.package(build: 6)).directory.path
        let newest = try await trust.openPackage(at: try host.package(build: 7)).directory.path
        #expect(try trust.prune().map(\.path) == [middle])
        func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
        #expect(exists(older) && !exists(middle) && exists(newest))
        #expect(run != nil)
        run = nil
        #expect(try trust.prune().map(\.path) == [older])
        #expect(!exists(older) && exists(newest))
        #expect(try trust.acceptedBuild(forApp: "com.example.orders")?.build == 7)
    }

    @Test("a package opened again after its tree was pruned", .rules("POL-20", "POL-8")) func reopensPruned()
        async throws
    {
        let trust = try host.trust()
        let url = try host.package(build: 5)
        var package: NshPackage? = try await trust.openPackage(at: url)
        let directory = try #require(package?.directory.path)
        package = nil
        _ = try trust.core.administration().remove(PackageBuilder.id("com.example.orders"))
        #expect(!FileManager.default.fileExists(atPath: directory))
        // Its certificate has ended since; the store has accepted the package before.
        host.clock.withLock { $0 = 1_900_000_000 }
        package = try await trust.openPackage(at: url)
        #expect(package?.info.build == 5 && FileManager.default.fileExists(atPath: directory))
        let new = await nshError { _ = try await trust.openPackage(at: try host.package(build: 6)) }
        #expect(new?.code == .certificateExpired)
    }
}
