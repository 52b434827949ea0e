import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

@Suite("Who may send which request")
struct AuthorizationTests {
    /// Written out by hand: who is admitted to each route; everybody else gets 403.
    private static let expected: [(request: String, admitted: String)] = [
        ("GET /v1/health", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        ("GET /v1/status", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        ("GET /metrics", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        ("GET /v1/openapi.json", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        (
            "POST /v1/packages/verify",
            "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"
        ),
        ("POST /v1/packages/open", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup"),
        ("POST /v1/packages/check", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup"),
        ("GET /v1/apps", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        (
            "GET /v1/apps/com.example.orders",
            "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"
        ),
        ("GET /v1/revocations", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        ("POST /v1/revocations", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("GET /v1/events", "root own admin adminByGroup adminBySupplementaryGroup engine engineByGroup other"),
        ("POST /v1/store/check", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("POST /v1/store/prune", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("POST /v1/store/remove", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("POST /v1/store/forget-root", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("GET /v1/store/export", "root own admin adminByGroup adminBySupplementaryGroup"),
        ("POST /v1/store/import", "root own admin adminByGroup adminBySupplementaryGroup"),
    ]

    private static let peers: [(name: String, peer: Peer?)] = [
        ("root", Peer(uid: 0, gid: 0, pid: 1, groups: [])),
        ("own", Peer(uid: 900, gid: 900, pid: 2, groups: [])),
        ("admin", Peer(uid: 1001, gid: 5, pid: 3, groups: [6])),
        ("adminByGroup", Peer(uid: 1010, gid: 2001, pid: 4, groups: [])),
        ("adminBySupplementaryGroup", Peer(uid: 1011, gid: 5, pid: 5, groups: [6, 2001])),
        ("engine", Peer(uid: 1002, gid: 5, pid: 6, groups: [])),
        ("engineByGroup", Peer(uid: 1012, gid: 5, pid: 7, groups: [2002, 6])),
        // The numbers of the granted users are no groups, and the other way round.
        ("other", Peer(uid: 2001, gid: 1001, pid: 8, groups: [1002, 0, 900])),
        ("unmapped", nil),
    ]

    private static let grants = Grants(
        engines: Grants.Holders(users: [1002], groups: [2002]), admins: Grants.Holders(users: [1001], groups: [2001]),
        ownUser: 900)

    @Test(
        "each route admits exactly whom the table written by hand names", .attack("L5", "L6", "L24", "L25"),
        .rules("API-1", "API-2", "API-6"))
    func matrix() throws {
        let host = try ServiceHost()
        let service = try TrustService(
            core: host.core, grants: Self.grants, settings: ServiceSettings(),
            configuration: FixedConfiguration(), log: host.log)
        defer { service.stop() }
        #expect(Self.expected.count == Routes.table.count)
        for (request, admitted) in Self.expected {
            let names = Set(admitted.split(separator: " ").map(String.init))
            for (name, peer) in Self.peers {
                let isPost = request.hasPrefix("POST")
                let head = ServiceHost.head(
                    request, peer: peer, type: isPost ? "application/json" : nil, hasBody: isPost)
                var status = 0
                if case .answer(let response) = service.plan(head) { status = response.status }
                #expect((status != 403) == names.contains(name), "\(request) by \(name)")
            }
        }
    }

    @Test("who is refused learns it before parameters and content type are looked at", .rules("API-4", "API-6"))
    func refusalComesFirst() throws {
        let host = try ServiceHost()
        let answer = try host.send(
            ServiceHost.head("POST /v1/store/prune?x=1", peer: ServiceHost.other, type: "text/plain", hasBody: true))
        #expect(answer.status == 403 && answer.code == "forbidden")
    }

    @Test("a request that looks like a browser's is refused before anything else", .rules("API-3"))
    func browsers() throws {
        let host = try ServiceHost()
        for (name, isFromBrowser) in [("evil.example", false), ("localhost:8080", false), ("localhost", true)] {
            let answer = try host.send(
                ServiceHost.head("GET /nowhere", peer: nil, host: name, isFromBrowser: isFromBrowser))
            #expect(answer.status == 403 && answer.text.contains("browsers"), "\(name)")
        }
        for name in ["localhost", "LOCALHOST", "", nil] {
            #expect(try host.send(ServiceHost.head("GET /v1/health", host: name)).status == 200)
        }
    }

    @Test(
        "identity comes before the path, the path before the method, the method before the permission",
        .rules("API-2", "API-4"))
    func order() throws {
        let host = try ServiceHost()
        #expect(try host.send(ServiceHost.head("GET /nowhere", peer: nil)).status == 403)
        #expect(try host.send(ServiceHost.head("GET /nowhere", peer: ServiceHost.other)).code == "notFound")
        let wrong = try host.send(ServiceHost.head("DELETE /v1/store/prune", peer: ServiceHost.other))
        #expect(wrong.status == 405 && wrong.code == "methodNotAllowed" && wrong.header("Allow") == "POST")
        #expect(try host.send(ServiceHost.head("PUT /v1/revocations")).header("Allow") == "GET, POST")
        #expect(try host.send(ServiceHost.head("get /v1/health")).status == 405)
    }

    @Test(
        "matching is exact", .attack("L16"), .rules("API-4"),
        arguments: ["/v1/Health", "/v1/health/x", "/v1", "/v1/store", "/v2/health", "/v1/apps/a/b"])
    func exactPaths(_ path: String) throws {
        #expect(try ServiceHost().send(ServiceHost.head("GET \(path)")).code == "notFound")
    }

    @Test("a path that does not decode is no path", .rules("API-4"))
    func undecodablePath() throws {
        var head = ServiceHost.head("GET /v1/health")
        head.path = nil
        #expect(try ServiceHost().send(head).code == "notFound")
    }
}
