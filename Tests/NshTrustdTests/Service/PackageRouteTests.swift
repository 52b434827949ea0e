import FoundationEssentials
import Glibc
import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshTrustd

@Suite("Packages over the API")
struct PackageRouteTests {
    let host: ServiceHost
    init() throws { host = try ServiceHost() }

    private func json(_ path: String) -> String { #"{"path":"\#(path)"}"# }

    @Test("verify answers with either verdict and changes nothing")
    func verifies() throws {
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        for answer in [
            try host.send("POST /v1/packages/verify", json(path), peer: ServiceHost.own),
            try host.send("POST /v1/packages/verify", package: ServiceHost.package(build: 5), peer: ServiceHost.other),
        ] {
            let verdict = try VerdictDocument(answer.reader)
            #expect(answer.status == 200 && verdict.verdict == .accepted && verdict.report?.info?.build == 5)
            #expect(verdict.directory == nil)
        }
        var damaged = ServiceHost.package(build: 5)
        damaged[damaged.count - 1] ^= 1
        let answer = try host.send("POST /v1/packages/verify", package: damaged, peer: ServiceHost.other)
        #expect(answer.status == 200 && answer.text("verdict") == "refused" && answer.code == "payloadCorrupt")
        #expect(try host.core.store.read { try $0.acceptedBuildCount() } == 0)
    }

    @Test("open by path and by body installs; an older build is 403 and says what was established")
    func opens() throws {
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 6))
        let opened = try host.send("POST /v1/packages/open", json(path))
        let directory = try #require(opened.text("directory"))
        #expect(opened.status == 200 && opened.text("lease") == directory + "/SHA256SUMS")
        #expect(FileManager.default.fileExists(atPath: directory + "/bundle.js"))
        let again = try host.send(
            "POST /v1/packages/open", package: ServiceHost.package(build: 6), peer: ServiceHost.engine)
        #expect(again.status == 200 && again.text("directory") == directory)
        let older = try host.send(
            "POST /v1/packages/open", package: ServiceHost.package(build: 5), peer: ServiceHost.engine, pieces: 7)
        #expect(older.status == 403 && older.code == "rolledBack" && older.text("publisher") == "Example Ltd")
        let problem = try ProblemDocument(older.reader)
        #expect(problem.report?.info?.build == 5 && problem.report?.digest != nil)
        let events = try host.core.store.read { try $0.events(after: 0, limit: 10).events }
        #expect(events.map(\.event.kind) == [.rootAdded, .opened, .refused])
        #expect(events.last?.event.uid == 1002 && events.last?.event.pid == 12)
    }

    @Test("check answers for what is installed and takes it back when a rule fails")
    func checks() throws {
        let digest = try host.install(build: 5)
        let body = #"{"digest":"\#(digest)"}"#
        let accepted = try CheckDocument(
            try host.send("POST /v1/packages/check", body, peer: ServiceHost.engine).reader)
        #expect(accepted.verdict == .accepted && accepted.app.build == 5 && accepted.lease.hasSuffix("/SHA256SUMS"))
        #expect(FileManager.default.fileExists(atPath: accepted.lease))
        let unknown = #"{"digest":"\#(String(repeating: "0", count: 64))"}"#
        let missing = try host.send("POST /v1/packages/check", unknown)
        #expect(missing.status == 404 && missing.code == "notInstalled")
        let list = ServiceHost.list(1) { $0.keys = [TestKey.release.publicKey.hash] }
        #expect(try host.send("POST /v1/revocations", list, peer: ServiceHost.admin).status == 200)
        let answer = try host.send("POST /v1/packages/check", body)
        let refused = try CheckDocument(answer.reader)
        #expect(answer.status == 200 && refused.verdict == .refused && refused.code == "keyRevoked")
        #expect(refused.app == accepted.app && refused.directory == accepted.directory)
    }

    @Test("the bytes of an answer to check are those of its document", arguments: ["/a", "/a \"b\" \\ \u{7F}ü\n"])
    func checkBytes(_ state: String) throws {
        let digest = try #require(Digest(hex: try host.install(build: 5)))
        let package = try #require(try host.core.store.read { try $0.installedPackage(digest) })
        let document = CheckDocument(package, directory: "\(state)/\(package.tree)", refusal: nil)
        let answer = CheckAnswer.accepted(package, state: state)
        #expect(answer.body == Array(JSONLine.text(document.object).utf8))
    }

    @Test("without a root nothing is decided: 503, and health says why")
    func noRoots() throws {
        let host = try ServiceHost(roots: [])
        for request in ["verify", "open"] {
            let answer = try host.send("POST /v1/packages/\(request)", package: ServiceHost.package(build: 5))
            #expect(answer.status == 503 && answer.code == "noTrustedRoots" && answer.header("Retry-After") != nil)
        }
        let health = try host.send("GET /v1/health")
        #expect(health.status == 503 && health.code == "noTrustedRoots")
    }

    @Test("what cannot be opened is one 404, what is no file 400, what is too large 413", .rules("API-5", "STO-10"))
    func paths() throws {
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        symlink("/proc/self/fd/0", host.directory.path + "/magic")
        mkfifo(host.directory.path + "/fifo", 0o666)
        let long = "/" + String(repeating: "x", count: 5000)
        var bodies: Set<[UInt8]> = []
        for missing in [
            path + "x", path + "/x", host.directory.path + "/magic", long, host.directory.path + "/state/trust.sqlite",
        ] {
            let answer = try host.send("POST /v1/packages/verify", json(missing))
            #expect(answer.status == 404 && answer.code == "noSuchFile", "\(missing): \(answer.text)")
            bodies.insert(answer.response.body)
        }
        #expect(bodies.count == 1)
        for odd in [host.directory.path + "/fifo", host.directory.path] {
            let answer = try host.send("POST /v1/packages/open", json(odd))
            #expect(answer.status == 400 && answer.code == "notARegularFile", "\(odd): \(answer.text)")
        }
        let small = try ServiceHost(settings: ServiceSettings(maximumPackageBytes: 100, workers: 1))
        #expect(try small.send("POST /v1/packages/verify", json(path)).code == "tooLarge")
    }

    @Test("a file is opened with the caller's rights, or not at all", .attack("L8"), .rules("API-5", "STO-16"))
    func callersRights() throws {
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        let stranger = try host.send("POST /v1/packages/verify", json(path), peer: ServiceHost.other)
        guard FileSystemRights.canBeAssumed else {
            #expect(stranger.status == 404 && stranger.code == "noSuchFile")
            return
        }
        #expect(stranger.status == 200)
        chmod(path, 0o600)
        let secret = try host.send("POST /v1/packages/verify", json(path), peer: ServiceHost.other)
        let missing = try host.send("POST /v1/packages/verify", json(path + "x"), peer: ServiceHost.other)
        #expect(secret.status == 404 && secret.response.body == missing.response.body)
        chown(path, 0, 1004)
        chmod(path, 0o640)
        #expect(try host.send("POST /v1/packages/verify", json(path), peer: ServiceHost.other).status == 200)
    }

    @Test("without others' rights the daemon opens paths for its own user only", .rules("API-5", "STO-16"))
    func ownUserOnly() throws {
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        let files = CallersFiles(ownUser: ServiceHost.own.uid, maximumBytes: 1 << 20, takesOnRights: { false })
        #expect(try files.open(path, for: ServiceHost.own, state: host.core.state).length > 0)
        let error = #expect(throws: Trouble.self) {
            try files.open(path, for: ServiceHost.other, state: host.core.state)
        }
        #expect(error?.code == .noSuchFile)
    }

    @Test("a body that ends early is a decision, one whose client leaves is not")
    func cutBodies() throws {
        let package = ServiceHost.package(build: 5)
        let short = try host.send("POST /v1/packages/open", package: Array(package.dropLast(10)))
        #expect(short.status == 403 && short.code == "truncated")
        let head = ServiceHost.head("POST /v1/packages/open", type: "application/octet-stream", hasBody: true)
        guard case .stream(let limit, let start) = host.service.plan(head) else {
            Issue.record("a package is streamed")
            return
        }
        #expect(limit == host.service.settings.maximumPackageBytes)
        let body = BodyReader()
        let outcome = start(body)
        body.add(Array(package.prefix(1000)))
        body.finish(Trouble(.cancelled, "the client has left"))
        #expect(Answer(try ServiceHost.wait(for: outcome)).code == "stopping")
        #expect(try host.core.store.read { try $0.acceptedBuildCount() } == 0)
    }

    @Test("work whose client left before it began is not done")
    func abandonedWork() throws {
        let host = try ServiceHost(settings: ServiceSettings(maximumPackageBytes: 1 << 30, workers: 1))
        let gate = Locked(false)
        try host.service.queue.add(to: .files, for: 1) {
            while !gate.withLock({ $0 }) { MonotonicTime.sleep(nanoseconds: 1_000_000) }
        }
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        let head = ServiceHost.head("POST /v1/packages/open", type: "application/json", hasBody: true)
        guard case .gather(_, let then) = host.service.plan(head),
            case .later(let pending) = then(Array(json(path).utf8))
        else {
            Issue.record("an open is answered later")
            return
        }
        pending.abandon()
        gate.withLock { $0 = true }
        host.service.stop()
        #expect(pending.response == nil)
        #expect(try host.core.store.read { try $0.acceptedBuildCount() } == 0)
    }

    @Test("what was opened stays leased for a while, each tree once")
    func leases() throws {
        for build in [5, 5, 6] as [Int64] {
            _ = try host.send("POST /v1/packages/open", package: ServiceHost.package(build: build))
        }
        #expect(host.service.leases.count == 2)
        let pruned = try PruningDocument(
            try host.send("POST /v1/store/remove", #"{"app":"com.example.orders"}"#).reader)
        #expect(pruned.removed.isEmpty && pruned.inUse.map(\.build) == [5, 6])
    }
}
