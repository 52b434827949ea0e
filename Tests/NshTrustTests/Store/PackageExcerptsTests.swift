import TestSupport
import Testing

@testable import NshTrust

/// When what is in memory counts, by what the store answers.
struct PackageExcerptsTests {
    private let excerpts = PackageExcerpts()
    private let digest = SHA256.hash([1])

    /// Asks about a package that is not installed; returns how often the store was read for it.
    private func ask(patience: Double = 0, changes: @escaping (Double) throws -> Int64, decisions: Int64?) throws -> Int
    {
        var reads = 0
        // What was committed here is asked for at once, not after a while.
        excerpts.noteCommit()
        _ = try excerpts.answer(
            for: digest, patience: patience, changeCount: changes,
            decisionCount: { _ in
                guard let decisions else { throw Trouble(.ioFailure, "the disk fails") }
                return decisions
            },
            read: { _ in
                reads += 1
                return nil
            })
        return reads
    }

    @Test("what is in memory counts until the store says that something was decided", .rules("POL-24"))
    func counts() throws {
        #expect(try ask(changes: { _ in 1 }, decisions: 5) == 1)
        #expect(try ask(changes: { _ in 1 }, decisions: 5) == 0)
        #expect(try ask(changes: { _ in 2 }, decisions: 5) == 0)
        #expect(try ask(changes: { _ in 3 }, decisions: 6) == 1)
    }

    @Test(
        "a connection that failed hides no change: the next one counts its own from the beginning", .rules("POL-24"),
        arguments: [true, false])
    func newConnection(failsAtOnce: Bool) throws {
        #expect(try ask(changes: { _ in 1 }, decisions: 5) == 1)
        // Something was decided, but the question fails, and with it the connection.
        #expect(throws: Trouble.self) {
            try ask(
                changes: { _ in if failsAtOnce { throw Trouble(.ioFailure, "the disk fails") } else { 2 } },
                decisions: nil)
        }
        #expect(try ask(changes: { _ in 1 }, decisions: 6) == 1)
    }

    @Test("no commit brings back the number of a state that a restored backup has undone", .rules("POL-24"))
    func decisionsOfTwoHistories() throws {
        let numbers = try (0..<8).map { _ in
            let fixture = try StoreFixture(try TemporaryDirectory())
            _ = try fixture.record(build: 1)
            return try fixture.store.read { try ($0 as? SQLiteSnapshot)?.decisionCount() }
        }
        #expect(Set(numbers).count == 8)
    }

    @Test("of threads that wait for a locked store none begins to wait when another has given up")
    func patience() async throws {
        let patiences = Locked<[Double]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            let pool = WorkerPool(maximumThreads: 4)
            for _ in 0..<4 { group.addTask { try await pool.runBlocking { _ in askInVain(patiences) } } }
            try await group.waitForAll()
        }
        let waited = patiences.withLock { $0 }
        #expect(waited.count == 4 && waited.reduce(0, +) < 4)
    }
    private func askInVain(_ patiences: Locked<[Double]>) {
        #expect(throws: Trouble(.storeBusy, "the store is locked")) {
            try ask(
                patience: 2,
                changes: { patience in
                    patiences.withLock { $0.append(patience) }
                    MonotonicTime.sleep(nanoseconds: UInt64(patience * 1e9))
                    throw Trouble(.storeBusy, "the store is locked")
                }, decisions: 1)
        }
    }
}
