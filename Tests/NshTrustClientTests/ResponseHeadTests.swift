import NshTrust
import NshTrustClient
import Testing

struct ResponseHeadTests {
    private func head(_ lines: String...) throws(Trouble) -> ResponseHead {
        try ResponseHead(parsing: lines.map { $0 + "\r\n" }.joined().utf8)
    }

    @Test func findsTheEndOfABody() throws {
        #expect(try head("HTTP/1.1 200 OK", "Content-Length: 12").framing == .length(12))
        #expect(try head("HTTP/1.1 200", "content-length:0").framing == .none)
        #expect(try head("HTTP/1.1 200 OK", "Transfer-Encoding: Chunked").framing == .chunked)
        #expect(try head("HTTP/1.1 200 OK").framing == .untilClose)
        #expect(try head("HTTP/1.1 204 No Content").framing == .none)
        #expect(try head("HTTP/1.1 100 Continue").framing == .none)
        #expect(try head("HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5").framing == .length(5))
    }

    @Test func keepsAConnectionOnlyWhereThatIsSafe() throws {
        #expect(try head("HTTP/1.1 200 OK", "Content-Length: 1").keepsConnection)
        #expect(try !head("HTTP/1.1 200 OK", "Content-Length: 1", "Connection: Close").keepsConnection)
        #expect(try !head("HTTP/1.1 200 OK").keepsConnection)
        #expect(try !head("HTTP/1.0 200 OK", "Content-Length: 1").keepsConnection)
        #expect(try head("HTTP/1.0 200 OK", "Content-Length: 1", "Connection: keep-alive").keepsConnection)
    }

    @Test func readsTheMediaType() throws {
        let head = try head(
            "HTTP/1.1 503 X", "Content-Type: Application/Problem+JSON; charset=utf-8", "Content-Length: 0")
        #expect(head.contentType == "application/problem+json")
        #expect(head.status == 503)
    }

    @Test(arguments: [
        "", "HTTP/2 200 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 099 X\r\n",
        "HTTP/1.1 600 X\r\n", "GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\nX: y\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n", "HTTP/1.1 200 OK\r\nA b: x\r\n", "HTTP/1.1 200 OK\r\n: x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n",
    ])
    func refusesWhatIsNoAnswer(_ text: String) {
        let trouble = #expect(throws: Trouble.self) { try ResponseHead(parsing: text.utf8) }
        #expect(trouble?.code == .ioFailure)
    }
}
