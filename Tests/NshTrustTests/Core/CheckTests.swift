import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import NshTrust

/// The question before each run, answered from memory.
@Suite("Checking an installed package", .rules("POL-23"))
struct CheckTests {
    let host: Host
    let core: TrustCore

    init() throws {
        host = try Host()
        core = try host.trust().core
    }

    /// Opens a build and returns its digest.
    @discardableResult
    private func open(_ build: Int64, _ edit: (inout PackageBuilder) -> Void = { _ in }) throws -> Digest {
        try #require(Digest(hex: try core.open(path: try host.package(build: build, edit).path).digest))
    }

    /// What `check` says: nil for yes.
    private func code(_ digest: Digest, _ core: TrustCore? = nil) -> String? {
        do {
            _ = try (core ?? self.core).check(digest)
            return nil
        } catch {
            return NshError(wrapping: error).code.rawValue
        }
    }

    private func list(_ sequence: Int64, _ edit: (inout RevocationList) -> Void) -> [UInt8] {
        Array(host.list(sequence, edit).utf8)
    }

    /// Waits until an answer may no longer be from before a commit of another process.
    private func settle() { MonotonicTime.sleep(nanoseconds: 50_000_000) }

    @Test("what was opened may start, as often as it likes") func accepts() throws {
        let digest = try open(5)
        for _ in 0..<3 {
            let installed = try core.check(digest).excerpt.installed
            #expect(installed.app.build == 5 && installed.facts.digest == digest)
            #expect(try core.store.read { try $0.installedPackage(digest) } == installed)
        }
    }

    @Test("a digest that was never opened here") func notInstalled() throws {
        let digest = SHA256.hash([1])
        for _ in 0..<3 { #expect(code(digest) == "notInstalled") }
        let real = try PackageBuilder.digest(of: 5)
        #expect(code(real) == "notInstalled")
        #expect(try open(5) == real)
        #expect(code(real) == nil)
    }

    @Test("without a root nothing is decided", .rules("POL-22")) func noRoots() throws {
        let digest = try open(5)
        try core.replaceRoots(with: [])
        #expect(code(digest) == "noTrustedRoots")
    }

    @Test("roots that are trusted from now on count from now on", .rules("POL-23", "POL-24")) func otherRoots() throws {
        let digest = try open(5)
        for _ in 0..<3 {
            #expect(code(digest) == nil)
            try core.replaceRoots(with: [TestKey.secondRoot.publicKey])
            #expect(code(digest) == "untrustedRoot")
            try core.addRoot(TestKey.root.publicKey)
            #expect(code(digest) == nil)
            try core.replaceRoots(with: [])
            #expect(code(digest) == "noTrustedRoots" && code(SHA256.hash([1])) == "noTrustedRoots")
            try core.replaceRoots(with: [TestKey.root.publicKey])
            #expect(code(SHA256.hash([1])) == "notInstalled")
        }
    }

    @Test(
        "each rule is asked again, when this process applies a list and when another does", .rules("POL-24"),
        arguments: [
            "keyRevoked", "certificateRevoked", "packageRevoked", "content", "belowMinimumBuild", "aboveMaximumBuild",
            "rootWithdrawn", "withdrawnByAnother", "revocationsStale",
        ], [true, false])
    func repeatsTheRules(_ what: String, fromOutside: Bool) throws {
        let digest = try open(5)
        let facts = try core.check(digest).excerpt.installed.facts
        let other = fromOutside ? try host.trust().core : core
        if what == "withdrawnByAnother" {
            try other.addRoot(TestKey.secondRoot.publicKey)
            var list = RevocationList(
                issuer: TestKey.secondRoot.publicKey.hash, sequence: 1, issuedAt: PackageBuilder.now)
            list.keys = [TestKey.root.publicKey.hash]
            _ = try other.applyRevocations(
                Envelope.signed(.revocations, list.serialized, by: [.secondRoot]).serialized)
        } else {
            _ = try other.applyRevocations(
                list(1) { list in
                    switch what {
                    case "keyRevoked": list.keys = [facts.certificate.key.hash]
                    case "certificateRevoked": list.certificates = [facts.certificate.serial]
                    case "packageRevoked": list.packages = [digest]
                    case "content": list.packages = [facts.manifest]
                    case "belowMinimumBuild": list.minimumBuilds = [facts.app: 6]
                    case "aboveMaximumBuild": list.maximumBuilds = [facts.app: 4]
                    case "rootWithdrawn": list.revokesIssuer = true
                    default: list.expiresAt = PackageBuilder.now - 1
                    }
                })
        }
        if fromOutside { settle() }
        let expected = ["content": "packageRevoked", "withdrawnByAnother": "rootWithdrawn"][what] ?? what
        for _ in 0..<3 { #expect(code(digest) == expected) }
    }

    @Test("a build that a newer one overtook", .rules("POL-24"), arguments: [true, false])
    func rolledBack(fromOutside: Bool) throws {
        let digest = try open(5)
        #expect(code(digest) == nil)
        let other = fromOutside ? try host.trust().core : core
        let package = try other.open(path: try host.package(build: 6).path)
        if fromOutside { settle() }
        #expect(code(digest) == "rolledBack")
        #expect(code(try #require(Digest(hex: package.digest))) == nil)
    }

    @Test("a floor from an export of another store", .rules("POL-24")) func importedFloor() throws {
        let digest = try open(5)
        #expect(code(digest) == nil)
        var document = try core.administration().export()
        document.builds[0].build = 7
        _ = try core.administration().importBuilds(document)
        #expect(code(digest) == "rolledBack")
    }

    @Test("a root that is no longer trusted, and is again", .rules("POL-24")) func unpinned() throws {
        let digest = try open(5)
        #expect(code(digest) == nil)
        #expect(try core.replaceRoots(with: [TestKey.secondRoot.publicKey]).isEmpty)
        #expect(code(digest) == "untrustedRoot")
        #expect(try core.replaceRoots(with: [TestKey.root.publicKey, TestKey.secondRoot.publicKey]).isEmpty)
        #expect(code(digest) == nil)
    }

    @Test("lists grow stale while nobody writes") func staleByTime() throws {
        _ = try core.applyRevocations(list(1) { $0.expiresAt = PackageBuilder.now + 10 })
        let digest = try open(5)
        #expect(code(digest) == nil)
        host.clock.withLock { $0 += 11 }
        #expect(code(digest) == "revocationsStale")
    }

    @Test("the greatest age of lists, of each trusted root") func staleByAge() throws {
        let strict = try host.trust { $0.maximumListAgeSeconds = 1000 }.core
        _ = try strict.applyRevocations(list(1) { _ in })
        let digest = try open(5)
        #expect(code(digest, strict) == nil)
        try strict.addRoot(TestKey.secondRoot.publicKey)
        #expect(code(digest, strict) == "revocationsStale")
        try strict.replaceRoots(with: [TestKey.root.publicKey])
        #expect(code(digest, strict) == nil)
        host.clock.withLock { $0 += 1100 }
        #expect(code(digest, strict) == "revocationsStale")
    }

    @Test("the host's runtime") func runtime() throws {
        let digest = try open(5) { $0.minimumRuntime = RuntimeVersion("2.1") }
        #expect(code(digest) == nil)
        #expect(code(digest, try host.trust { $0.runtime = "2.0" }.core) == "runtimeTooOld")
    }

    @Test("a certificate that has ended stands for what was accepted under it", .rules("POL-8")) func ended() throws {
        let digest = try open(5)
        host.clock.withLock { $0 = 1_900_000_000 }
        #expect(code(digest) == nil)
    }

    @Test("a tree that was removed", .rules("POL-24")) func removed() throws {
        let digest = try open(5)
        #expect(code(digest) == nil)
        #expect(try core.administration().remove(PackageBuilder.id("com.example.orders")).removed.count == 1)
        #expect(code(digest) == "notInstalled")
        #expect(try open(5) == digest)
        #expect(code(digest) == nil)
    }

    @Test("a root's lists out of force", .rules("POL-24", "STO-12")) func forgotten() throws {
        let digest = try open(5)
        _ = try core.applyRevocations(list(1) { $0.packages = [digest] })
        #expect(code(digest) == "packageRevoked")
        #expect(try core.administration().forgetRoot(TestKey.root.publicKey.hash))
        #expect(code(digest) == nil)
    }

    @Test("another process raises the threshold", .rules("STO-3", "POL-24")) func threshold() throws {
        let digest = try open(5)
        #expect(code(digest) == nil)
        _ = try host.trust { $0.rootThreshold = 2 }
        settle()
        #expect(code(digest) == "storeUnsafe")
    }

    @Test(
        "what only the log gains drops nothing from memory, anything else does", .rules("POL-24"),
        arguments: [true, false])
    func keepsWhatTheLogDoesNotChange(fromOutside: Bool) throws {
        let (digest, late) = (try open(5), try host.package(build: 4).path)
        let other = fromOutside ? try host.trust().core : core
        let excerpts = try #require(core.store as? SQLiteTrustStore).excerpts
        func epoch() -> UInt64 {
            settle()
            #expect(code(digest) == nil)
            return excerpts.epoch.load(ordering: .acquiring)
        }
        let before = epoch()
        for _ in 0..<20 { #expect(throws: NshError.self) { _ = try other.open(path: late) } }
        #expect(epoch() == before)
        _ = try other.applyRevocations(list(1) { _ in })
        let listed = epoch()
        #expect(listed == before + 1)
        _ = try other.open(path: try host.package(build: 1) { $0.app.id = PackageBuilder.id("com.example.other") }.path)
        #expect(epoch() == listed + 1)
    }

    @Test("an answer never outlives another's commit by more than 50 ms, whatever the load", .rules("POL-24"))
    func reflectsOthers() async throws {
        let digest = try open(5)
        let other = try host.trust().core
        let isOver = CancellationFlag()
        let pool = WorkerPool(maximumThreads: 5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Readers keep the answer warm while another instance revokes and forgets.
            for _ in 0..<3 {
                group.addTask {
                    try await pool.runBlocking { _ in while !isOver.isRaised { _ = code(digest) } }
                }
            }
            try await pool.runBlocking { _ in
                for round in 1...20 {
                    _ = try other.applyRevocations(list(Int64(round)) { $0.packages = [digest] })
                    settle()
                    #expect(code(digest) == "packageRevoked")
                    _ = try other.administration().forgetRoot(TestKey.root.publicKey.hash)
                    settle()
                    #expect(code(digest) == nil)
                }
                isOver.raise()
            }
            try await group.waitForAll()
        }
    }

    @Test("while another connection keeps the store locked, what is known counts for 50 ms and no longer")
    func waitsForALock() throws {
        let digest = try open(5)
        let hasty = try host.trust { $0.busyTimeoutSeconds = 0 }.core
        #expect(code(digest, hasty) == nil)
        let locking = try SQLiteConnection(path: host.state.path + "/trust.sqlite", mode: .readWrite)
        try locking.run("BEGIN EXCLUSIVE")
        #expect(code(digest, hasty) == nil)
        settle()
        #expect(code(digest, hasty) == "storeBusy")
        try locking.run("COMMIT")
        #expect(code(digest, hasty) == nil)
    }
}

extension PackageBuilder {
    /// The digest of the package that a builder makes for a build.
    static func digest(of build: Int64) throws -> Digest {
        var builder = PackageBuilder()
        builder.app.build = build
        return try PackageBuilder.chain(of: builder.build()).digest
    }
}
