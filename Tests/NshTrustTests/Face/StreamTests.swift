import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Packages that arrive piece by piece from a peer that may stall.
@Suite("Packages from streams")
struct StreamTests {
    let host: Host
    init() throws { host = try Host() }

    @Test("a refusal does not wait for what the peer sends next", .timeLimit(.minutes(1)))
    func refusesWhileThePeerStalls() async throws {
        let trust = try host.trust()
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([UInt8](repeating: 7, count: 20))
        let error = await nshError { _ = try await trust.openPackage(from: stream) }
        #expect(error?.code == .unsupportedFormat)
        withExtendedLifetime(continuation) {}
    }

    @Test(
        "cancelling while the peer stalls is no refusal", .rules("STO-14", "POL-21"), .timeLimit(.minutes(1)),
        arguments: [Stalling.Reaction.throwsError, .ends])
    func cancels(_ reaction: Stalling.Reaction) async throws {
        let trust = try host.trust()
        let bytes = Array(try Data(contentsOf: try host.package(build: 5)))
        let stalling = Stalling(first: Array(bytes.dropLast(600)), reaction: reaction)
        let task = Task { try await trust.openPackage(from: stalling) }
        while !stalling.isAwaited.withLock({ $0 }) { try await Task.sleep(nanoseconds: 1_000_000) }
        task.cancel()
        #expect(await nshError { _ = try await task.value }?.code == .cancelled)
        #expect(host.staged.isEmpty)
        #expect(try trust.events().map(\.kind) == ["rootAdded"])
    }
}

/// A stream of one piece, after which nothing comes until its task is cancelled.
struct Stalling: AsyncSequence, Sendable {
    /// What the stream does when its task is cancelled.
    enum Reaction: Sendable {
        case throwsError
        case ends
    }

    let first: [UInt8]
    let reaction: Reaction
    /// Whether somebody waits for the second piece.
    let isAwaited = Locked(false)

    struct AsyncIterator: AsyncIteratorProtocol {
        let stalling: Stalling
        var isFirst = true

        mutating func next() async throws -> [UInt8]? {
            defer { isFirst = false }
            if isFirst { return stalling.first }
            stalling.isAwaited.withLock { $0 = true }
            do {
                while true { try await Task.sleep(nanoseconds: 1_000_000_000) }
            } catch {
                if stalling.reaction == .throwsError { throw error }
                return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stalling: self) }
}
