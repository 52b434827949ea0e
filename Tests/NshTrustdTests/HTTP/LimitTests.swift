import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// Clients that are slow, silent, many or wrong.
struct LimitTests {
    private let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private var quick: ServerLimits {
        var limits = ServerLimits()
        limits.housekeepingSeconds = 0.02
        return limits
    }

    @Test(arguments: ["", "GET", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: b\r\n"])
    func aHeadHasToArriveInTime(beginning: String) throws {
        var limits = quick
        limits.headSeconds = 0.2
        let server = try TestServer(.echo, limits)
        let client = try server.client()
        try client.send(beginning)
        #expect(try client.readToEnd().isEmpty)
        #expect(TestServer.eventually { server.count(.deadlinePassed(.head)) == 1 })
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
    }

    @Test(.attack("L12"))
    func aHeadThatTricklesIsNotInTime() throws {
        var limits = quick
        limits.headSeconds = 0.3
        let server = try TestServer(.echo, limits)
        let client = try server.client()
        var sent = 0
        while sent < 200, client.sendIfPossible([0x41]) {
            sent += 1
            usleep(20_000)
        }
        #expect(sent < 100)
    }

    @Test
    func theTimeForAHeadBeginsAgainWithEachAnswer() throws {
        var limits = quick
        limits.headSeconds = 0.4
        let server = try TestServer(.echo, limits)
        let client = try server.client()
        for _ in 0..<4 {
            usleep(200_000)
            #expect(try client.ask(get).status == 200)
        }
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func aGatheredBodyHasToArriveInTime() throws {
        var limits = quick
        limits.gatheredBodySeconds = 0.2
        let server = try TestServer(.echo, limits)
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        #expect(try client.readToEnd().isEmpty)
        #expect(TestServer.eventually { server.count(.deadlinePassed(.body)) == 1 })
    }

    @Test(.attack("L12"))
    func aStreamedBodyHasToKeepItsSpeed() throws {
        var limits = quick
        limits.streamGraceSeconds = 0.2
        let ended = Box<TroubleCode>()
        let server = try TestServer(
            TestService { _ in
                .stream(limit: 1 << 40) { body in
                    let pending = PendingAnswer()
                    OwnThread.run {
                        do throws(Trouble) {
                            while try body.next() != nil {}
                        } catch {
                            ended.set(error.code)
                        }
                    }
                    return .later(pending)
                }
            }, limits)
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nabc")
        #expect(try client.readToEnd().isEmpty)
        #expect(ended.wait() == .cancelled)
    }

    @Test
    func anAnswerHasToBeTakenInTime() throws {
        var limits = quick
        limits.answerSeconds = 0.2
        let big = [UInt8](repeating: 0x61, count: 8 << 20)
        let server = try TestServer(TestService { _ in .answer(Response(status: 200, body: big)) }, limits)
        let client = try server.client()
        try client.send(get)
        #expect(TestServer.eventually { server.count(.deadlinePassed(.answer)) == 1 })
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
        #expect(try client.readToEnd().count < big.count)
    }

    @Test
    func oneConnectionTooManyIsToldSo() throws {
        let server = try TestServer(.echo, ServerLimits(connections: 8, connectionsPerUser: 3))
        let clients = try (0..<3).map { _ in try server.client() }
        for client in clients { #expect(try client.ask(get).status == 200) }
        let fourth = try server.client()
        #expect(try fourth.readMessage().status == 503)
        #expect(try fourth.readToEnd().isEmpty)
        #expect(server.count(.connectionRefused) == 1)
        clients[0].leave()
        #expect(TestServer.eventually { server.server.connectionCount == 2 })
        #expect(try server.ask(get).status == 200)
    }

    @Test(.attack("L13"))
    func manyConnectionsComeAndGo() throws {
        let server = try TestServer(.echo)
        for _ in 0..<300 { #expect(try server.ask(get).status == 200) }
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
        #expect(server.count(.connectionOpened) == 300)
        #expect(TestServer.eventually { server.count(.connectionClosed) == 300 })
    }

    @Test(arguments: [
        "Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Host: a\r\nHost: localhost\r\n", "Content-Type: a/b\r\nContent-Type: c/d\r\n", "Content-Length : 3\r\n",
        "Content-Length: -1\r\n", "Content-Length: +3\r\n", "Content-Length: 3, 3\r\n", "Content-Length: 0x3\r\n",
        "Content-Length:\r\n", "Content-Length: 9223372036854775808\r\n", "no colon\r\n",
    ])
    func aHeadThatCouldBeReadInTwoWaysIsRefused(headers: String) throws {
        let planned = Box<Bool>()
        let server = try TestServer(
            TestService { _ in
                planned.set(true)
                return .answer(.text(200, ""))
            })
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\n\(headers)\r\nabc")
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400") || answer.hasPrefix("HTTP/1.1 413"), "\(answer)")
        #expect(try server.ask(get).status == 200)
    }

    @Test(.attack("L18"), arguments: ["18446744073709551615", "18446744073709551616", "99999999999999999999999999"])
    func aLengthBeyondAllNumbersIsRefused(length: String) throws {
        let server = try TestServer(.echo)
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\nabc")
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
    }

    @Test(arguments: [
        "\r\n\r\n\r\n", "GARBAGE\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1 x\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
    ])
    func anythingElseThanARequestIsRefusedOrTheEnd(bytes: String) throws {
        var limits = quick
        limits.headSeconds = 0.3
        limits.gatheredBodySeconds = 0.3
        let server = try TestServer(.echo, limits)
        let client = try server.client()
        try client.send(bytes)
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(answer)")
        #expect(try server.ask(get).status == 200)
    }

    @Test(.attack("L12", "L23"))
    func aHeadHasABoundedSize() throws {
        let server = try TestServer(.echo)
        for head in [
            "GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 2 << 20) + "\r\n\r\n",
            "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 100_000) + "\r\n",
            "GET /?" + String(repeating: "a&", count: 20_000) + " HTTP/1.1\r\n\r\n",
        ] {
            let client = try server.client()
            _ = client.sendIfPossible(Array(head.utf8))
            let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
        }
        #expect(try server.ask(get).status == 200)
    }

    @Test("a head of 8 KiB is read, in one line or in fifty, first on its connection or later; one of 16 KiB is not")
    func aHeadMayHaveEightKibibytes() throws {
        let server = try TestServer(.echo)
        func heads(of count: Int) -> [String] {
            let (start, end) = ("GET / HTTP/1.1\r\nHost: localhost\r\n", "\r\n")
            let left = count - start.utf8.count - end.utf8.count
            let line = "A: " + String(repeating: "a", count: left / 49 - 5) + "\r\n"
            let last = "B: " + String(repeating: "b", count: left - 48 * line.utf8.count - 5) + "\r\n"
            let one = "A: " + String(repeating: "a", count: left - 5) + "\r\n"
            let target = "GET /?" + String(repeating: "a", count: count - 19) + " HTTP/1.1\r\n" + end
            return [start + String(repeating: line, count: 48) + last + end, start + one + end, target]
        }
        for head in heads(of: 8 << 10) {
            #expect(head.utf8.count == 8 << 10)
            let client = try server.client()
            #expect(try client.ask(head).status == 200)
            #expect(try client.ask(get).status == 200)
            #expect(try client.ask(head).status == 200)
        }
        for (head, status) in zip(heads(of: 16 << 10), [431, 431, 414]) {
            let client = try server.client()
            #expect(client.sendIfPossible(Array(head.utf8)))
            let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        }
    }
}
