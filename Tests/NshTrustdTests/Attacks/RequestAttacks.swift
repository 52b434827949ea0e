import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// Requests that lie about their length, that carry odd headers or very long ones, and sockets with telling names.
@Suite struct RequestAttacks {
    /// The service behind the server that the daemon uses.
    private static func server(_ host: ServiceHost) throws -> TestServer {
        try TestServer(TestService { host.service.plan($0) })
    }

    @Test(.attack("L14"), .rules("PAY-2"), arguments: Array(-8...8))
    func aBodyIsTakenAtItsLength(_ difference: Int) throws {
        let host = try ServiceHost()
        let server = try Self.server(host)
        let before = try StoreContents(of: host.directory.path + "/state")
        let package = ServiceHost.package(build: 5)
        let client = try server.client()
        try client.send(
            "POST /v1/packages/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/vnd.nsh.package\r\n"
                + "Content-Length: \(package.count + difference)\r\n\r\n")
        _ = client.sendIfPossible(package)
        if difference > 0 {
            // Whoever leaves before the end has asked nothing.
            client.leave()
            #expect(TestServer.eventually { server.server.connectionCount == 0 })
        } else {
            client.halfClose()
            let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(answer.contains("\"verdict\":\"accepted\"") == (difference == 0), "\(answer)")
            #expect(answer.contains("\"code\":\"truncated\"") == (difference < 0), "\(answer)")
        }
        #expect(try server.ask("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
        #expect(try StoreContents(of: host.directory.path + "/state") == before)
    }

    @Test(
        .attack("L14"),
        arguments: [
            "--boundary\r\n\r\n", "--boundary--",
            "--boundary\r\nContent-Disposition: form-data; name=\"package\"\r\n\r\nx\r\n--boundary--",
        ])
    func aFormIsNoPackage(_ body: String) throws {
        let host = try ServiceHost()
        let server = try Self.server(host)
        let answer = try server.ask(
            "POST /v1/packages/open HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=boundary\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.status == 415)
    }

    @Test(
        .attack("L18", "L16"),
        arguments: [
            "traceparent: 00-",
            "traceparent: 00-\(String(repeating: "f", count: 32))-\(String(repeating: "0", count: 16))-01",
            "traceparent: zz", "traceparent:", "tracestate: =,=,=", "baggage: a=;;=", "Range: bytes=-",
            "Range: bytes=5-2",
            "Range: bytes=18446744073709551616-", "Range: bytes=0-0,0-0,0-0,0-0", "If-Range: x", "If-None-Match: *",
            "If-Modified-Since: Thu, 99 Foo 0000 99:99:99 GMT", "Accept: */*;q=\u{7F}", "Accept-Encoding: zstd;q=1e400",
            "Connection: close, keep-alive, x", "Upgrade: h2c", "HTTP2-Settings: AAA", "TE: trailers",
            "Cookie: a=b; ;=",
            "Authorization: Basic !!!", "Forwarded: for=\"[::1\"", "X-Forwarded-For: 0",
            "X-HTTP-Method-Override: DELETE",
            "Content-Encoding: gzip", "Expect: 200-maybe", "Content-Range: bytes */*", "Keep-Alive: timeout=-1",
        ])
    func anOddHeaderEndsNothing(_ header: String) throws {
        let host = try ServiceHost()
        let server = try Self.server(host)
        let client = try server.client()
        try client.send("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n\r\n")
        client.halfClose()
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200") || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
        #expect(try server.ask("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
    }

    @Test(.attack("L23"), arguments: [",", ".", ";", "-", "=", "/", "&"])
    func whatIsSplitIsBoundedFirst(_ separator: Character) throws {
        let host = try ServiceHost()
        let server = try Self.server(host)
        let long = String(repeating: separator, count: 10 << 20)
        for head in [
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: a\(long)\r\n\r\n",
            "GET /v1/apps?after=\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ] {
            let client = try server.client()
            _ = client.sendIfPossible(Array(head.utf8))
            let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(200))")
        }
        let body = "{\"digest\":\"\(long)\"}"
        let client = try server.client()
        _ = client.sendIfPossible(
            Array(
                ("POST /v1/packages/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8))
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 413"), "\(answer.prefix(200))")
        #expect(try server.ask("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
    }

    @Test(.attack("L1"), arguments: ["c;uid=0;", "c uid=0 gid=0 pid=1", "c@0", "c\u{1}uid=0"])
    func theNameOfTheCallersSocketSaysNothing(_ name: String) throws {
        let seen = Box<Peer?>()
        let server = try TestServer(
            TestService { head in
                seen.set(head.peer)
                return .answer(.text(200, "ok"))
            })
        let directory = try TemporaryDirectory()
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(UnixAddress.with("\(directory.path)/\(name)") { bind(descriptor, $0, $1) } == 0)
        #expect(UnixAddress.with(server.path) { connect(descriptor, $0, $1) } == 0)
        let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        #expect(send(descriptor, request, request.count, 0) == request.count)
        let found = try #require(seen.wait())
        let peer = try #require(found)
        #expect(peer.uid == getuid() && peer.gid == getgid() && peer.pid == getpid())
    }

    @Test(.attack("L17", "I9"), .rules("LIM-19")) func manyIdsMakeNoManyMetrics() throws {
        let host = try ServiceHost()
        func lines() throws -> Int { try host.send("GET /metrics").text.split(separator: "\n").count }
        _ = try host.send("GET /v1/apps/com.example.first")
        _ = try host.send("GET /nowhere")
        _ = try lines()
        let before = try lines()
        for number in 0..<3000 {
            _ = try host.send("GET /v1/apps/com.example.a\(number)")
            _ = try host.send("GET /v1/nowhere/\(number)")
        }
        #expect(try lines() == before)
    }
}
