import TestSupport
import Testing

@testable import NshTrust

/// What a reader on a thread of its own is told of a stream's end.
@Suite("The end of a stream of bytes")
struct ByteStreamInputTests {
    private struct Broken: Error {}

    private func stream(_ pieces: [[UInt8]], endingWith error: (any Error)? = nil) -> AsyncThrowingStream<
        [UInt8], any Error
    > {
        AsyncThrowingStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish(throwing: error)
        }
    }

    /// Reads to the end; throws what the channel does.
    private func read(_ channel: ByteChannel) throws -> [UInt8] {
        var input = ByteStreamInput(channel)
        return try input.bytes(upTo: 100)
    }

    @Test("a stream that ends is an end, once and for all", .rules("STO-14")) func ends() async throws {
        let channel = ByteChannel()
        await channel.feed(from: stream([[1, 2]]))
        #expect(try read(channel) == [1, 2])
        #expect(try read(channel) == [])
    }

    @Test("a stream that fails is no end", .rules("STO-14")) func fails() async throws {
        let channel = ByteChannel()
        await channel.feed(from: stream([[1, 2]], endingWith: Broken()))
        let error = #expect(throws: Trouble.self) { try read(channel) }
        #expect(error?.code == .ioFailure)
    }

    @Test("a cancelled stream is no end", .rules("STO-14")) func isCancelled() async throws {
        let channel = ByteChannel()
        await channel.feed(from: stream([], endingWith: CancellationError()))
        let error = #expect(throws: Trouble.self) { try read(channel) }
        #expect(error?.code == .cancelled)
    }

    @Test("what is only dropped can be stopped, too", .rules("STO-14")) func drains() throws {
        var input = BytesInput([UInt8](repeating: 1, count: 200_000))
        #expect(try input.drain(Monitor()) == 200_000)
        input = BytesInput([1])
        let error = #expect(throws: Trouble.self) { try input.drain(Monitor(isCancelled: { true })) }
        #expect(error?.code == .cancelled)
    }

    @Test("a channel that is closed is no end", .rules("STO-14")) func isClosed() async throws {
        let channel = ByteChannel()
        await channel.feed(from: stream([[1, 2]]))
        channel.close()
        let error = #expect(throws: Trouble.self) { try read(channel) }
        #expect(error?.code == .cancelled)
    }
}
