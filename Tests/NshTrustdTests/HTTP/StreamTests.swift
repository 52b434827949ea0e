import Glibc
import NshTrust
import Synchronization
import TestSupport
import Testing

@testable import NshTrustd

/// Bodies that are read while they arrive.
struct StreamTests {
    /// A service that counts a streamed body on a thread of its own, and answers with its length.
    private func counting(
        limit: Int64 = 1 << 40, pause: UInt32 = 0, stopAfter: Int = .max, begun: Box<Bool>? = nil,
        _ ended: Box<Result<Int, Trouble>>? = nil
    ) -> TestService {
        TestService { _ in
            .stream(limit: limit) { body in
                let pending = PendingAnswer()
                OwnThread.run {
                    var count = 0
                    do throws(Trouble) {
                        while count < stopAfter, let bytes = try body.next() {
                            begun?.set(true)
                            count += bytes.count
                            usleep(pause)
                        }
                        ended?.set(.success(count))
                        if count >= stopAfter { body.stopReading() }
                        pending.complete(.text(200, "\(count >= stopAfter ? 0 : count)"))
                    } catch {
                        ended?.set(.failure(error))
                        pending.complete(.text(500, error.code.rawValue))
                    }
                }
                return .later(pending)
            }
        }
    }

    private func head(_ length: Int) -> String { "POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\n" }

    @Test(arguments: [0, 1, 1000, 1 << 20, 20 << 20])
    func aBodyOfAnyLengthIsStreamed(length: Int) throws {
        let server = try TestServer(counting())
        let client = try server.client()
        for _ in 0..<2 {
            try client.send(head(length))
            try client.send([UInt8](repeating: 1, count: length))
            #expect(try client.readMessage().text == "\(length)")
        }
    }

    @Test
    func aChunkedBodyIsStreamed() throws {
        let server = try TestServer(counting())
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<2000 { try client.send("3\r\nabc\r\n1\r\nx\r\n") }
        #expect(try client.ask("0\r\n\r\n").text == "8000")
    }

    @Test
    func aSlowReaderHoldsTheClientUpAndLosesNothing() throws {
        let server = try TestServer(counting(pause: 3000))
        let client = try server.client()
        let length = 12 << 20
        try client.send(head(length))
        try client.send([UInt8](repeating: 1, count: length))
        #expect(try client.readMessage().text == "\(length)")
    }

    @Test
    func aReaderThatDoesNotReadHoldsNoMoreThanItsRoom() throws {
        let reader = Box<BodyReader>()
        let pending = PendingAnswer()
        let server = try TestServer(
            TestService { _ in
                .stream(limit: 1 << 40) { body in
                    reader.set(body)
                    return .later(pending)
                }
            })
        let client = try server.client()
        var small = timeval(tv_sec: 0, tv_usec: 300_000)
        setsockopt(client.descriptor, SOL_SOCKET, SO_SNDTIMEO, &small, socklen_t(MemoryLayout<timeval>.size))
        try client.send(head(100 << 20))
        #expect(!client.sendIfPossible([UInt8](repeating: 1, count: 16 << 20)))
        let body = try #require(reader.wait())
        client.leave()
        var count = 0
        #expect(throws: Trouble.self) {
            while let bytes = try body.next() { count += bytes.count }
        }
        #expect(count >= BodyReader.highWater)
        #expect(count < BodyReader.highWater + (1 << 20))
    }

    @Test
    func smallPiecesArePutTogether() throws {
        let reader = BodyReader()
        for _ in 0..<1000 { reader.add([1]) }
        reader.finish(nil)
        #expect(try reader.next()?.count == 1000)
        #expect(try reader.next() == nil)
        #expect(try reader.next() == nil)
    }

    @Test
    func aClientThatLeavesInTheMiddleIsNotTheEndOfTheBody() throws {
        let (begun, ended) = (Box<Bool>(), Box<Result<Int, Trouble>>())
        let server = try TestServer(counting(begun: begun, ended))
        do {
            let client = try server.client()
            try client.send(head(1000))
            try client.send([UInt8](repeating: 1, count: 999))
            #expect(begun.wait() == true)
        }
        #expect(throws: Trouble(.cancelled, "the client left before the end of the package")) {
            try #require(ended.wait()).get()
        }
        #expect(TestServer.eventually { server.server.connectionCount == 0 })
    }

    @Test
    func aChunkedBodyWithoutItsLastChunkIsNotWhole() throws {
        let (begun, ended) = (Box<Bool>(), Box<Result<Int, Trouble>>())
        let server = try TestServer(counting(begun: begun, ended))
        do {
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            #expect(begun.wait() == true)
        }
        #expect(throws: Trouble.self) { try #require(ended.wait()).get() }
    }

    @Test
    func aReaderThatGaveUpIsNotWaitedFor() throws {
        let server = try TestServer(counting(stopAfter: 1))
        let client = try server.client()
        let length = 8 << 20
        for _ in 0..<2 {
            try client.send(head(length))
            try client.send([UInt8](repeating: 1, count: length))
            #expect(try client.readMessage().text == "0")
        }
    }

    @Test
    func aBodyOverTheLimitIsRefused() throws {
        let server = try TestServer(counting(limit: 1000))
        let client = try server.client()
        try client.send(head(1000))
        try client.send([UInt8](repeating: 1, count: 1000))
        #expect(try client.readMessage().status == 200)
        try client.send(head(1001))
        try client.send([UInt8](repeating: 1, count: 1001))
        #expect(try client.readMessage().status == 413)
    }

    @Test
    func aChunkedBodyOverTheLimitIsRefusedAndCutOff() throws {
        let ended = Box<Result<Int, Trouble>>()
        let server = try TestServer(counting(limit: 1000, ended))
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n")
        try client.send([UInt8](repeating: 1, count: 1001))
        try client.send("\r\n0\r\n\r\n")
        #expect(try client.readMessage().status == 413)
        #expect(try client.readToEnd().isEmpty)
        #expect(throws: Trouble.self) { try #require(ended.wait()).get() }
    }

    @Test
    func aStreamThatIsRefusedBeforeItBeginsIsDropped() throws {
        let server = try TestServer(TestService { _ in .stream(limit: 1 << 40) { _ in .answer(.text(503, "full")) } })
        let client = try server.client()
        try client.send(head(100))
        try client.send([UInt8](repeating: 1, count: 100))
        #expect(try client.readMessage().status == 503)
        try client.send(head(8 << 20))
        #expect(try client.readMessage().status == 503)
    }
}
