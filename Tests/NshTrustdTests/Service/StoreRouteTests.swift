import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshTrustd

@Suite("The store over the API")
struct StoreRouteTests {
    let host: ServiceHost
    init() throws { host = try ServiceHost() }

    @Test("health is ok while the store can be read and a root is trusted")
    func health() throws {
        #expect(try host.send("GET /v1/health", peer: ServiceHost.other).text == #"{"status":"ok"}"#)
    }

    @Test("status says what is loaded, what is not, and what the store holds")
    func status() throws {
        try host.install(build: 5)
        let answer = try host.send("GET /v1/status", peer: ServiceHost.other)
        let status = try StatusDocument(answer.reader)
        #expect(answer.status == 200 && status.version == NshTrust.version && status.store.apps == 1)
        #expect(status.roots.map(\.key) == [TestKey.root.publicKey.hash.hex] && !status.roots[0].isWithdrawn)
        #expect(status.badRoots.map(\.message) == ["it is empty"] && status.badLists.isEmpty)
        #expect(status.store.newestEvent == 2 && status.store.oldestEvent == 1)
        _ = try host.send("POST /v1/revocations", ServiceHost.list(1) { $0.revokesIssuer = true })
        let after = try StatusDocument(try host.send("GET /v1/status").reader)
        #expect(after.roots[0].isWithdrawn && after.store.lists.map(\.list.sequence) == [1])
    }

    @Test("apps come in pages by id")
    func apps() throws {
        for name in ["com.example.c", "com.example.a", "com.example.b"] { try host.install(build: 3, app: name) }
        let first = try AppPageDocument(try host.send("GET /v1/apps?limit=2", peer: ServiceHost.other).reader)
        #expect(first.apps.map(\.accepted.app) == ["com.example.a", "com.example.b"] && first.next == "com.example.b")
        let second = try AppPageDocument(try host.send("GET /v1/apps?after=com.example.b&limit=2").reader)
        #expect(second.apps.map(\.accepted.app) == ["com.example.c"] && second.next == nil)
        let whole = try AppPageDocument(try host.send("GET /v1/apps?limit=3").reader)
        #expect(whole.apps.count == 3 && whole.next == nil)
        let one = try AppDocument(try host.send("GET /v1/apps/com.example.a").reader)
        #expect(one == whole.apps[0] && one.installed.map(\.build) == [3])
        let none = try host.send("GET /v1/apps/com.example.x")
        #expect(none.status == 404 && none.code == "unknownApp")
    }

    @Test("a revocation list is rehearsed, applied, applied again, and shown")
    func revocations() throws {
        try host.install(build: 5)
        let list = ServiceHost.list(2) { $0.minimumBuilds = [PackageBuilder.id("com.example.orders"): 6] }
        let rehearsal = try host.send("POST /v1/revocations?dryRun=true", list, peer: ServiceHost.admin)
        let rehearsed = try RevocationUpdateDocument(rehearsal.reader)
        #expect(rehearsed.isRehearsal && rehearsed.update.changed)
        #expect(rehearsed.update.stoppedApps == ["com.example.orders"])
        #expect(try RevocationsDocument(try host.send("GET /v1/revocations").reader).lists.isEmpty)
        for changed in [true, false] {
            let answer = try host.send("POST /v1/revocations", list, peer: ServiceHost.admin)
            #expect(try RevocationUpdateDocument(answer.reader).update.changed == changed)
        }
        let shown = try RevocationsDocument(try host.send("GET /v1/revocations", peer: ServiceHost.other).reader)
        #expect(shown.lists.map(\.list.sequence) == [2])
        let older = try host.send("POST /v1/revocations", ServiceHost.list(1))
        #expect(older.status == 403 && older.code == "revocationsOlder")
        let strange = try host.send("POST /v1/revocations", ServiceHost.list(1, by: .stranger))
        #expect(strange.status == 403 && strange.code == "untrustedRoot")
        #expect(try host.send("POST /v1/revocations", "{}").code == "malformed")
        let event = try #require(try host.core.store.read { try $0.events(after: 0, limit: 100).events.last })
        #expect(event.event.kind == .revocations && event.event.uid == 1001)
    }

    @Test("events come in pages; users and processes are shown to administrators only", .rules("API-7"))
    func events() throws {
        try host.install(build: 5)
        try host.install(build: 6)
        let page = try EventPageDocument(
            try host.send("GET /v1/events?after=1&limit=1", peer: ServiceHost.admin).reader)
        #expect(page.events.map(\.event.build) == [5] && page.next == 2 && page.events[0].showsCaller)
        let open = try EventPageDocument(try host.send("GET /v1/events", peer: ServiceHost.engine).reader)
        #expect(open.events.count == 3 && open.next == 3 && open.events.allSatisfy { !$0.showsCaller })
        let end = try EventPageDocument(try host.send("GET /v1/events?after=3&follow=false").reader)
        #expect(end.events.isEmpty && end.next == 3)
    }

    @Test("check says that all is whole, and what is not")
    func check() throws {
        try host.install(build: 5)
        let whole = try StoreCheckDocument(try host.send("POST /v1/store/check", "{}", peer: ServiceHost.admin).reader)
        #expect(whole.problems.isEmpty && whole.packages == 1)
        let apps = try AppPageDocument(try host.send("GET /v1/apps").reader)
        try host.damage(apps.apps[0].installed[0].directory + "/bundle.js")
        let answer = try host.send("POST /v1/store/check", "{}", peer: ServiceHost.admin)
        #expect(answer.status == 200 && answer.text("verdict") == "refused" && answer.code == "manifestMismatch")
    }

    @Test("prune keeps the newest builds, remove takes an app's trees, and both say which")
    func prune() throws {
        for build in 3...5 as ClosedRange<Int64> { try host.install(build: build) }
        let rehearsal = try PruningDocument(
            try host.send("POST /v1/store/prune", #"{"keep":2,"dryRun":true}"#, peer: ServiceHost.admin).reader)
        #expect(rehearsal.removed.map(\.build) == [3])
        let pruned = try PruningDocument(try host.send("POST /v1/store/prune", "{}", peer: ServiceHost.admin).reader)
        #expect(pruned.removed.map(\.build) == [3, 4] && pruned.removed[0].directory.hasPrefix("/"))
        let removed = try host.send("POST /v1/store/remove", #"{"app":"com.example.orders"}"#, peer: ServiceHost.admin)
        #expect(try PruningDocument(removed.reader).removed.map(\.build) == [5])
        let again = try host.send("POST /v1/store/remove", #"{"app":"com.example.orders"}"#)
        #expect(again.status == 404 && again.code == "notInstalled")
    }

    @Test("a root's lists go out of force once")
    func forgetRoot() throws {
        _ = try host.send("POST /v1/revocations", ServiceHost.list(1))
        let body = #"{"key":"\#(TestKey.root.publicKey.hash.hex)"}"#
        #expect(try host.send("POST /v1/store/forget-root", body, peer: ServiceHost.admin).text == body)
        let again = try host.send("POST /v1/store/forget-root", body)
        #expect(again.status == 404 && again.code == "notInstalled")
    }

    @Test("what one store exports another imports, twice with one result")
    func exportAndImport() throws {
        try host.install(build: 5)
        _ = try host.send("POST /v1/revocations", ServiceHost.list(1))
        let export = try host.send("GET /v1/store/export", peer: ServiceHost.admin)
        #expect(export.status == 200 && export.text("format") == "nsh-store-export-1")
        let other = try ServiceHost()
        for applied in [1, 0] as [Int64] {
            let answer = try other.send("POST /v1/store/import", export.text, peer: ServiceHost.admin)
            let result = try ImportDocument(answer.reader)
            #expect(answer.status == 200 && result.builds == 1 && result.lists == 1 && result.applied == applied)
        }
        #expect(try other.send("GET /v1/apps/com.example.orders").integer("build") == 5)
        let malformed = try other.send("POST /v1/store/import", "{}")
        #expect(malformed.status == 403 && malformed.code == "malformed")
    }

    @Test("an export that asks for more signing roots is 403 and takes nothing", .rules("API-9", "STO-3"))
    func importOfAGreaterThreshold() throws {
        let export = StoreDocument(builds: [], lists: [], rootThreshold: 2).serialized
        let text = String(decoding: export, as: UTF8.self)
        let answer = try host.send("POST /v1/store/import", text, peer: ServiceHost.admin)
        #expect(answer.status == 403 && answer.code == "forbidden")
        #expect(try host.core.store.read { try $0.greatestThreshold() } == 1)
    }

    @Test("a store that cannot be read is 500 with its code, and health is 503")
    func corruptStore() throws {
        try host.damage(host.directory.path + "/state/trust.sqlite")
        let answer = try host.send("GET /v1/apps")
        #expect(answer.status == 500 && answer.code == "storeCorrupt", "\(answer.text)")
        #expect(!host.log.lines.isEmpty)
        let health = try host.waitForHealth(503)
        #expect(health.status == 503 && health.code == "storeCorrupt", "\(health.text)")
    }
}
