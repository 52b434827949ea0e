import Synchronization
import TestSupport
import Testing

@testable import NshTrust

/// A store that counts its snapshots: how much is read at once cannot be seen from the answers.
private final class CountingStore: TrustStore {
    private let base: any TrustStore
    private let count = Atomic(0)

    init(_ base: any TrustStore) { self.base = base }

    var snapshots: Int { count.load(ordering: .relaxed) }

    func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        count.add(1, ordering: .relaxed)
        return try base.read(body)
    }

    func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws -> Value { try base.commit(body) }
    func excerpt(of digest: Digest, pinned: () throws -> [PublicKey]) throws -> LocalExcerpt? {
        try base.excerpt(of: digest, pinned: pinned)
    }
    func forgetExcerpts() { base.forgetExcerpts() }
    func changeCount() throws -> Int64 { try base.changeCount() }
    func problems() throws -> [String] { try base.problems() }
}

/// What looks at a whole store does so page by page, and nothing is lost between two pages.
@Suite("Stores of many apps")
struct StorePagesTests {
    private static let apps = (0..<StorePage.apps + 44).map { "com.example.a\($0)" }
    let fixture: StoreFixture

    /// Packages of more apps than a page has, made from one, recorded in one transaction.
    init() throws {
        fixture = try StoreFixture()
        let chain = try StoreFixture.chain(build: 7)
        let model = StoreFixture.installed(chain)
        try fixture.store.commit { transaction in
            for (number, app) in Self.apps.enumerated() {
                let id = try #require(AppID(app))
                for build in number == 3 ? [Int64(6), 7] : [7] {
                    try transaction.record(
                        Self.renamed(model, id, build: build), certificate: chain.certificate.envelope,
                        event: StoreFixture.event(.opened))
                }
            }
        }
    }

    private static func renamed(_ model: InstalledPackage, _ app: AppID, build: Int64) -> InstalledPackage {
        let (facts, digest) = (model.facts, SHA256.hash(Array("\(app) \(build)".utf8)))
        return InstalledPackage(
            facts: PackageFacts(
                roots: facts.roots, certificate: facts.certificate, app: app, build: build, digest: digest,
                manifest: facts.manifest, identity: facts.identity, signedAt: facts.signedAt,
                minimumRuntime: facts.minimumRuntime),
            app: PackageHeader.App(id: app, name: model.app.name, version: model.app.version, build: build),
            capabilities: nil, files: 1, unpackedSize: 10, packageSize: 20,
            tree: Trees.path(of: app, build: build, digest: digest), acceptedAt: model.acceptedAt)
    }

    @Test("every package is handed over once, by app and build", .rules("STO-1")) func pages() throws {
        let store = CountingStore(fixture.store)
        var found: [String] = []
        var pages: [Int] = []
        try store.forEachPageOfPackages { page in
            pages.append(Set(page.map(\.app.id)).count)
            found += page.map { "\($0.app.id) \($0.app.build)" }
        }
        #expect(pages == [StorePage.apps, 44])
        #expect(store.snapshots == 3)
        let expected = Self.apps.map { "\($0) 7" } + ["com.example.a3 6"]
        #expect(found == expected.sorted())
    }

    @Test("status adds up what it never holds", .rules("STO-1")) func status() throws {
        let end = StoreFixture.installed(try StoreFixture.chain(build: 7)).facts.certificate.notAfter
        let calm = try StoreStatus(of: fixture.store, now: StoreFixture.now)
        #expect(calm.packages == 301 && calm.unpackedSize == 3010 && calm.builds == 300)
        #expect(calm.warnings.isEmpty)
        let late = try StoreStatus(of: fixture.store, now: end - 86_400)
        // One an app, though one has two packages.
        #expect(late.warnings.count == 300 && late.warnings == late.warnings.sorted())
        #expect(late.warnings.allSatisfy { $0.hasSuffix("in 1 day") })
        let short = try StoreStatus(of: fixture.store, now: end - 86_400, maximumWarnings: 10)
        #expect(short.warnings.count == 11 && short.warnings.last == "the certificates of more apps end soon")
    }

    @Test("status reads no certificate that nothing installed has", .rules("STO-1")) func unusedCertificate() throws {
        try fixture.store.inspect {
            try $0.script(
                "INSERT INTO certificates (digest, serial, payload, envelope)"
                    + " SELECT zeroblob(32), serial, payload, x'7b7d' FROM certificates")
        }
        let end = StoreFixture.installed(try StoreFixture.chain(build: 7)).facts.certificate.notAfter
        #expect(try StoreStatus(of: fixture.store, now: end - 86_400).warnings.count == 300)
        #expect(try !fixture.store.problems().isEmpty)
    }

    @Test("only the apps that have one too many are pruned", .rules("STO-13")) func pruning() throws {
        let pruned = try fixture.trees.prune(.olderThanNewest(1), in: fixture.store, isRehearsal: true) { _ in
            StoreFixture.event(.treeRemoved)
        }
        #expect(pruned.removed.map { "\($0.app.id) \($0.app.build)" } == ["com.example.a3 6"])
        #expect(try fixture.store.read { try $0.apps(withMoreThan: 2) }.isEmpty)
        try fixture.apply { $0.maximumBuilds = [PackageBuilder.id("com.example.a9"): 5] }
        // Lowered: what is installed is above the accepted build.
        #expect(
            try fixture.store.read { try $0.apps(withMoreThan: 1) }.map(\.text) == ["com.example.a3", "com.example.a9"])
    }

    @Test("a list names the apps that it stops on every page", .rules("STO-15")) func stopped() throws {
        let core = try TrustCore(directory: fixture.directory.path("state"), options: Self.options)
        try core.addRoot(TestKey.root.publicKey)
        var list = RevocationList(issuer: TestKey.root.publicKey.hash, sequence: 1, issuedAt: StoreFixture.now)
        let (first, last) = ("com.example.a0", "com.example.a99")
        list.minimumBuilds = [PackageBuilder.id(first): 8, PackageBuilder.id(last): 8, PackageBuilder.id("a.b"): 8]
        let bytes = Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
        #expect(try core.applyRevocations(bytes, dryRun: true).stoppedApps == [first, last])
        list.keys = [StoreFixture.installed(try StoreFixture.chain(build: 7)).facts.certificate.key.hash]
        let all = Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
        #expect(try core.applyRevocations(all).stoppedApps == Self.apps.sorted())
    }

    private static var options: NshTrust.Options {
        var options = NshTrust.Options()
        options.clock = { StoreFixture.now }
        return options
    }
}
