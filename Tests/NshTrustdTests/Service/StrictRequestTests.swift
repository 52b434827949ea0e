import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

@Suite("Requests are taken strictly")
struct StrictRequestTests {
    @Test(
        "a body that is not the document is 400 and names the member",
        arguments: [
            ("packages/check", #"{"digest":"00"}"#, "digest"), ("packages/check", #"{"digest":1}"#, "digest"),
            ("packages/check", #"{"digest":null}"#, "digest"), ("packages/check", "{}", "digest"),
            ("packages/check", #"{"digest":"x","digest":"x"}"#, "digest"),
            ("packages/check", #"{"Digest":""}"#, "Digest"),
            ("packages/check", "", nil), ("packages/check", "[]", nil), ("packages/check", "{", nil),
            ("packages/check", "{}{}", "digest"), ("packages/check", "\u{FEFF}{}", nil),
            ("packages/open", #"{"path":"/a","force":true}"#, "force"), ("packages/open", #"{"path":"a"}"#, "path"),
            ("packages/open", #"{"path":""}"#, "path"), ("packages/open", #"{"path":"/a\u0000b"}"#, "path"),
            ("packages/verify", #"{"path":["/a"]}"#, "path"),
            ("store/prune", #"{"keep":0}"#, "keep"), ("store/prune", #"{"keep":"1"}"#, "keep"),
            ("store/prune", #"{"keep":1.5}"#, "keep"), ("store/prune", #"{"dryRun":1}"#, "dryRun"),
            ("store/prune", #"{"keep":1e99}"#, "keep"), ("store/prune", #"{"keep":[1]}"#, "keep"),
            ("store/prune", #"{"keep":1,"keep":2}"#, "keep"), ("store/check", #"{"deep":true}"#, "deep"),
            ("store/remove", #"{"app":"nodots"}"#, "app"), ("store/remove", "{}", "app"),
            ("store/forget-root", #"{"key":"ABC"}"#, "key"),
        ] as [(String, String, String?)])
    func strictBodies(_ path: String, _ body: String, _ member: String?) throws {
        let answer = try ServiceHost().send("POST /v1/\(path)", body)
        #expect(answer.status == 400 && answer.code == "badRequest" && answer.member == member, "\(answer.text)")
        #expect(answer.response.contentType == "application/problem+json")
    }

    @Test(
        "a parameter that is not known, comes twice or is no value of its kind is 400 and is named",
        arguments: [
            ("GET /v1/health?verbose=1", "verbose"), ("GET /v1/apps?limit=0", "limit"),
            ("GET /v1/apps?limit=1001", "limit"), ("GET /v1/apps?limit=01", "limit"),
            ("GET /v1/apps?limit=+1", "limit"),
            ("GET /v1/apps?limit=1&limit=1", "limit"), ("GET /v1/apps?limit=", "limit"),
            ("GET /v1/apps?after=x", "after"), ("GET /v1/apps/nodots", "id"), ("GET /v1/apps/a.b?id=a.b", "id"),
            ("GET /v1/events?after=-1", "after"), ("GET /v1/events?after=9007199254740992", "after"),
            ("GET /v1/events?follow=yes", "follow"), ("GET /v1/events?follow=true&limit=0", "limit"),
            ("GET /v1/events?Last-Event-ID=1", "Last-Event-ID"), ("GET /metrics?x", "x"),
        ])
    func strictParameters(_ request: String, _ member: String) throws {
        let answer = try ServiceHost().send(request)
        #expect(answer.status == 400 && answer.code == "badRequest" && answer.member == member, "\(answer.text)")
    }

    @Test("a Last-Event-ID that is no number is 400, with and without following")
    func lastEventID() throws {
        let answer = try ServiceHost().send("GET /v1/events", lastEventID: "x")
        #expect(answer.status == 400 && answer.member == "Last-Event-ID")
    }

    @Test("a query that does not decode is 400")
    func undecodableQuery() throws {
        var head = ServiceHost.head("GET /v1/health")
        head.query = nil
        #expect(try ServiceHost().send(head).status == 400)
    }

    @Test("a body of another type is 415, a missing one 400, a needless one 400, one too long 413")
    func bodies() throws {
        let host = try ServiceHost()
        #expect(try host.send("POST /v1/packages/check", "{}", type: "text/plain").code == "unsupportedMediaType")
        #expect(try host.send("POST /v1/packages/open", "x", type: "text/plain").code == "unsupportedMediaType")
        #expect(try host.send("POST /v1/revocations", "x", type: "application/octet-stream").status == 415)
        #expect(try host.send(ServiceHost.head("POST /v1/store/check")).code == "badRequest")
        #expect(try host.send(ServiceHost.head("POST /v1/packages/open", hasBody: true)).status == 415)
        #expect(try host.send("GET /v1/health", "{}").code == "badRequest")
        let long = #"{"digest":""# + String(repeating: " ", count: 70_000) + #""}"#
        let answer = try host.send("POST /v1/packages/check", long)
        #expect(answer.status == 413 && answer.code == "tooLarge")
    }

    @Test("the quick way of reading a digest and the careful one agree")
    func digests() throws {
        let hex = String(repeating: "0f", count: 32)
        let digest = try #require(Digest(hex: hex))
        for body in ["{\"digest\":\"\(hex)\"}", " { \"digest\" : \"\(hex)\" } ", "{\"\\u0064igest\":\"\(hex)\"}"] {
            #expect(try RequestBody.digest(Array(body.utf8)) == digest)
        }
        for hex in [hex.uppercased(), String(hex.dropLast()) + "g", hex + "00"] {
            #expect(throws: Problem.self) { _ = try RequestBody.digest(Array("{\"digest\":\"\(hex)\"}".utf8)) }
        }
    }

    @Test("what the server refuses is a problem document")
    func serverRefusals() throws {
        let service = try ServiceHost().service
        let expected: [(ServerRefusal, Int, String)] = [
            (.bodyTooLarge(limit: 5), 413, "tooLarge"), (.tooManyConnections, 503, "overloaded"),
            (.stopping, 503, "stopping"), (.malformed("two lengths"), 400, "badRequest"),
        ]
        for (refusal, status, code) in expected {
            let answer = Answer(service.refusal(refusal))
            #expect(answer.status == status && answer.code == code && answer.response.closesConnection)
            #expect((answer.header("Retry-After") != nil) == (status == 503))
        }
    }
}

@Suite("Problems")
struct ProblemTests {
    /// Written out by hand.
    private static let expected: [String: Int] = [
        "alreadyRun": 500, "badRequest": 400, "cancelled": 500, "exists": 500, "ioFailure": 500, "noSuchFile": 404,
        "noTrustedRoots": 503, "notARegularFile": 400, "notInstalled": 404, "storeBusy": 503, "storeCorrupt": 500,
        "storeFull": 507, "storeNewer": 500, "storeUnsafe": 500, "wrongPassphrase": 500, "eventsGone": 410,
        "forbidden": 403, "methodNotAllowed": 405, "notFound": 404, "overloaded": 503, "stopping": 503, "tooLarge": 413,
        "unknownApp": 404, "unsupportedMediaType": 415,
    ]

    @Test("each code has its status, every refusal 403", .attack("K17", "M15"))
    func statuses() {
        for code in RefusalCode.allCases { #expect(Problem.status(of: code.rawValue) == 403) }
        let own = TroubleCode.allCases.map(\.rawValue) + Problem.Code.allCases.map(\.rawValue)
        #expect(Set(own) == Set(Self.expected.keys))
        for (code, status) in Self.expected { #expect(Problem.status(of: code) == status, "\(code)") }
    }

    @Test("a document has the members of RFC 9457, a code, and Retry-After when it is 503")
    func document() throws {
        let answer = Answer(Problem(Trouble(.storeBusy, "another process writes")).response)
        #expect(answer.status == 503 && answer.header("Retry-After") == "1")
        #expect(
            answer.text
                == #"{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"another process writes","code":"storeBusy"}"#
        )
    }

    @Test("an error that nobody expected is 500 and escaped; cancelled work is a stopping daemon")
    func unexpected() {
        struct Odd: Error, CustomStringConvertible { let description = "line\nend" }
        let problem = Problem(Odd())
        #expect(problem.status == 500 && problem.code == "ioFailure" && !problem.detail.contains("\n"))
        #expect(Problem(Trouble(.cancelled, "")).code == "stopping")
    }

    @Test("every status that is given has a phrase, and every code is counted")
    func phrases() {
        for status in Metrics.statuses where status != 500 {
            #expect(Problem.phrase(of: status) != Problem.phrase(of: 500))
        }
        for code in Self.expected.keys { #expect(Metrics.codes.contains(code)) }
    }
}
