import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// Callers who ask for more than they may, in words that two parsers could read in two ways.
@Suite struct CallerAttacks {
    private let host: ServiceHost

    init() throws { host = try ServiceHost() }

    private var contents: StoreContents {
        get throws { try StoreContents(of: host.directory.path + "/state") }
    }

    @Test(
        .attack("B2", "C13", "L7"), .rules("JSN-4"),
        arguments: [
            #""allowDowngrade":true"#, #""allow_downgrade":true"#, #""force":true"#, #""allowStale":true"#,
            #""expiry":"atSigningOnly""#, #""rootThreshold":0"#, #""uid":0"#, #""roots":["/tmp/a.pub"]"#,
            #""Path":"/x""#,
            #""at":0"#, #""runtime":"9""#, #""--force":"""#,
        ])
    func noRequestLoosensThePolicy(_ member: String) throws {
        try host.install(build: 6)
        let path = try host.file("a.nshpkg", ServiceHost.package(build: 5))
        let before = try contents
        for peer in [ServiceHost.engine, .init(uid: 1001, gid: 1001, pid: 11, groups: [])] {
            for route in ["open", "verify"] {
                let answer = try host.send("POST /v1/packages/\(route)", "{\"path\":\"\(path)\",\(member)}", peer: peer)
                #expect(answer.status == 400 && answer.code == "badRequest", "\(answer.text)")
            }
        }
        #expect(try contents == before)
        for parameter in ["allowDowngrade=true", "force=1", "threshold=0", "at=0", "allow-stale=true"] {
            let answer = try host.send(
                "POST /v1/packages/open?\(parameter)", "{\"path\":\"\(path)\"}", peer: ServiceHost.engine)
            #expect(answer.status == 400 && answer.code == "badRequest", "\(answer.text)")
        }
        #expect(try contents == before)
        // Without them the answer is the store's.
        let answer = try host.send(
            "POST /v1/packages/open", package: ServiceHost.package(build: 5), peer: ServiceHost.engine)
        #expect(answer.status == 403 && answer.code == "rolledBack")
    }

    @Test(
        .attack("L7", "D6"),
        arguments: [
            "-rf", "--state=/tmp", "--", "-", "./a", "../a", "a/b", "~/a", "file:///a", "\\\\host\\a", "C:\\a", " /a",
            "",
            "@abstract", "http://localhost/a",
        ])
    func aPathIsAbsoluteAndNothingElse(_ path: String) throws {
        let body = JSONValue.object(["path": .text(path)]).serialized
        for route in ["open", "verify"] {
            let answer = try host.send("POST /v1/packages/\(route)", String(decoding: body, as: UTF8.self))
            #expect(answer.status == 400 && answer.member == "path", "\(answer.text)")
        }
    }

    @Test(.attack("L8")) func errorsTellNoMoreThanTheCallerCouldLearn() throws {
        let hidden = host.directory.path + "/hidden"
        mkdir(hidden, 0o700)
        try Data(ServiceHost.package(build: 5)).write(to: URL(fileURLWithPath: hidden + "/a.nshpkg"))
        host.directory.link("link.nshpkg", to: hidden + "/a.nshpkg")
        var answers: Set<[UInt8]> = []
        for path in [
            hidden + "/a.nshpkg", hidden + "/b.nshpkg", hidden + "/a.nshpkg/x", host.directory.path + "/link.nshpkg",
            "/proc/1/root/etc/shadow", "/proc/self/mem", "/proc/self/status", "/nowhere/at/all",
            host.directory.path + "/state/trust.sqlite",
        ] {
            let answer = try host.send("POST /v1/packages/verify", "{\"path\":\"\(path)\"}", peer: ServiceHost.other)
            #expect(answer.status == 404 && answer.code == "noSuchFile", "\(path): \(answer.text)")
            answers.insert(answer.response.body)
        }
        #expect(answers.count == 1, "one answer for all of them")
    }

    @Test(.attack("L24", "L6")) func whoMayOpenMayNotChangeThePolicy() throws {
        try host.install(build: 6)
        let before = try contents
        let list = ServiceHost.list(1) { $0.keys = [TestKey.release.publicKey.hash] }
        for peer in [ServiceHost.engine, ServiceHost.other] {
            for (request, body) in [
                ("POST /v1/revocations", list), ("POST /v1/store/prune", "{}"),
                ("POST /v1/store/remove", #"{"app":"com.example.orders"}"#), ("POST /v1/store/import", "{}"),
                ("POST /v1/store/forget-root", "{\"key\":\"\(TestKey.root.publicKey.hash.hex)\"}"),
            ] {
                let answer = try host.send(request, body, peer: peer)
                #expect(answer.status == 403 && answer.code == "forbidden", "\(request): \(answer.text)")
            }
            #expect(try host.send("GET /v1/store/export", peer: peer).status == 403)
        }
        #expect(try contents == before)
    }

    @Test(.attack("L25", "L6")) func whoCannotBeToldApartIsNobody() throws {
        for request in [
            "GET /v1/health", "GET /v1/apps", "POST /v1/packages/open", "POST /v1/revocations", "GET /metrics",
        ] {
            let answer = try host.send(ServiceHost.head(request, peer: nil, hasBody: request.hasPrefix("POST")))
            #expect(answer.status == 403 && answer.code == "forbidden", "\(request): \(answer.text)")
        }
    }

    @Test(.attack("B20", "L6"), .rules("POL-14", "POL-17", "POL-18")) func everyDoorGivesTheSameVerdict() throws {
        var hostile: [(PackageBuilder, RefusalCode)] = []
        func add(_ code: RefusalCode, _ edit: (inout PackageBuilder) -> Void) {
            var package = PackageBuilder(build: 60)
            edit(&package)
            hostile.append((package, code))
        }
        add(.unsupportedFormat) { $0.editFile = { $0[0] ^= 1 } }
        add(.truncated) { $0.editFile = { $0.removeLast() } }
        add(.trailingData) { $0.editFile = { $0.append(0) } }
        add(.malformed) { $0.editCertificateEnvelope = { $0[0] = 0x20 } }
        add(.untrustedRoot) { $0.certifiedBy = [.stranger] }
        add(.badSignature) { $0.signedBy = [.stranger] }
        add(.limitExceeded) { $0.editHeader = { $0.payload.files = 100_001 } }
        add(.appNotCertified) { $0.app.id = PackageBuilder.id("org.elsewhere.app") }
        add(.signedOutsideWindow) { $0.signedAt = $0.certificate.notBefore - 1 }
        add(.signedInFuture) { $0.signedAt = PackageBuilder.now + 301 }
        add(.certificateExpired) { $0.certificate.notAfter = PackageBuilder.now - 1 }
        add(.publisherChanged) { $0.certificate.publisher = PackageBuilder.text("Somebody Else") }
        add(.rolledBack) { $0.app.build = 49 }
        add(.buildConflict) {
            $0.app.build = 50; $0.files["bundle.js"] = [0x3B]
        }
        add(.payloadCorrupt) { $0.damagePayload = { $0[700] ^= 1 } }
        add(.unsafeMember) { $0.editMembers = { $0[2].kind = 0x32 } }
        add(.unsafePath) { $0.files["../x"] = [1] }
        add(.manifestMismatch) { $0.editMembers = { $0.removeLast() } }
        add(.contentNotCertified) {
            $0.certificate.content = [.bytecode]; $0.certificate.statesContent = true
        }
        try host.install(build: 50)
        let before = try contents
        for (number, (package, code)) in hostile.enumerated() {
            let bytes = package.build()
            let path = try host.file("hostile-\(number).nshpkg", bytes)
            let doors: [(name: String, code: () throws -> String?)] = [
                ("library, verify", { AttackHost.code { try self.host.core.verify(path: path) }?.rawValue }),
                ("library, open", { AttackHost.code { try self.host.core.open(path: path) }?.rawValue }),
                ("verify by path", { try self.host.send("POST /v1/packages/verify", "{\"path\":\"\(path)\"}").code }),
                ("open by path", { try self.host.send("POST /v1/packages/open", "{\"path\":\"\(path)\"}").code }),
                ("verify of a body", { try self.host.send("POST /v1/packages/verify", package: bytes).code }),
                ("open of a body", { try self.host.send("POST /v1/packages/open", package: bytes, pieces: 511).code }),
            ]
            for door in doors { #expect(try door.code() == code.rawValue, "\(door.name) of \(number)") }
        }
        let after = try contents
        #expect(after.rows == before.rows && after.files == before.files)
    }

    @Test(.attack("M17", "B15"), .rules("POL-23", "POL-8")) func whatRanYesterdayIsCheckedByTheClockOfNow() throws {
        let digest = try host.install(build: 5)
        let body = "{\"digest\":\"\(digest)\"}"
        #expect(try host.send("POST /v1/packages/check", body).text("verdict") == "accepted")
        _ = try host.core.applyRevocations(Array(ServiceHost.list(1) { $0.expiresAt = ServiceHost.now - 1 }.utf8))
        let answer = try host.send("POST /v1/packages/check", body)
        #expect(answer.text("verdict") == "refused" && answer.code == "revocationsStale", "\(answer.text)")
    }
}
