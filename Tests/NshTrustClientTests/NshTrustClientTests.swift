import FoundationEssentials
import Glibc
import NshTrust
import NshTrustClient
import TestSupport
import Testing

/// The client against scripted daemons.
struct NshTrustClientTests {
    private let digest = String(repeating: "a", count: 64)
    private var verdict: String {
        #"{"verdict":"refused","code":"keyRevoked","message":"m","app":{"id":"com.example.a","name":"A","version":"1","build":2},"#
            + #""publisher":"P","digest":"\#(digest)","directory":"/d","lease":"/d/SHA256SUMS","newer":[1.5]}"#
    }

    private func failure(_ body: () async throws -> Void) async -> NshError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? NshError
        }
    }

    @Test func asksOnOneConnection() async throws {
        let daemon = try FakeDaemon([.question, answer(200, verdict), .question, answer(200, verdict), .pause(5)])
        let client = NshTrustClient(socketPath: daemon.path)
        for _ in 0..<2 {
            let verdict = try await client.check(digest: digest)
            #expect(!verdict.isAllowed)
            #expect(verdict.code == .keyRevoked)
            #expect(verdict.info.build == 2)
            #expect(verdict.directory.path == "/d")
        }
        #expect(daemon.questions.count == 2)
        #expect(daemon.questions[0].hasSuffix("\r\n\r\n{\"digest\":\"\(digest)\"}"))
    }

    @Test func asksAgainWhenAKeptConnectionWasClosed() async throws {
        let daemon = try FakeDaemon([.question, answer(200, verdict), .question], [.question, answer(200, verdict)])
        let client = NshTrustClient(socketPath: daemon.path)
        for _ in 0..<2 { _ = try await client.check(digest: digest) }
        #expect(daemon.questions.count == 3)
    }

    @Test func doesNotAskAgainAfterTheFirstByteOfAnAnswer() async throws {
        let daemon = try FakeDaemon(
            [.question, answer(200, verdict), .question, .send("HTTP/1.1 ")], [.question, answer(200, verdict)])
        let client = NshTrustClient(socketPath: daemon.path)
        _ = try await client.check(digest: digest)
        #expect(await failure { _ = try await client.check(digest: digest) }?.code == .ioFailure)
        #expect(daemon.questions.count == 2)
    }

    @Test func asksWhatMayNotBeRepeatedOnANewConnection() async throws {
        let update =
            #"{"verdict":"accepted","code":null,"message":"m","issuer":"i","sequence":3,"changed":true,"dryRun":false,"stoppedApps":["a"],"warnings":[]}"#
        let daemon = try FakeDaemon([.question, answer(200, verdict), .pause(0.3)], [.question, answer(200, update)])
        let client = NshTrustClient(socketPath: daemon.path)
        _ = try await client.check(digest: digest)
        #expect(try await client.updateRevocations("{}").stoppedApps == ["a"])
        #expect(daemon.questions.last?.hasPrefix("POST /v1/revocations?dryRun=false HTTP/1.1\r\n") == true)
    }

    @Test func carriesTheDaemonsCodeAndMessage() async throws {
        let daemon = try FakeDaemon(
            [
                .question, problem(404, "notInstalled", "no such package"), .question, problem(403, "forbidden"),
                .pause(5),
            ])
        let client = NshTrustClient(socketPath: daemon.path)
        let first = await failure { _ = try await client.check(digest: digest) }
        #expect(first?.code == .notInstalled)
        #expect(first?.message == "no such package")
        #expect(await failure { _ = try await client.check(digest: digest) }?.code == .forbidden)
    }

    @Test func givesAnErrorForAnAnswerThatIsNotUnderstood() async throws {
        for step in [
            answer(200, "[]"), answer(200, "{"), answer(200, #"{"verdict":"accepted"}"#), answer(502, "<html>"),
            answer(200, verdict.replacing("\"refused\"", with: "\"accepted\"")),
            answer(200, verdict.replacing("\"build\":2", with: "\"build\":\"2\"")),
            answer(200, verdict.replacing("\"digest\"", with: "\"verdict\"")),
        ] {
            let client = NshTrustClient(socketPath: try FakeDaemon([.question, step]).path)
            #expect(await failure { _ = try await client.check(digest: digest) }?.code == .ioFailure)
        }
    }

    @Test func namesTheSocketWhenNobodyAnswers() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/nobody"
        let error = await failure { try await NshTrustClient(socketPath: path).health() }
        #expect(error?.code == .ioFailure)
        #expect(error?.message.contains(path) == true)
        #expect(await failure { try await NshTrustClient(socketPath: "").health() }?.code == .badRequest)
        let long = String(repeating: "x", count: 300)
        #expect(await failure { try await NshTrustClient(socketPath: "/tmp/" + long).health() }?.code == .badRequest)
    }

    @Test func reachesASocketWhoseDirectoryHasALongPath() async throws {
        let daemon = try FakeDaemon([.question, answer(200, #"{"status":"ok"}"#)])
        let parts = daemon.path.split(separator: "/").map(String.init)
        let detour = String(repeating: "/./", count: 60)
        let path = "/" + parts.dropLast().joined(separator: "/") + detour + parts[parts.count - 1]
        try await NshTrustClient(socketPath: path).health()
    }

    @Test func sendsTheBytesOfAFileThatTheDaemonCannotOpen() async throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("a.nshpkg", Array("package".utf8))
        let daemon = try FakeDaemon(
            [.question, problem(404, "noSuchFile"), .pause(0.3)],
            [.head, .send("HTTP/1.1 100 Continue\r\n\r\n"), .pause(0.1), problem(400, "badRequest"), .drain])
        let client = NshTrustClient(socketPath: daemon.path)
        let url = URL(fileURLWithPath: directory.path + "/a.nshpkg")
        #expect(await failure { _ = try await client.verifyPackage(at: url) }?.code == .badRequest)
        #expect(daemon.questions[0].hasSuffix(#"{"path":"\#(directory.path)/a.nshpkg"}"#))
        #expect(daemon.questions[1].contains("Content-Length: 7\r\n"))
    }

    @Test func saysItselfThatAFileIsNotThere() async throws {
        let daemon = try FakeDaemon([
            .question, problem(404, "noSuchFile", "there is no such file, or you may not read it"),
        ])
        let error = await failure {
            _ = try await NshTrustClient(socketPath: daemon.path).verifyPackage(at: URL(fileURLWithPath: "/nowhere/x"))
        }
        #expect(error?.code == .noSuchFile)
        #expect(error?.message.contains("/nowhere/x") == true)
    }

    @Test func holdsTheTreeThatItOpened() async throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("SHA256SUMS", Array("x".utf8))
        let lease = directory.path + "/SHA256SUMS"
        let opened = verdict.replacing("\"refused\",\"code\":\"keyRevoked\"", with: "\"accepted\",\"code\":null")
            .replacing("/d/SHA256SUMS", with: lease).replacing("\"/d\"", with: "\"\(directory.path)\"")
        let daemon = try FakeDaemon([.question, answer(200, opened)])
        var package: NshOpenedPackage? = try await NshTrustClient(socketPath: daemon.path)
            .openPackage(at: URL(fileURLWithPath: lease))
        #expect(package?.directory.path == directory.path)
        let file = OwnedDescriptor(owning: open(lease, O_RDONLY))
        #expect(try !FileLock.take(file.raw, .exclusive, lease))
        package = nil
        #expect(try FileLock.take(file.raw, .exclusive, lease))
        #expect(try FileLock.take(file.raw, .shared, lease))
        let checking = NshTrustClient(socketPath: try FakeDaemon([.question, answer(200, opened)]).path)
        var hold: NshHold? = try await checking.hold(try await checking.check(digest: digest))
        #expect(hold != nil)
        #expect(try !FileLock.take(file.raw, .exclusive, lease))
        hold = nil
        #expect(try FileLock.take(file.raw, .exclusive, lease))
        let gone = opened.replacing(lease, with: lease + "x")
        let other = try FakeDaemon([.question, answer(200, gone)])
        let error = await failure {
            _ = try await NshTrustClient(socketPath: other.path).openPackage(at: URL(fileURLWithPath: lease))
        }
        #expect(error?.code == .notInstalled)
    }

    // MARK: - Following

    private func event(_ number: Int) -> String {
        "id: \(number)\nevent: opened\ndata: {\"sequence\":\(number),\"time\":1,\"kind\":\"opened\",\"message\":\"m\",\"count\":1}\n\n"
    }

    private func stream(_ events: String) -> FakeDaemon.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events)
    }

    @Test func followsAcrossConnectionsAndMissesNothing() async throws {
        let daemon = try FakeDaemon(
            [.question, stream(event(4) + ": x\n\n" + event(5) + "id: 6\nevent: opened\nda")],
            [.question, problem(503, "stopping")],
            [.question, stream(event(6) + "event: gap\ndata: {\"oldest\":20}\n\n")],
            [.question, problem(410, "eventsGone", more: ",\"oldest\":30")],
            [.question, stream(event(31)), .pause(2)])
        var items: [NshFollowedEvent] = []
        for try await item in NshTrustClient(socketPath: daemon.path).events(following: 3) {
            items.append(item)
            if items.count == 6 { break }
        }
        let expected = ["4", "5", "6", "gap 20", "gap 30", "31"]
        #expect(
            items.map { item in
                switch item {
                case .event(let event): "\(event.sequence)"
                case .gap(let oldest): "gap \(oldest)"
                }
            } == expected)
        #expect(
            daemon.questions.compactMap { $0.split(separator: " ").dropFirst().first }
                == [3, 5, 5, 19, 29].map { "/v1/events?after=\($0)&follow=true" })
    }

    @Test func saysWhoAskedOnlyWhereTheDaemonDoes() async throws {
        let daemon = try FakeDaemon([.question, stream(event(4)), .pause(2)])
        for try await item in NshTrustClient(socketPath: daemon.path).events(following: 0) {
            guard case .event(let event) = item else { continue }
            #expect(event.uid == NshEvent.unknownUser)
            #expect(event.pid == 0)
            break
        }
    }

    @Test func doesNotFollowWhereItMayNot() async throws {
        for (step, code) in [
            (problem(403, "forbidden"), NshError.Code.forbidden), (problem(503, "overloaded"), .overloaded),
        ] {
            let client = NshTrustClient(socketPath: try FakeDaemon([.question, step]).path)
            let error = await failure { for try await _ in client.events(following: 0) {} }
            #expect(error?.code == code)
        }
        let nobody = NshTrustClient(socketPath: "/nowhere/s")
        #expect(await failure { for try await _ in nobody.events(following: 0) {} }?.code == .ioFailure)
    }

    @Test func endsWhenItsTaskIsCancelled() async throws {
        let daemon = try FakeDaemon([.question, stream(""), .pause(5)])
        let client = NshTrustClient(socketPath: daemon.path)
        let task = Task { for try await _ in client.events(following: 0) {} }
        try await Task.sleep(nanoseconds: 200_000_000)
        task.cancel()
        try await task.value
    }
}
