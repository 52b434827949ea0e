import Glibc
import NshTrust
import Testing

@testable import NshTrustd

struct RequestTests {
    private let get = "GET /a/b HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func post(_ body: String) -> String {
        "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test
    func manyRequestsUseOneConnection() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        for number in 0..<50 {
            #expect(try client.ask(get).text == "a|b")
            #expect(try client.ask(post("body \(number)")).text == "body \(number)")
        }
        #expect(server.server.connectionCount == 1)
        #expect(server.count(.connectionOpened) == 1)
    }

    @Test
    func eachRequestIsTakenForWhatItAsks() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        let long = String(repeating: "x", count: 300)
        for path in ["a", "a", "b", "a?b", "aa", "a", long, long, "a", "a/../b", "a/../b", "a"] {
            let shown = path.contains("..") ? "no path" : path.prefix { $0 != "?" }.description
            #expect(try client.ask("GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n").text == shown)
        }
    }

    @Test
    func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        try client.send((0..<40).map { post("\($0)") + get }.joined())
        for number in 0..<40 {
            #expect(try client.readMessage().text == "\(number)")
            #expect(try client.readMessage().text == "a|b")
        }
    }

    @Test
    func aChunkedBodyIsGathered() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        let chunks = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        for end in ["0\r\n\r\n", "0\r\nX-Trailer: 1\r\n\r\n"] {
            #expect(try client.ask(chunks + "3\r\nabc\r\n5;ext=1\r\ndefgh\r\n" + end).text == "abcdefgh")
        }
    }

    @Test
    func aBodyThatArrivesByteByByteIsGathered() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        for byte in Array(post("slowly").utf8) {
            try client.send([byte])
            usleep(200)
        }
        #expect(try client.readMessage().text == "slowly")
    }

    @Test
    func theHeadTellsWhatTheServiceDecidesOn() throws {
        let seen = Box<RequestHead>()
        let server = try TestServer(
            TestService { head in
                seen.set(head)
                return .answer(.text(200, ""))
            })
        _ = try server.ask(
            "POST /v1/apps/%C3%A4%2f?after=1%262&x HTTP/1.1\r\nhost: localhost\r\ncontent-TYPE: Text/Plain ; a=b\r\n"
                + "Last-Event-ID: 7\r\nSec-Fetch-Site: none\r\nContent-Length: 2\r\n\r\nab")
        let head = try #require(seen.wait())
        #expect(head.method == "POST")
        #expect(head.path == ["v1", "apps", "ä/"])
        #expect(head.query?.map(\.name) == ["after", "x"])
        #expect(head.query?.map(\.value) == ["1&2", ""])
        #expect(head.contentType == "text/plain")
        #expect(head.hasBody)
        #expect(head.host == "localhost")
        #expect(head.isFromBrowser)
        #expect(head.lastEventID == "7")
        #expect(head.peer?.uid == getuid())
        #expect(head.peer?.gid == getgid())
        #expect(head.peer?.pid == getpid())
    }

    @Test
    func headersAndStatusOfAnAnswerReachTheClient() throws {
        let server = try TestServer(
            TestService { _ in
                .answer(
                    Response(
                        status: 405, contentType: "application/problem+json", body: [0x7b, 0x7d],
                        headers: [("Allow", "GET"), ("Retry-After", "1")], closesConnection: true))
            })
        let client = try server.client()
        let answer = try client.ask(get)
        #expect(answer.status == 405)
        #expect(answer.headers["allow"] == "GET")
        #expect(answer.headers["retry-after"] == "1")
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.closes)
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func aBodyThatNobodyWantsIsReadAndTheConnectionGoesOn() throws {
        let server = try TestServer(TestService { _ in .answer(.text(404, "no")) })
        let client = try server.client()
        let body = String(repeating: "x", count: 1 << 20)
        #expect(try client.ask(post(body)).status == 404)
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        #expect(try client.ask(chunked).status == 404)
        #expect(try client.ask(get).status == 404)
    }

    @Test(arguments: [true, false])
    func aLongBodyThatNobodyWantsIsAnsweredAtOnce(isChunked: Bool) throws {
        let server = try TestServer(TestService { _ in .answer(.text(404, "no")) })
        let client = try server.client()
        let length = 3 << 20
        if isChunked {
            try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n300000\r\n")
        } else {
            try client.send("POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\n")
            #expect(try client.readMessage().status == 404)
        }
        // A client that writes all of it before it reads must not fail.
        try client.send([UInt8](repeating: 0, count: length))
        if isChunked {
            try client.send("\r\n0\r\n\r\n")
            let answer = try client.readMessage()
            #expect(answer.status == 404)
            #expect(answer.closes)
        }
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func aClientThatWaitsForAGoGetsTheRefusalInstead() throws {
        let server = try TestServer(TestService { _ in .answer(.text(403, "no")) })
        let client = try server.client()
        let answer = try client.ask("POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(answer.status == 403)
        #expect(answer.closes)
    }

    @Test
    func aClientThatWaitsForAGoIsToldToSend() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        #expect(try client.ask("hello").text == "hello")
    }

    @Test
    func aGatheredBodyHasItsLimit() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        let limit = 64 << 10
        #expect(try client.ask(post(String(repeating: "x", count: limit))).body.count == limit)
        #expect(try client.ask(post(String(repeating: "x", count: limit + 1))).status == 413)
        let chunk = String(limit, radix: 16) + "\r\n" + String(repeating: "x", count: limit) + "\r\n"
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try client.ask(head + chunk + "0\r\n\r\n").body.count == limit)
        #expect(try client.ask(head + chunk + "1\r\nx\r\n0\r\n\r\n").status == 413)
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func clientsOfTheOlderProtocolAreServed() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        #expect(try client.ask("GET /old HTTP/1.0\r\n\r\n").text == "old")
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func aHalfClosedClientIsAnswered() throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        try client.send(get)
        client.halfClose()
        #expect(try client.readMessage().text == "a|b")
    }
}
