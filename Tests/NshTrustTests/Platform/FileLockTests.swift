import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite struct FileLockTests {
    let temporary: TemporaryDirectory
    init() throws { temporary = try TemporaryDirectory() }

    @Test(arguments: [
        (FileLock.Sharing.shared, FileLock.Sharing.shared, true), (.shared, .exclusive, false),
        (.exclusive, .shared, false), (.exclusive, .exclusive, false),
    ])
    func sharesOnlyAmongThoseWhoShare(first: FileLock.Sharing, second: FileLock.Sharing, isFree: Bool) throws {
        let a = try Directory.open(temporary.path)
        let b = try Directory.open(temporary.path)
        #expect(try FileLock.take(a.raw, first, "a"))
        #expect(try FileLock.take(b.raw, second, "b") == isFree)
    }

    @Test func waitingEndsWhenTheTimeIsOver() throws {
        let a = try Directory.open(temporary.path)
        let b = try Directory.open(temporary.path)
        #expect(try FileLock.wait(a.raw, .exclusive, seconds: 0, "a"))
        let start = MonotonicTime.nanoseconds()
        #expect(try !FileLock.wait(b.raw, .exclusive, seconds: 0.05, "b"))
        #expect(MonotonicTime.nanoseconds() - start >= 50_000_000)
    }

    @Test func lockGoesWithItsHolder() throws {
        let holder = try LockHolder(temporary.path, exclusively: true)
        let mine = try Directory.open(temporary.path)
        #expect(try !FileLock.take(mine.raw, .exclusive, "mine"))
        holder.stop()
        #expect(try FileLock.take(mine.raw, .exclusive, "mine"))
    }

    @Test("who has waited for long asks more often, so that among many nobody waits in vain", .rules("STO-8"))
    func pausesShrinkTowardsTheEnd() {
        let total: UInt64 = 30_000_000_000
        #expect(Backoff.bound(left: total, of: total) == Backoff.ceiling)
        #expect(Backoff.bound(left: total / 2, of: total) == Backoff.ceiling)
        #expect(Backoff.bound(left: total / 4, of: total) == Backoff.ceiling / 4)
        #expect(Backoff.bound(left: total / 8, of: total) == Backoff.ceiling / 16)
        #expect(Backoff.bound(left: 1, of: total) == 500_000)
        let bounds = stride(from: total, to: 0, by: -1_000_000_000).map { Backoff.bound(left: $0, of: total) }
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(Backoff.bound(left: 0, of: 0) == Backoff.ceiling)
    }
}
