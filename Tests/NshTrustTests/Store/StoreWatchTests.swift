import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// Waiting for changes of a store.
@Suite struct StoreWatchTests {
    let directory: TemporaryDirectory
    let state: StateDirectory
    let store: SQLiteTrustStore

    init() throws {
        directory = try TemporaryDirectory()
        state = try StateDirectory.open(directory.path("state"))
        store = try SQLiteTrustStore.open(in: state)
    }

    private func commit(in store: SQLiteTrustStore) throws {
        try store.commit { try $0.record(StoreFixture.event(.treeRemoved)) }
    }

    /// Empties what the watch has to say of earlier changes.
    private func drain(_ watch: StoreWatch) { while watch.wait(seconds: 0) {} }

    @Test func waitsForTheTimeWhenNothingHappens() throws {
        let watch = StoreWatch(state)
        let begun = MonotonicTime.nanoseconds()
        #expect(!watch.wait(seconds: 0.1))
        #expect(MonotonicTime.nanoseconds() - begun >= 100_000_000)
        _ = try store.read { try $0.acceptedBuildCount() }
        #expect(!watch.wait(seconds: 0))
    }

    @Test func noticesACommitOfAnotherConnectionSoon() async throws {
        let watch = StoreWatch(state)
        let other = try SQLiteTrustStore.open(in: try StateDirectory.open(directory.path("state")))
        let committed = Locked<UInt64>(0)
        let pool = WorkerPool(maximumThreads: 1)
        for _ in 0..<20 {
            drain(watch)
            let before = try store.changeCount()
            async let done: Void = pool.runBlocking { _ in
                MonotonicTime.sleep(nanoseconds: 3_000_000)
                try commit(in: other)
                committed.withLock { $0 = MonotonicTime.nanoseconds() }
            }
            var seen = before
            while seen == before {
                // Over in vain, perhaps: the other thread may start late. What counts is the time from its commit on.
                _ = watch.wait(seconds: 10)
                seen = try store.changeCount()
            }
            let heard = MonotonicTime.nanoseconds()
            try await done
            let late = Int64(heard) - Int64(committed.withLock { $0 })
            #expect(late < 1_000_000_000)
        }
    }

    @Test func noticesACommitThatRemovesTheJournal() throws {
        let watch = StoreWatch(state)
        let other = try SQLiteConnection(path: directory.path("state/trust.sqlite"), mode: .readWrite)
        _ = try other.row("PRAGMA journal_mode = delete") { (row) throws(Trouble) in row.text(0) }
        drain(watch)
        try other.run("INSERT INTO meta (name, value) VALUES ('x', 1)")
        #expect(watch.wait(seconds: 0))
        #expect(!FileManager.default.fileExists(atPath: directory.path("state/trust.sqlite-journal")))
    }

    @Test func wakingEndsAWait() async throws {
        let watch = StoreWatch(state)
        watch.wake()
        #expect(watch.wait(seconds: 10))
        #expect(!watch.wait(seconds: 0))
        let pool = WorkerPool(maximumThreads: 1)
        async let woken = pool.runBlocking { _ in watch.wait(seconds: 30) }
        try await Task.sleep(nanoseconds: 20_000_000)
        watch.wake()
        #expect(try await woken)
    }

    @Test func aDirectoryThatCannotBeWatchedIsLookedAtEveryFiftiethSecond() throws {
        #expect(mkdir(directory.path("gone"), 0o700) == 0)
        func watching() throws -> DirectoryWatch {
            DirectoryWatch(try Directory.open(directory.path("gone")), modified: ["a"], replaced: [])
        }
        let watch = try watching()
        #expect(!watch.wait(seconds: 0.1))
        #expect(rmdir(directory.path("gone")) == 0)
        // First the end of the watch itself, then "perhaps" again and again.
        #expect(watch.wait(seconds: 10))
        for _ in 0..<3 {
            let begun = MonotonicTime.nanoseconds()
            #expect(watch.wait(seconds: 10))
            #expect(MonotonicTime.nanoseconds() - begun < 5_000_000_000)
        }
    }

    @Test(.attack("K5")) func opensNoDescriptorOfTheDatabase() throws {
        func descriptors() throws -> Int {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let files = FileManager.default
            return names.filter { name in
                let path = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return path?.hasPrefix(directory.path("state/trust.sqlite")) ?? false
            }.count
        }
        let before = try descriptors()
        let watch = StoreWatch(state)
        _ = watch.wait(seconds: 0)
        #expect(try descriptors() == before)
    }

    @Test func countsEachCommitOfEveryConnection() throws {
        let other = try SQLiteTrustStore.open(in: try StateDirectory.open(directory.path("state")))
        var last = try store.changeCount()
        #expect(try store.changeCount() == last)
        for committing in [store, other, store] {
            try commit(in: committing)
            let now = try store.changeCount()
            #expect(now != last)
            last = now
        }
        #expect(throws: Trouble.self) { try other.commit { _ in throw Trouble(.cancelled, "no") } }
        #expect(try store.changeCount() == last)
    }

    @Test func manyFollowTheStoreAndTheLastOneEndsIt() async throws {
        let followers = StoreFollowers(state)
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let ready = Locked(0)
                for _ in 0..<8 {
                    group.addTask {
                        var changes = followers.changes().makeAsyncIterator()
                        ready.withLock { $0 += 1 }
                        #expect(await changes.next() != nil)
                    }
                }
                while ready.withLock({ $0 }) < 8 { try await Task.sleep(nanoseconds: 1_000_000) }
                try commit(in: store)
                try await group.waitForAll()
            }
        }
    }
}
