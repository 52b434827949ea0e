import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite struct TreesTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private var directory: TemporaryDirectory { fixture.directory }
    private struct Stop: Error {}

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path(path)))
    }

    private func prune(_ selection: Trees.Selection = .olderThanNewest(1), isRehearsal: Bool = false) throws
        -> Trees.Pruning
    {
        try fixture.trees.prune(selection, in: fixture.store, isRehearsal: isRehearsal) { _ in
            StoreFixture.event(.treeRemoved)
        }
    }

    @Test(.rules("SUM-16")) func installsTreeThatHoldsNothingButSignedFiles() throws {
        let (package, _) = try fixture.install(build: 6)
        #expect(package.tree.hasPrefix("apps/com.example.orders/6-"))
        #expect(directory.names("state/\(package.tree)") == ["SHA256SUMS", "app.json", "assets", "bundle.js"])
        #expect(directory.names("state/staging").isEmpty)
        #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
        var status = stat()
        #expect(stat(directory.path("state/\(package.tree)"), &status) == 0 && status.st_mode & 0o777 == 0o755)
        #expect(try fixture.state.absolutePath(of: package.tree).hasSuffix("/state/\(package.tree)"))
    }

    @Test(.rules("POL-20"), arguments: ["remove", "change", "link", "directory"]) func tellsWhenTreeIsNotWhole(
        how: String
    ) throws {
        let (package, _) = try fixture.install(build: 6)
        let sums = directory.path("state/\(package.tree)/SHA256SUMS")
        #expect(unlink(sums) == 0)
        switch how {
        case "change": try write("changed", to: "state/\(package.tree)/SHA256SUMS")
        case "link": #expect(symlink("/etc/hostname", sums) == 0)
        case "directory": #expect(mkdir(sums, 0o755) == 0)
        default: break
        }
        #expect(try !fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
    }

    @Test func secondInstallationOfAWholeTreeKeepsTheFirst() throws {
        let (package, lease) = try fixture.install(build: 6)
        try write("mark", to: "state/\(package.tree)/mark")
        _ = try fixture.install(build: 6)
        #expect(directory.exists("state/\(package.tree)/mark"))
        #expect(directory.names("state/staging").isEmpty)
        withExtendedLifetime(lease) {}
    }

    @Test func damagedTreeIsReplacedAndGone() throws {
        let package = try fixture.install(build: 6).package
        try write("changed", to: "state/\(package.tree)/SHA256SUMS")
        _ = try fixture.install(build: 6)
        #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
        #expect(!directory.exists("state/set-aside") && directory.names("state/staging").isEmpty)
    }

    @Test func damagedTreeInUseIsSetAside() throws {
        let (package, lease) = try fixture.install(build: 6)
        try write("changed", to: "state/\(package.tree)/SHA256SUMS")
        _ = try fixture.install(build: 6)
        #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
        #expect(directory.names("state/set-aside/com.example.orders").count == 1)
        withExtendedLifetime(lease) {}
    }

    @Test(.rules("STO-14")) func treeWithoutRowIsSetAsideNotTrusted() throws {
        let chain = try StoreFixture.chain(build: 6)
        let path = Trees.path(of: chain.header.app.id, build: 6, digest: chain.digest)
        try FileManager.default.createDirectory(
            atPath: directory.path("state/\(path)"), withIntermediateDirectories: true)
        try write("planted", to: "state/\(path)/planted")
        for part in ["apps", "apps/com.example.orders"] { chmod(directory.path("state/\(part)"), 0o700) }
        let package = try fixture.install(build: 6).package
        #expect(package.tree == path && !directory.exists("state/\(path)/planted"))
        let aside = directory.names("state/set-aside/com.example.orders")
        #expect(aside.count == 1)
        #expect(directory.exists("state/set-aside/com.example.orders/\(aside[0])/planted"))
    }

    @Test(.rules("STO-14", "POL-21")) func bodyThatThrowsInstallsNothing() throws {
        let chain = try StoreFixture.chain(build: 6)
        let staged = try fixture.stage(chain)
        #expect(throws: Stop.self) {
            _ = try fixture.trees.install(
                staged, app: chain.header.app.id, build: 6, digest: chain.digest,
                manifest: chain.header.payload.manifest, in: fixture.store
            ) { _ in throw Stop() }
        }
        #expect(!directory.exists("state/apps"))
        #expect(directory.names("state/staging") == [staged.name])
        try staged.discard()
        #expect(directory.names("state/staging").isEmpty)
    }

    /// A store whose first commit fails after its body has run, and others before it.
    private struct FailingStore: TrustStore {
        let store: SQLiteTrustStore
        let failures: Locked<(left: Int, isFirst: Bool)>
        let atFailure: @Sendable () throws -> Void
        init(_ store: SQLiteTrustStore, failures: Int, atFailure: @escaping @Sendable () throws -> Void = {}) {
            self.store = store
            self.failures = Locked((failures, true))
            self.atFailure = atFailure
        }
        func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value { try store.read(body) }
        func excerpt(of digest: Digest, pinned: () throws -> [PublicKey]) throws -> LocalExcerpt? {
            try store.excerpt(of: digest, pinned: pinned)
        }
        func forgetExcerpts() { store.forgetExcerpts() }
        func changeCount() throws -> Int64 { try store.changeCount() }
        func problems() throws -> [String] { try store.problems() }
        func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws -> Value {
            let (isFirst, fails) = failures.withLock { left in
                defer { left.left -= 1; left.isFirst = false }
                return (left.isFirst, left.left > 0)
            }
            if fails && !isFirst { throw Stop() }
            return try store.commit { transaction in
                let value = try body(transaction)
                guard fails else { return value }
                try atFailure()
                throw Stop()
            }
        }
    }

    /// Installs a package into a store that fails, and lets go of what was staged.
    private func expectFailure(
        of chain: VerifiedChain, _ package: InstalledPackage, in failing: FailingStore,
        _ body: (any StoreTransaction) throws -> Void
    ) throws {
        let staged = try fixture.stage(chain)
        #expect(throws: Stop.self) {
            _ = try fixture.trees.install(
                staged, app: package.app.id, build: package.app.build, digest: chain.digest,
                manifest: package.facts.manifest, in: failing, body)
        }
    }

    @Test(.attack("K9"), .rules("STO-14"), arguments: [1, 2]) func commitThatFailsLeavesNoInstalledTree(failures: Int)
        throws
    {
        let chain = try StoreFixture.chain(build: 6)
        let package = StoreFixture.installed(chain)
        let failing = FailingStore(fixture.store, failures: failures)
        try expectFailure(of: chain, package, in: failing) { transaction in
            try transaction.record(
                package, certificate: chain.certificate.envelope, event: StoreFixture.event(.opened))
        }
        #expect(directory.names("state/staging").isEmpty)
        #expect(try fixture.store.read { try $0.installedPackage(chain.digest) } == nil)
        // When the way back fails too, the tree stays without a row, as after a crash between rename and commit.
        #expect(directory.exists("state/\(package.tree)") == (failures == 2))
        _ = try fixture.install(build: 6)
        #expect(try fixture.trees.isWhole(package.tree, manifest: package.facts.manifest))
    }

    @Test(.rules("STO-13", "STO-14")) func treeThatSomebodyUsesIsNotTakenBackWhenItsCommitFails() throws {
        let chain = try StoreFixture.chain(build: 6)
        let package = StoreFixture.installed(chain)
        let (tree, state, leases) = (package.tree, fixture.state, Locked<[TreeLease]>([]))
        let failing = FailingStore(fixture.store, failures: 1) {
            // Another process knows the path of old and leases what is there now.
            let lease = try TreeLease.take(tree, in: state)
            leases.withLock { $0.append(lease) }
        }
        try expectFailure(of: chain, package, in: failing) { _ in }
        #expect(try fixture.trees.isIntact(tree, manifest: package.facts.manifest))
        #expect(try prune().setAside.isEmpty)
        leases.withLock { $0 = [] }
        #expect(try prune().setAside == [tree])
        #expect(directory.names("state/staging").isEmpty)
    }

    @Test(.rules("STO-13")) func prunesOlderBuildsAndKeepsTheNewest() throws {
        for build in [1, 2, 3] as [Int64] { _ = try fixture.install(build: build) }
        _ = try fixture.install(build: 9, app: "com.example.other")
        #expect(try prune(isRehearsal: true).removed.map(\.facts.build) == [1, 2])
        #expect(directory.names("state/apps/com.example.orders").count == 3)
        #expect(try prune(.olderThanNewest(2)).removed.map(\.facts.build) == [1])
        let pruning = try prune()
        #expect(pruning.removed.map(\.facts.build) == [2] && pruning.inUse.isEmpty && pruning.setAside.isEmpty)
        #expect(directory.names("state/apps/com.example.orders").count == 1)
        #expect(directory.names("state/apps/com.example.other").count == 1)
        #expect(directory.names("state/staging").isEmpty)
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.installedPackages(after: nil, apps: 1000).map(\.facts.build) == [3, 9])
            #expect(try snapshot.events(after: 0, limit: 99).events.filter { $0.event.kind == .treeRemoved }.count == 2)
        }
    }

    @Test(.rules("STO-13")) func pruningLeavesATreeInUse() throws {
        let lease = try fixture.install(build: 1).lease
        _ = try fixture.install(build: 2)
        let pruning = try prune()
        #expect(pruning.removed.isEmpty && pruning.inUse.map(\.facts.build) == [1])
        withExtendedLifetime(lease) {}
        #expect(directory.names("state/apps/com.example.orders").count == 2)
    }

    @Test(.rules("STO-13")) func pruningLeavesATreeThatAnotherProcessUses() throws {
        let package = try fixture.install(build: 1).package
        _ = try fixture.install(build: 2)
        let holder = try LockHolder(directory.path("state/\(package.tree)/SHA256SUMS"), exclusively: false)
        #expect(try prune().inUse.map(\.facts.build) == [1])
        holder.stop()
        #expect(try prune().removed.map(\.facts.build) == [1])
    }

    @Test func removesAllTreesOfAnAppAndKeepsItsFloor() throws {
        let app = try fixture.install(build: 6).package.app.id
        #expect(try prune(.all(of: app)).removed.count == 1)
        #expect(!directory.exists("state/apps/com.example.orders"))
        #expect(try fixture.store.read { try $0.acceptedBuild(of: app)?.build } == 6)
    }

    @Test(.rules("REV-15")) func treeAboveALoweredBuildGoesFirst() throws {
        _ = try fixture.install(build: 5)
        let app = try fixture.install(build: 900).package.app.id
        try fixture.apply { $0.maximumBuilds[app] = 6 }
        #expect(try prune().removed.map(\.facts.build) == [900])
    }

    @Test(.attack("K13")) func treesOfARestoredBackupAreSetAsideNotDeleted() throws {
        let path = try fixture.install(build: 6).package.tree
        // The backup is from before the installation.
        try fixture.store.inspect { try $0.script("DELETE FROM packages; DELETE FROM apps;") }
        #expect(try prune().setAside == [path])
        #expect(!directory.exists("state/\(path)"))
        #expect(directory.names("state/set-aside/com.example.orders").count == 1)
    }

    @Test func failedPruningPutsTreesBack() throws {
        let old = try fixture.install(build: 1).package
        _ = try fixture.install(build: 2)
        let failing = FailingStore(fixture.store, failures: 1)
        #expect(throws: Stop.self) {
            _ = try fixture.trees.prune(.olderThanNewest(1), in: failing) { _ in StoreFixture.event(.treeRemoved) }
        }
        #expect(try fixture.trees.isWhole(old.tree, manifest: old.facts.manifest))
        #expect(directory.names("state/staging").isEmpty)
        #expect(try prune().removed.count == 1)
    }

    @Test(.rules("STO-13")) func treeThatCannotBePutBackKeepsNoOtherBack() throws {
        let first = try fixture.install(build: 1).package
        let second = try fixture.install(build: 2).package
        _ = try fixture.install(build: 3)
        let place = directory.path("state/\(first.tree)")
        let failing = FailingStore(fixture.store, failures: 1) {
            // The place of one is taken when the commit fails, by something that no directory replaces.
            try Data("taken".utf8).write(to: URL(fileURLWithPath: place))
        }
        #expect(throws: Stop.self) {
            _ = try fixture.trees.prune(.olderThanNewest(1), in: failing) { _ in StoreFixture.event(.treeRemoved) }
        }
        #expect(try fixture.trees.isWhole(second.tree, manifest: second.facts.manifest))
        #expect(directory.names("state/staging").isEmpty)
    }

    @Test func leaseOfATreeThatWentSaysSo() throws {
        let path = try fixture.install(build: 1).package.tree
        _ = try fixture.install(build: 2)
        _ = try prune()
        #expect(code { _ = try TreeLease.take(path, in: fixture.state) } == "notInstalled")
    }

    @Test(arguments: ["missing", "directory", "link"])
    func leaseNeedsThePlainFile(kind: String) throws {
        let path = try fixture.install(build: 1).package.tree
        let file = directory.path("state/\(path)/SHA256SUMS")
        try FileManager.default.removeItem(atPath: file)
        if kind == "directory" { #expect(mkdir(file, 0o755) == 0) }
        if kind == "link" { #expect(symlink("app.json", file) == 0) }
        #expect(code { _ = try TreeLease.take(path, in: fixture.state) } == "notInstalled")
    }

    @Test func daemonsTreesCanBeReachedByOthers() throws {
        let directory = try TemporaryDirectory()
        let state = try StateDirectory.open(directory.path("state"), modes: .daemon)
        _ = try SQLiteTrustStore.open(in: state)
        _ = try state.directory("apps")
        _ = try state.directory("staging")
        var modes: [String: mode_t] = [:]
        for name in ["", "apps", "staging", "trust.sqlite"] {
            var status = stat()
            #expect(stat(directory.path("state/\(name)"), &status) == 0)
            modes[name] = status.st_mode & 0o777
        }
        #expect(modes == ["": 0o711, "apps": 0o711, "staging": 0o700, "trust.sqlite": 0o600])
    }
}
