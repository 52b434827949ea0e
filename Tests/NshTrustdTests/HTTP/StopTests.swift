import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// The end of a server.
struct StopTests {
    private let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// A service with an answer that waits, a stream of events, and a body that is read.
    private func service(
        _ pending: PendingAnswer, _ stream: EventStream, _ reader: Box<BodyReader>, begun: Box<Bool> = Box()
    ) -> TestService {
        TestService { head in
            switch head.path {
            case ["later"]:
                .gather(limit: 1) { _ in
                    begun.set(true)
                    return .later(pending)
                }
            case ["events"]: .gather(limit: 1) { _ in .events(stream) }
            case ["stream"]:
                .stream(limit: 1 << 40) { body in
                    reader.set(body)
                    return .later(pending)
                }
            default: .answer(.text(200, "now"))
            }
        }
    }

    @Test(.attack("L19"))
    func workUnderWayIsAnsweredWithinTheGracePeriod() throws {
        let (pending, stream, reader) = (PendingAnswer(), EventStream(), Box<BodyReader>())
        let begun = Box<Bool>()
        let server = try TestServer(service(pending, stream, reader, begun: begun))
        let idle = try server.client()
        #expect(try idle.ask(get).text == "now")
        let later = try server.client()
        try later.send("GET /later HTTP/1.1\r\n\r\n")
        let events = try server.client()
        try events.send("GET /events HTTP/1.1\r\n\r\n")
        _ = try events.read(until: "\r\n\r\n")
        #expect(begun.wait() == true)
        #expect(server.server.connectionCount == 3)
        OwnThread.run {
            usleep(200_000)
            pending.complete(.text(200, "in time"))
        }
        server.server.stop(gracePeriodSeconds: 10)
        let answer = try later.readMessage()
        #expect(answer.text == "in time")
        #expect(answer.closes)
        #expect(stream.isClosed)
        #expect(String(decoding: try events.readToEnd(), as: UTF8.self) == "0\r\n\r\n")
        #expect(try idle.readToEnd().isEmpty)
        #expect(server.server.connectionCount == 0)
        #expect(throws: RawClient.Failed.self) { try server.client() }
    }

    @Test
    func workThatTakesLongerIsAbandoned() throws {
        let (pending, stream, reader) = (PendingAnswer(), EventStream(), Box<BodyReader>())
        let begun = Box<Bool>()
        let server = try TestServer(service(pending, stream, reader, begun: begun))
        let later = try server.client()
        try later.send("GET /later HTTP/1.1\r\n\r\n")
        let upload = try server.client()
        var small = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(upload.descriptor, SOL_SOCKET, SO_SNDTIMEO, &small, socklen_t(MemoryLayout<timeval>.size))
        try upload.send("POST /stream HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n")
        _ = upload.sendIfPossible([UInt8](repeating: 0, count: 4 << 20))
        let body = try #require(reader.wait())
        #expect(begun.wait() == true)
        server.server.stop(gracePeriodSeconds: 0.1)
        #expect(pending.isAbandoned)
        #expect(throws: Trouble.self) { while try body.next() != nil {} }
        #expect(try later.readToEnd().isEmpty)
        #expect(server.server.connectionCount == 0)
        pending.complete(.text(200, "too late"))
        server.server.stop(gracePeriodSeconds: 0)
    }

    @Test
    func aRequestThatComesWhileStoppingIsRefused() throws {
        let (pending, stream, reader) = (PendingAnswer(), EventStream(), Box<BodyReader>())
        let server = try TestServer(service(pending, stream, reader))
        let client = try server.client()
        #expect(try client.ask(get).status == 200)
        server.server.stopAccepting()
        let answer = try client.ask(get)
        #expect(answer.status == 503)
        #expect(answer.text == "stopping")
        #expect(answer.closes)
    }

    @Test
    func aServerThatGoesStops() throws {
        let pending = PendingAnswer()
        let begun = Box<Bool>()
        var server: TestServer? = try TestServer(service(pending, EventStream(), Box(), begun: begun))
        let client = try #require(try server?.client())
        try client.send("GET /later HTTP/1.1\r\n\r\n")
        #expect(begun.wait() == true)
        server = nil
        #expect(try client.readToEnd().isEmpty)
    }

    @Test
    func stoppingUnderLoadEnds() throws {
        for _ in 0..<10 {
            let server = try TestServer(
                TestService { _ in
                    .gather(limit: 100) { _ in
                        let pending = PendingAnswer()
                        OwnThread.run { pending.complete(.text(200, "ok")) }
                        return .later(pending)
                    }
                })
            let clients = try (0..<8).map { _ in try server.client() }
            for client in clients {
                let request = get
                OwnThread.run {
                    while client.sendIfPossible(Array(request.utf8)) {
                        guard let some = try? client.readSome(), !some.isEmpty else { return }
                    }
                }
            }
            usleep(20_000)
            server.server.stop(gracePeriodSeconds: 0.01)
            #expect(server.server.connectionCount == 0)
        }
    }
}
