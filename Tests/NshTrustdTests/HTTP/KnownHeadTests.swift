import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// A head that is planned once for all requests like it, and never for one that only looks like it.
@Suite("Heads that are known", .rules("API-3", "API-4", "API-6"))
struct KnownHeadTests {
    private static let body = #"{"a":1}"#
    fileprivate static let good = [
        "POST /v1/x HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 7",
    ]

    private static func request(_ lines: [String], _ body: String = body) -> String {
        lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// A service that says what it planned, and counts.
    private func server(_ planned: Locked<Int>) throws -> TestServer {
        try TestServer(
            TestService { head in
                let number = planned.withLock { count in
                    count += 1
                    return count
                }
                let path = head.path?.joined(separator: "|") ?? "no path"
                let said = "\(number) \(head.method) \(path) \(head.contentType ?? "") \(head.isFromBrowser)"
                return .repeatable(limit: 7) { body, _ in
                    .answer(.text(200, "\(said) \(String(decoding: body, as: UTF8.self))"))
                }
            })
    }

    @Test("the same head again is not planned again, and its own body counts") func again() throws {
        let planned = Locked(0)
        let server = try server(planned)
        defer { withExtendedLifetime(server) {} }
        let client = try server.client()
        for body in [Self.body, #"{"b":2}"#, Self.body] {
            let answer = try client.ask(Self.request(Self.good, body))
            #expect(answer.text == "1 POST v1|x application/json false \(body)")
        }
        #expect(planned.withLock { $0 } == 1)
    }

    @Test(
        "any other head is looked at as if it were the first",
        arguments: [
            (["POST /v1/y HTTP/1.1"] + KnownHeadTests.good.dropFirst(), "POST v1|y application/json false"),
            (["PUT /v1/x HTTP/1.1"] + KnownHeadTests.good.dropFirst(), "PUT v1|x application/json false"),
            (["POST /v1/%78 HTTP/1.1"] + KnownHeadTests.good.dropFirst(), "POST v1|x application/json false"),
            (["POST /v1/x?q=1 HTTP/1.1"] + KnownHeadTests.good.dropFirst(), "POST v1|x application/json false"),
            (KnownHeadTests.good + ["Origin: http://localhost"], "POST v1|x application/json true"),
            (KnownHeadTests.good.map { $0.replacing("json", with: "yaml") }, "POST v1|x application/yaml false"),
            (
                [KnownHeadTests.good[0], KnownHeadTests.good[3], KnownHeadTests.good[2], KnownHeadTests.good[1]],
                "POST v1|x application/json false"
            ),
        ])
    func another(_ lines: [String], said: String) throws {
        let server = try server(Locked(0))
        defer { withExtendedLifetime(server) {} }
        let client = try server.client()
        _ = try client.ask(Self.request(Self.good))
        #expect(try client.ask(Self.request(lines)).text == "2 \(said) \(Self.body)")
        let third = try client.ask(Self.request(Self.good))
        #expect(third.text.hasSuffix(" POST v1|x application/json false \(Self.body)"))
    }

    @Test("what must not be acted on is refused behind a good one, too")
    func refused() throws {
        let server = try server(Locked(0))
        defer { withExtendedLifetime(server) {} }
        for line in ["Content-Length: 7", "Bad Name: x", "X: a\u{01}b"] {
            let client = try server.client()
            _ = try client.ask(Self.request(Self.good))
            #expect(try client.ask(Self.request(Self.good + [line])).status == 400)
        }
        let client = try server.client()
        _ = try client.ask(Self.request(Self.good))
        let longer = Self.good.dropLast() + ["Content-Length: 8"]
        #expect(try client.ask(Self.request(Array(longer), Self.body + " ")).status == 413)
    }
}
