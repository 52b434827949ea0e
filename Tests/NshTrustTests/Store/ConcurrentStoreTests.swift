import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// Threads, each with a store of its own on one directory or all with the same one; run with and without ThreadSanitizer.
@Suite(.rules("STO-8")) struct ConcurrentStoreTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    /// Runs the body on so many threads at once and rethrows the first error.
    func threads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        let pool = WorkerPool(maximumThreads: count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await pool.runBlocking { _ in try body(number) } } }
            try await group.waitForAll()
        }
    }

    private func accept(_ package: InstalledPackage, _ certificate: [UInt8], in store: SQLiteTrustStore) throws -> Bool
    {
        try store.commit { transaction in
            let accepted = try transaction.acceptedBuild(of: package.facts.app)?.build ?? -1
            guard package.facts.build >= accepted else { return false }
            try transaction.record(package, certificate: certificate, event: StoreFixture.event(.opened))
            return true
        }
    }

    @Test func allProcessesThatMakeAStoreAtOnceSucceed() async throws {
        let path = directory.path("state")
        for round in 0..<5 {
            try await threads(8) { _ in
                let store = try SQLiteTrustStore.open(in: try StateDirectory.open("\(path)-\(round)"))
                try store.commit { _ = try $0.acceptedBuildCount() }
            }
        }
    }

    @Test(.rules("STO-14")) func cleanUpNeverStopsWhoIsMakingATree() async throws {
        let state = try StateDirectory.open(directory.path("state"))
        let store = try SQLiteTrustStore.open(in: state)
        try await threads(4) { number in
            let staging = StagingArea(state)
            if number == 0 {
                try store.commit { for _ in 0..<4000 { _ = try staging.removeAbandoned(in: $0) } }
            } else {
                for _ in 0..<1000 {
                    let tree = try staging.makeTree()
                    #expect(try state.directory(StateDirectory.stagingName).status(of: tree.name) != nil)
                    try tree.discard()
                }
            }
        }
        try store.commit { _ = try StagingArea(state).removeAbandoned(in: $0) }
        #expect(directory.names("state/staging").isEmpty)
    }

    @Test(.attack("K1", "K2", "K16"), arguments: [true, false]) func risingBuildsAtOnceLoseNoneAndNeverFall(
        sharesOneStore: Bool
    ) async throws {
        let path = directory.path("state")
        let chains = try (1...40).map { try StoreFixture.chain(build: $0) }
        let shared = try SQLiteTrustStore.open(in: try StateDirectory.open(path))
        try await threads(8) { number in
            let store = sharesOneStore ? shared : try SQLiteTrustStore.open(in: try StateDirectory.open(path))
            for index in stride(from: number, to: chains.count, by: 8) {
                let chain = chains[index]
                _ = try accept(StoreFixture.installed(chain), chain.certificate.envelope, in: store)
                try store.read { snapshot in
                    let accepted = try snapshot.acceptedBuild(of: chain.header.app.id)?.build ?? 0
                    #expect(accepted >= chain.header.app.build)
                }
            }
        }
        try shared.read { (snapshot) throws in
            #expect(try snapshot.acceptedBuilds(after: nil, limit: 9).map(\.build) == [40])
            let installed = try snapshot.installedPackages(after: nil, apps: 1000).map(\.facts.build)
            #expect(try snapshot.events(after: 0, limit: 99).events.count == installed.count)
            #expect(installed.last == 40)
        }
        #expect(try shared.problems() == [])
    }

    @Test(.attack("K16")) func readersSeeWholeListsWhileListsAreReplaced() async throws {
        let path = directory.path("state")
        let fixture = try StoreFixture(directory)
        let root = TestKey.root.publicKey
        let envelopes = (1...12).map { (sequence: Int64) -> [UInt8] in
            var list = RevocationList(issuer: root.hash, sequence: sequence, issuedAt: StoreFixture.now)
            list.keys = SortedSet((0..<50).map { SHA256.hash([UInt8($0), UInt8(sequence)]) })
            return Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
        }
        _ = try fixture.apply(envelopes[0])
        try await threads(4) { number in
            if number == 0 {
                for envelope in envelopes.dropFirst() { _ = try StoreFixture(directory).apply(envelope) }
                return
            }
            let store = try SQLiteTrustStore.open(in: try StateDirectory.open(path))
            for _ in 0..<30 {
                try store.read { snapshot in
                    let sequence = try snapshot.listsInForce().first?.list.sequence ?? 0
                    for index in [0, 25, 49] as [UInt8] {
                        let found = try snapshot.revocations(ofKey: SHA256.hash([index, UInt8(sequence)]))
                        #expect(found.map(\.sequence) == [sequence])
                    }
                }
            }
        }
        #expect(try fixture.store.read { try $0.listsInForce().map(\.list.sequence) } == [12])
    }

    @Test(.attack("K16")) func installingPruningAndCleaningUpAtOnceLeavesWhatIsInUse() async throws {
        _ = try StoreFixture(directory)
        try await threads(6) { number in
            let fixture = try StoreFixture(directory)
            for round in 0..<4 {
                switch number {
                case 0:
                    _ = try fixture.trees.prune(.olderThanNewest(1), in: fixture.store) { _ in
                        StoreFixture.event(.treeRemoved)
                    }
                case 1: _ = try fixture.staging.cleanUp(in: fixture.store)
                default:
                    // An app for each thread, so that every build is the highest.
                    let app = "com.example.app\(number)"
                    let (package, lease) = try fixture.install(build: Int64(round), app: app)
                    #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
                    withExtendedLifetime(lease) {}
                }
            }
        }
        let fixture = try StoreFixture(directory)
        #expect(directory.names("state/staging").isEmpty && !directory.exists("state/set-aside/com.example.app2"))
        for package in try fixture.store.read({ try $0.installedPackages(after: nil, apps: 1000) }) {
            #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
        }
        #expect(try fixture.store.problems() == [])
    }

    @Test func sameDigestInstalledByManyAtOnceIsOneTree() async throws {
        _ = try StoreFixture(directory)
        try await threads(6) { _ in
            let (package, lease) = try StoreFixture(directory).install(build: 6)
            let trees = Trees(try StateDirectory.open(directory.path("state")))
            #expect(try trees.isWhole(package.tree, manifest: package.facts.manifest))
            withExtendedLifetime(lease) {}
        }
        #expect(directory.names("state/apps/com.example.orders").count == 1)
        #expect(directory.names("state/staging").isEmpty && !directory.exists("state/set-aside"))
    }
}
