import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

extension TemporaryDirectory {
    func path(_ name: String) -> String { "\(path)/\(name)" }
    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
    func names(_ name: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }
}

/// A store in a directory of its own, with what tests put into it.
struct StoreFixture {
    static let now = PackageBuilder.now

    let directory: TemporaryDirectory
    let state: StateDirectory
    let store: SQLiteTrustStore
    let trees: Trees
    let staging: StagingArea

    init(_ directory: TemporaryDirectory? = nil, busyTimeoutSeconds: Double = 30) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        state = try StateDirectory.open(directory.path("state"))
        store = try SQLiteTrustStore.open(in: state, busyTimeoutSeconds: busyTimeoutSeconds)
        trees = Trees(state)
        staging = StagingArea(state)
    }

    static func chain(build: Int64, app: String = "com.example.orders") throws -> VerifiedChain {
        var builder = PackageBuilder()
        builder.app.build = build
        builder.app.id = try #require(AppID(app))
        return try PackageBuilder.chain(of: builder.build())
    }

    static func installed(_ chain: VerifiedChain, at time: Int64 = now) -> InstalledPackage {
        let app = chain.header.app
        return InstalledPackage(
            facts: PackageFacts(of: chain), app: app, capabilities: chain.header.capabilities,
            files: chain.header.payload.files, unpackedSize: chain.header.payload.unpackedSize, packageSize: 4096,
            tree: Trees.path(of: app.id, build: app.build, digest: chain.digest), acceptedAt: time)
    }

    static func event(_ kind: NewEvent.Kind, at time: Int64 = now, code: String? = nil, uid: UInt32 = 1000) -> NewEvent
    {
        NewEvent(kind, time: time, code: code, message: "a test", uid: uid, pid: 7)
    }

    /// Records a build without a tree.
    @discardableResult
    func record(build: Int64, app: String = "com.example.orders", at time: Int64 = now) throws -> InstalledPackage {
        let chain = try Self.chain(build: build, app: app)
        let package = Self.installed(chain, at: time)
        try store.commit { transaction in
            try transaction.record(
                package, certificate: chain.certificate.envelope, event: Self.event(.opened, at: time))
        }
        return package
    }

    /// Installs a build with a small tree.
    func install(build: Int64, app: String = "com.example.orders") throws -> (
        package: InstalledPackage, lease: TreeLease
    ) {
        let chain = try Self.chain(build: build, app: app)
        let package = Self.installed(chain)
        let staged = try stage(chain)
        let result = try trees.install(
            staged, app: package.app.id, build: build, digest: chain.digest, manifest: package.facts.manifest, in: store
        ) { transaction in
            try transaction.record(package, certificate: chain.certificate.envelope, event: Self.event(.opened))
        }
        return (package, result.lease)
    }

    /// Writes the tree of a chain's package into staging.
    func stage(_ chain: VerifiedChain) throws -> StagedTree {
        var builder = PackageBuilder()
        builder.app = chain.header.app
        let staged = try staging.makeTree()
        let path = directory.path("state/staging/\(staged.name)")
        for file in [(path: Array("SHA256SUMS".utf8), data: builder.sums)] + builder.allFiles {
            let name = String(decoding: file.path, as: UTF8.self)
            let url = URL(fileURLWithPath: "\(path)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.data).write(to: url)
        }
        return staged
    }

    /// Applies a list and returns what it did.
    @discardableResult
    func apply(
        by root: TestKey = .root, sequence: Int64 = 1, issuedAt: Int64 = now, clock: Int64 = now,
        signers: [TestKey]? = nil, threshold: Int = 1, _ edit: (inout RevocationList) -> Void = { _ in }
    ) throws -> ListSuccession {
        var list = RevocationList(issuer: root.publicKey.hash, sequence: sequence, issuedAt: issuedAt)
        edit(&list)
        let envelope = Envelope.signed(.revocations, list.serialized, by: signers ?? [root]).serialized
        return try apply(envelope, clock: clock, threshold: threshold)
    }

    func apply(_ envelope: [UInt8], clock: Int64 = now, threshold: Int = 1) throws -> ListSuccession {
        var policy = Policy()
        policy.rootThreshold = threshold
        let roots = [TestKey.root.publicKey, TestKey.secondRoot.publicKey]
        return try store.commit { transaction in
            let list = try VerifiedList.verifying(envelope, roots: roots, state: transaction, policy: policy)
            let inForce = try transaction.listsInForce().first { $0.list.issuer == list.list.issuer }
            let succession = try ListSuccession.decide(list, after: inForce)
            try transaction.apply(list, succession: succession, clock: clock, event: Self.event(.revocations))
            return succession
        }
    }
}

/// The code of the trouble or refusal that the body throws; nil when it throws none.
func code(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let trouble as Trouble {
        return trouble.code.rawValue
    } catch let refusal as Refusal {
        return refusal.code.rawValue
    } catch {
        return "\(error)"
    }
}
