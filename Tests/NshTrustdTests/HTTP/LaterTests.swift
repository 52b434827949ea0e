import Glibc
import NshTrust
import Synchronization
import TestSupport
import Testing

@testable import NshTrustd

/// Answers that come later, and event streams.
struct LaterTests {
    private let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test(arguments: [0, 1000, 20000])
    func anAnswerMayComeFromAnotherThreadAtAnyTime(microseconds: UInt32) throws {
        let server = try TestServer(
            TestService { _ in
                .gather(limit: 100) { body in
                    let pending = PendingAnswer()
                    OwnThread.run {
                        usleep(microseconds)
                        pending.complete(.text(200, String(decoding: body, as: UTF8.self)))
                    }
                    return .later(pending)
                }
            })
        let client = try server.client()
        for number in 0..<(microseconds > 1000 ? 5 : 200) {
            let body = "\(number)"
            let request = "POST / HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            #expect(try client.ask(request + request).text == body)
            #expect(try client.readMessage().text == body)
        }
    }

    @Test
    func aClientThatClosedItsSendingSideIsAnswered() throws {
        let pending = PendingAnswer()
        let server = try TestServer(TestService { _ in .gather(limit: 1) { _ in .later(pending) } })
        let client = try server.client()
        try client.send(get)
        client.halfClose()
        usleep(50_000)
        pending.complete(.text(200, "still there"))
        #expect(try client.readMessage().text == "still there")
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
    }

    @Test
    func anAnswerThatIsThereAlreadyIsGiven() throws {
        let server = try TestServer(
            TestService { _ in
                .gather(limit: 1) { _ in
                    let pending = PendingAnswer()
                    pending.complete(.text(200, "done"))
                    return .later(pending)
                }
            })
        #expect(try server.ask(get).text == "done")
    }

    @Test
    func otherConnectionsAreServedWhileAnswersAreWaitedFor() throws {
        let waiting = Locked<[PendingAnswer]>([])
        let server = try TestServer(
            TestService { head in
                if head.path == ["now"] { return .answer(.text(200, "now")) }
                return .gather(limit: 1) { _ in
                    let pending = PendingAnswer()
                    waiting.withLock { $0.append(pending) }
                    return .later(pending)
                }
            })
        let clients = try (0..<50).map { _ in try server.client() }
        for client in clients { try client.send(get) }
        #expect(TestServer.eventually { waiting.withLock { $0.count } == 50 })
        #expect(try server.ask("GET /now HTTP/1.1\r\n\r\n").text == "now")
        for pending in waiting.withLock({ $0 }) { pending.complete(.text(200, "later")) }
        for client in clients { #expect(try client.readMessage().text == "later") }
    }

    @Test(.attack("L19"))
    func workIsAbandonedWhenItsClientHasLeft() throws {
        let pending = PendingAnswer()
        let reached = Box<Bool>()
        var limits = ServerLimits()
        limits.housekeepingSeconds = 0.02
        let server = try TestServer(
            TestService { _ in
                .gather(limit: 1) { _ in
                    reached.set(true)
                    return .later(pending)
                }
            }, limits)
        do {
            let client = try server.client()
            try client.send(get)
            #expect(reached.wait() == true)
        }
        #expect(TestServer.eventually { pending.isAbandoned })
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
        pending.complete(.text(200, "too late"))
    }

    // MARK: - Events

    @Test
    func eventsReachTheClientAsTheyAreAppended() throws {
        let stream = EventStream()
        let server = try TestServer(TestService { _ in .gather(limit: 1) { _ in .events(stream) } })
        let client = try server.client()
        try client.send(get)
        let head = try client.read(until: "\r\n\r\n")
        #expect(head.contains("text/event-stream"))
        for number in 0..<100 {
            stream.append(Array("data: \(number)\n\n".utf8))
            #expect(try client.read(until: "\n\n").hasSuffix("data: \(number)\n\n"))
            _ = try client.read(until: "\r\n")
        }
        stream.close()
        #expect(try client.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }

    @Test
    func eventsThatWaitAreSentWhenTheClientTakesThem() throws {
        let stream = EventStream()
        let drained = Atomic(0)
        stream.whenDrained { drained.add(1, ordering: .relaxed) }
        let server = try TestServer(TestService { _ in .gather(limit: 1) { _ in .events(stream) } })
        let client = try server.client()
        try client.send(get)
        let total = 4 << 20
        let line = [UInt8](repeating: 0x78, count: 1023) + [0x0a]
        OwnThread.run {
            var left = total
            while left > 0 {
                if stream.isFull {
                    usleep(500)
                    continue
                }
                stream.append(line)
                left -= line.count
            }
            while !stream.isClosed, drained.load(ordering: .relaxed) == 0 { usleep(500) }
        }
        usleep(100_000)
        _ = try client.read(until: "\r\n\r\n")
        var letters = 0
        while letters < total / 1024 * 1023 { letters += try client.readSome().count { $0 == 0x78 } }
        #expect(TestServer.eventually { drained.load(ordering: .relaxed) > 0 })
        stream.close()
    }

    @Test
    func aStreamEndsWhenItsClientHasLeft() throws {
        let stream = EventStream()
        var limits = ServerLimits()
        limits.housekeepingSeconds = 0.02
        let server = try TestServer(TestService { _ in .gather(limit: 1) { _ in .events(stream) } }, limits)
        do {
            let client = try server.client()
            try client.send(get)
            _ = try client.read(until: "\r\n\r\n")
        }
        #expect(TestServer.eventually { stream.isClosed })
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
        stream.append([0x0a])
    }

    @Test
    func aQuietStreamSendsComments() throws {
        let stream = EventStream()
        var limits = ServerLimits()
        limits.housekeepingSeconds = 0.02
        limits.eventCommentSeconds = 0.05
        let server = try TestServer(TestService { _ in .gather(limit: 1) { _ in .events(stream) } }, limits)
        let client = try server.client()
        try client.send(get)
        _ = try client.read(until: "\r\n\r\n")
        for _ in 0..<3 { #expect(try client.read(until: ":\n\n\r\n") == "3\r\n:\n\n\r\n") }
        stream.close()
    }
}
