import NshTrust
import NshTrustClient
import Testing

/// The client's HTTP against daemons that answer in odd ways.
struct HTTPConnectionTests {
    private let patience = Patience(silence: 5)

    private func ask(_ daemon: FakeDaemon, limit: Int = 1 << 20, silence: Double = 5) throws -> (Int, String, Bool) {
        let connection = HTTPConnection(try UnixStream.connect(to: daemon.path, patience))
        let patience = Patience(silence: silence)
        let head = try connection.ask(.get("/x"), patience)
        let body = try connection.wholeBody(limit: limit, patience)
        return (head.status, String(decoding: body, as: UTF8.self), connection.isReusable)
    }

    private func trouble(_ daemon: FakeDaemon, limit: Int = 1 << 20, silence: Double = 5) -> Trouble? {
        #expect(throws: Trouble.self) { _ = try ask(daemon, limit: limit, silence: silence) }
    }

    @Test func sendsOneWellFormedQuestion() throws {
        let daemon = try FakeDaemon([.question, answer(200, "{}"), .pause(5)])
        #expect(try ask(daemon) == (200, "{}", true))
        let question = try #require(daemon.questions.first)
        #expect(question.hasPrefix("GET /x HTTP/1.1\r\nHost: localhost\r\n"))
        #expect(!question.contains("Origin") && !question.contains("Content-"))
    }

    @Test func takesAnAnswerByteByByte() throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n1;x=y\r\ne\r\n0\r\nT: x\r\n\r\n"
        let daemon = try FakeDaemon([.question, .trickle(text, 200), .pause(5)])
        #expect(try ask(daemon) == (200, "abcde", true))
    }

    @Test func passesOverInterimAnswers() throws {
        let daemon = try FakeDaemon([
            .question, .send("HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 X\r\nLink: y\r\n\r\n"), answer(200, "{}"), .pause(5),
        ])
        #expect(try ask(daemon).0 == 200)
    }

    @Test func givesUpOnInterimAnswersWithoutEnd() throws {
        let daemon = try FakeDaemon([
            .question, .send(String(repeating: "HTTP/1.1 102 X\r\n\r\n", count: 50)), .pause(1),
        ])
        #expect(trouble(daemon)?.code == .ioFailure)
    }

    @Test func readsABodyThatEndsWithTheConnection() throws {
        let daemon = try FakeDaemon([.question, .send("HTTP/1.1 200 OK\r\n\r\nabc")])
        #expect(try ask(daemon) == (200, "abc", false))
    }

    @Test func doesNotUseAConnectionAgainThatSaysMoreThanItsAnswer() throws {
        let daemon = try FakeDaemon([
            .question, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n"), .pause(5),
        ])
        let (_, _, isReusable) = try ask(daemon)
        #expect(!isReusable)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcdX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nabcd\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabcd\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\nabcd\n0\n\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno end",
    ])
    func saysThatAnAnswerIsBroken(_ text: String) throws {
        #expect(trouble(try FakeDaemon([.question, .send(text)]))?.code == .ioFailure)
    }

    @Test func bounds() throws {
        let longLine = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 80 << 10)
        #expect(trouble(try FakeDaemon([.question, .send(longLine), .pause(5)]))?.message.contains("head") == true)
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 20_000)
        #expect(trouble(try FakeDaemon([.question, .send(many), .pause(5)]))?.message.contains("head") == true)
        let body = try FakeDaemon([.question, answer(200, String(repeating: "x", count: 2000))])
        #expect(trouble(body, limit: 1000)?.message.contains("larger than 1000 bytes") == true)
        let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "1", count: 5000)
        #expect(trouble(try FakeDaemon([.question, .send(chunk)]))?.code == .ioFailure)
    }

    @Test func doesNotWaitForEver() throws {
        let silent = try FakeDaemon([.question, .pause(3)])
        #expect(trouble(silent, silence: 0.3)?.message.contains("has said nothing") == true)
        let stuck = try FakeDaemon([.question, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .pause(3)])
        #expect(trouble(stuck, silence: 0.3)?.message.contains("has said nothing") == true)
    }

    @Test func stopsWhenItsCallerGivesUp() throws {
        let daemon = try FakeDaemon([.question, .pause(3)])
        let connection = HTTPConnection(try UnixStream.connect(to: daemon.path, patience))
        let flag = CancellationFlag()
        flag.raise()
        let trouble = #expect(throws: Trouble.self) {
            try connection.ask(.get("/"), Patience(silence: 60) { flag.isRaised })
        }
        #expect(trouble?.code == .cancelled)
    }

    // MARK: - Packages on their way

    private func send(_ bytes: [UInt8], length: Int64?, to daemon: FakeDaemon) throws -> (Int, Bool) {
        let connection = HTTPConnection(try UnixStream.connect(to: daemon.path, patience))
        let request = HTTPRequest.post("/p", package: BytesInput(bytes), length: length)
        let head = try connection.ask(request, patience)
        _ = try connection.wholeBody(limit: 1000, patience)
        return (head.status, connection.isReusable)
    }

    @Test func sendsAPackageOfKnownLengthAfterTheDaemonAskedForIt() throws {
        let daemon = try FakeDaemon([
            .head, .send("HTTP/1.1 100 Continue\r\n\r\n"), .pause(0.1), answer(200, "{}"), .drain,
        ])
        #expect(try send(Array("package".utf8), length: 7, to: daemon).0 == 200)
        let question = try #require(daemon.questions.first)
        #expect(question.contains("Content-Length: 7\r\n") && question.contains("Expect: 100-continue\r\n"))
        #expect(question.contains("Content-Type: application/vnd.nsh.package\r\n"))
    }

    @Test func sendsAPackageOfUnknownLengthInChunks() throws {
        let daemon = try FakeDaemon([
            .head, .send("HTTP/1.1 100 Continue\r\n\r\n"), .head, answer(200, "{}"), .pause(5),
        ])
        #expect(try send(Array("package".utf8), length: nil, to: daemon) == (200, true))
        #expect(daemon.questions.last == "7\r\npackage\r\n0\r\n\r\n")
    }

    @Test func sendsNothingOfAPackageThatTheDaemonDoesNotWant() throws {
        let daemon = try FakeDaemon([.head, problem(413, "tooLarge"), .pause(0.2), .drain])
        let (status, isReusable) = try send([UInt8](repeating: 7, count: 1 << 20), length: 1 << 20, to: daemon)
        #expect(status == 413)
        #expect(!isReusable)
    }

    @Test func takesAnAnswerThatComesInTheMiddleOfAPackage() throws {
        let daemon = try FakeDaemon([
            .head, .send("HTTP/1.1 100 Continue\r\n\r\n"), .pause(0.1), problem(403, "untrustedRoot"), .pause(5),
        ])
        let (status, isReusable) = try send([UInt8](repeating: 7, count: 32 << 20), length: 32 << 20, to: daemon)
        #expect(status == 403)
        #expect(!isReusable)
    }

    @Test func saysThatAPackageBecameShorter() throws {
        let daemon = try FakeDaemon([.head, .send("HTTP/1.1 100 Continue\r\n\r\n"), .drain])
        let trouble = #expect(throws: Trouble.self) { try send([1, 2, 3], length: 10, to: daemon) }
        #expect(trouble?.message.contains("became shorter") == true)
    }
}
