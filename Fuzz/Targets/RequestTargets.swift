import Glibc
import NshTrust
import NshTrustClient
import NshTrustWire
import TestSupport

@testable import NshTrustd

extension FuzzTarget {
    /// A request: a line `METHOD TARGET`, a line with a letter for the peer, a letter for odd heads and the content type,
    /// then the body.
    static let request = FuzzTarget(
        "request", maximumLength: 8 << 10, dictionary: "http",
        seeds: { _ in
            let digest = DaemonHost.installed
            var seeds = Routes.table.map { route in
                let target = route.path.replacing("{id}", with: "com.example.orders")
                let type = route.body == .none ? "" : "application/json"
                return Seed(route.operation, "\(route.method.rawValue) \(target)\no \(type)\n")
            }
            seeds += [
                Seed(
                    "check", "POST /v1/packages/check\ne application/json\n{\"digest\":\"\(digest)\"}", outcome: "200"),
                Seed(
                    "check-spaced", "POST /v1/packages/check\no application/json\n{ \"digest\" : \"\(digest)\" }",
                    outcome: "200"),
                Seed(
                    "check-other", "POST /v1/packages/check\nx application/json\n{\"digest\":\"\(digest)\"}",
                    outcome: "403"),
                Seed("prune", "POST /v1/store/prune\na application/json\n{\"keep\":2,\"dryRun\":true}", outcome: "200"),
                Seed(
                    "remove", "POST /v1/store/remove\na application/json\n{\"app\":\"com.example.orders\"}",
                    outcome: "200"),
                Seed(
                    "path", "POST /v1/packages/verify\no application/json\n{\"path\":\"/nonexistent\"}", outcome: "404"),
                Seed("events", "GET /v1/events?after=0&limit=10\nx \n", outcome: "200"),
                Seed("follow", "GET /v1/events?follow=true\nx \n", outcome: "events"),
                Seed("encoded", "GET /v1/apps/com%2Eexample.orders\nx \n", outcome: "200"),
                Seed("slashes", "GET /v1//status\nx \n", outcome: "404"),
                Seed("browser", "GET /v1/status\nxb\n", outcome: "403"),
            ]
            let upload = "POST /v1/packages/verify\no application/octet-stream\n"
            return seeds + [Seed("upload", Array(upload.utf8) + PackageBuilder().build(), outcome: "200")]
        },
        judge: { input in
            let parts = input.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return "short" }
            let words = parts[0].split(separator: 0x20, maxSplits: 1)
            guard words.count == 2, let method = String(validating: words[0], as: UTF8.self) else { return "short" }
            let target = NshTrustd.RequestTarget(words[1])
            let letters = parts[1].prefix { $0 != 0x20 }
            let type = String(decoding: parts[1].dropFirst(letters.count + 1), as: UTF8.self)
            let body = Array(parts[2])
            let head = RequestHead(
                method: method, path: target.path, query: target.query, contentType: type.isEmpty ? nil : type,
                hasBody: !body.isEmpty, host: letters.contains(UInt8(ascii: "h")) ? "example.org" : "localhost",
                isFromBrowser: letters.contains(UInt8(ascii: "b")),
                lastEventID: letters.contains(UInt8(ascii: "l")) ? type : nil,
                peer: letters.first.flatMap { DaemonHost.peers[$0] })
            let host = try DaemonHost.shared()
            guard let response = try host.send(head, body) else { return "events" }
            try check(response, of: head, by: letters.first ?? 0)
            if method == "POST", response.status == 200, head.path?.last != "check", head.path?.last != "verify" {
                DaemonHost.renew()
            }
            return "\(response.status)"
        })

    /// What every answer must be.
    private static func check(_ response: Response, of head: RequestHead, by letter: UInt8) throws {
        let found = head.path.flatMap { try? Routes.find(head.method, $0) }
        if let found {
            let route = Routes.table[found.number]
            try require(route.statuses.contains(response.status), "\(route.operation) answers \(response.status)")
            let isAllowed: Bool =
                switch route.permission {
                case .any: true
                case .engine: letter != UInt8(ascii: "x")
                case .admin: [UInt8(ascii: "o"), UInt8(ascii: "a")].contains(letter)
                }
            try require(isAllowed || response.status >= 400, "\(route.operation) was answered to a stranger")
        } else {
            try require([403, 404, 405].contains(response.status), "no route, and yet \(response.status)")
        }
        try require(head.peer != nil || response.status == 403, "nobody was answered")
        try require(!head.isFromBrowser || response.status == 403, "a browser was answered")
        if response.status >= 400 {
            try require(response.contentType == ProblemDocument.contentType, "a problem is \(response.contentType)")
            let problem = try ProblemDocument(WireReader(parsing: response.body, subject: "the answer"))
            try require(problem.status == response.status, "a problem says another status than its answer")
            let isKnown =
                Problem.Code(rawValue: problem.code) != nil || RefusalCode(rawValue: problem.code) != nil
                || TroubleCode(rawValue: problem.code) != nil
            try require(isKnown, "the code \(problem.code) is not known")
            try require(response.status != 500, "the daemon met what cannot be: \(problem.detail)")
            try requireSafe(problem.detail)
        } else if response.contentType == "application/json" {
            _ = try WireReader(parsing: response.body, subject: "the answer")
        }
    }

    /// Bytes that a client sends on a connection of its own, through libmicrohttpd and the look at the head.
    static let head = FuzzTarget(
        "head", maximumLength: 4 << 10, dictionary: "http",
        seeds: { _ in
            [
                "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
                "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
                "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                "GET /a%2Fb?x=%00&y HTTP/1.1\r\nHost: localhost\r\nX: y\r\n z\r\n\r\n",
                "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
                "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "GET /a HTTP/1.1\nHost: h\n\n", "GET\t/a HTTP/1.1\r\nHost : h\r\n\r\n", "GET /a  HTTP/1.1\r\n\r\n",
                "PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
            ].enumerated().map { Seed("head-\($0.offset)", $0.element) }
        },
        judge: { input in
            let server = try ListeningDaemon.shared.get()
            let (answers, heads) = try server.exchange(input)
            try ListeningDaemon.check(answers: answers, heads: heads, sent: input)
            return heads.isEmpty ? (answers.isEmpty ? "silence" : "refused") : "heard"
        })
}
