import TestSupport
import Testing

@testable import NshTrust

@Suite struct StorePackageTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test(.rules("STO-1", "STO-2")) func restoresEverythingOfAPackage() throws {
        var builder = PackageBuilder()
        builder.capabilities = ["network": .object(["hosts": .array([.text("api.example.com")])]), "n": .integer(-7)]
        builder.minimumRuntime = RuntimeVersion("1.02".replacing("02", with: "2"))
        builder.app.name = PackageBuilder.text("Bestellungen ü 👍")
        let chain = try PackageBuilder.chain(of: builder.build())
        let package = StoreFixture.installed(chain)
        try fixture.store.commit {
            try $0.record(package, certificate: chain.certificate.envelope, event: StoreFixture.event(.opened))
        }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.installedPackage(chain.digest) == package)
            #expect(try snapshot.installedPackages(of: package.app.id) == [package])
            #expect(try snapshot.installedPackages(after: nil, apps: 1000) == [package])
            #expect(try snapshot.hasAccepted(package: chain.digest))
            #expect(
                try snapshot.certificates(afterRow: 0, ofInstalled: false, limit: 9).map(\.envelope) == [
                    chain.certificate.envelope
                ])
            let accepted = try snapshot.acceptedBuild(of: package.app.id)
            #expect(
                accepted
                    == AcceptedBuild(
                        app: package.app.id, build: 42, publisher: PackageBuilder.text("Example Ltd"),
                        identity: chain.identity, digest: chain.digest, acceptedAt: StoreFixture.now))
        }
    }

    @Test(.rules("STO-8")) func highestBuildNeverFalls() throws {
        try fixture.record(build: 6)
        #expect(code { try fixture.record(build: 5) } == "badRequest")
        let app = try #require(AppID("com.example.orders"))
        #expect(try fixture.store.read { try $0.acceptedBuild(of: app)?.build } == 6)
        #expect(try fixture.store.read { try $0.installedPackages(of: app).map(\.facts.build) } == [6])
    }

    @Test func openingTheSameBuildAgainKeepsWhenItWasAccepted() throws {
        let package = try fixture.record(build: 6, at: 100)
        try fixture.record(build: 6, at: 200)
        #expect(try fixture.store.read { try $0.acceptedBuild(of: package.app.id)?.acceptedAt } == 100)
        try fixture.record(build: 7, at: 300)
        #expect(try fixture.store.read { try $0.acceptedBuild(of: package.app.id)?.acceptedAt } == 300)
    }

    @Test func stillKnowsThatItAcceptedAPackageWhoseTreeWent() throws {
        let digest = try fixture.record(build: 6).facts.digest
        try fixture.store.commit { try $0.forgetTree(of: digest, event: StoreFixture.event(.treeRemoved)) }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.installedPackage(digest) == nil)
            #expect(try snapshot.hasAccepted(package: digest))
            #expect(try snapshot.acceptedBuildCount() == 1)
            #expect(try snapshot.events(after: 0, limit: 9).events.map(\.event.kind) == [.opened, .treeRemoved])
        }
    }

    @Test func pagesAcceptedBuildsByApp() throws {
        for app in ["b.a", "a.b", "a.c", "a.B"] { try fixture.record(build: 1, app: "com.example.\(app)") }
        var seen: [String] = []
        var last: AppID?
        while true {
            let page = try fixture.store.read { try $0.acceptedBuilds(after: last, limit: 3) }
            if page.isEmpty { break }
            seen += page.map { String($0.app.text.dropFirst(12)) }
            last = page.last?.app
        }
        #expect(seen == ["a.B", "a.b", "a.c", "b.a"])
    }

    @Test func keepsOnlyEnvelopesOfACertificateThatInstalledPackagesCameWith() throws {
        for threshold in 0..<4 {
            var builder = PackageBuilder()
            builder.certifiedBy = [.root] + [.secondRoot, .stranger, .release].prefix(threshold)
            builder.app.build = 6
            let chain = try PackageBuilder.chain(of: builder.build())
            try fixture.store.commit {
                try $0.record(
                    StoreFixture.installed(chain), certificate: chain.certificate.envelope,
                    event: StoreFixture.event(.opened))
            }
        }
        #expect(try fixture.store.read { try $0.certificates(afterRow: 0, ofInstalled: false, limit: 9).count } == 1)
    }

    @Test func remembersRootsOnceAndTheGreatestThreshold() throws {
        let (a, b) = (TestKey.root.publicKey, TestKey.secondRoot.publicKey)
        #expect(try fixture.store.read { try $0.greatestThreshold() } == 1)
        for (key, time) in [(a, Int64(10)), (b, 20), (a, 30)] {
            try fixture.store.commit { try $0.rememberRoot(key, event: StoreFixture.event(.rootAdded, at: time)) }
        }
        for threshold in [2, 3, 1] { try fixture.store.commit { try $0.raiseThreshold(to: threshold) } }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.rootsSeen().map(\.key) == [a, b])
            #expect(try snapshot.rootsSeen().map(\.since) == [10, 20])
            #expect(try snapshot.greatestThreshold() == 3)
            #expect(try snapshot.events(after: 0, limit: 9).events.count == 2)
        }
    }

    @Test(arguments: [
        "UPDATE packages SET name = 'a' || char(10)", "UPDATE packages SET roots = x'00'",
        "UPDATE packages SET minimum_runtime = 'x'", "UPDATE packages SET capabilities = '{'",
        "UPDATE packages SET manifest = x''", "UPDATE certificates SET envelope = x'7b7d'",
        "UPDATE packages SET app = 'x'",
    ])
    func damagedRowIsAnErrorAndFoundByCheck(change: String) throws {
        try fixture.record(build: 6)
        #expect(try fixture.store.problems() == [])
        try fixture.store.inspect { try $0.script(change) }
        #expect(
            code { _ = try fixture.store.read { try $0.installedPackages(after: nil, apps: 1000) } } == "storeCorrupt")
        #expect(try !fixture.store.problems().isEmpty)
    }

    @Test func checkFindsNothingInAGoodStore() throws {
        try fixture.record(build: 6)
        try fixture.apply { $0.keys = [SHA256.hash([1])] }
        #expect(try fixture.store.problems() == [])
    }

    @Test func checkFindsAChangedList() throws {
        try fixture.apply { $0.keys = [SHA256.hash([1])] }
        try fixture.store.inspect { try $0.script("UPDATE lists SET payload_digest = zeroblob(32)") }
        #expect(try fixture.store.problems().count == 1)
    }
}
