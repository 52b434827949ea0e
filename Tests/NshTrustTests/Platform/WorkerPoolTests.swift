import Testing

@testable import NshTrust

@Suite struct WorkerPoolTests {
    @Test func returnsAndThrowsWhatTheWorkDoes() async throws {
        struct Stop: Error {}
        let pool = WorkerPool(maximumThreads: 2)
        #expect(try await pool.runBlocking { _ in 7 } == 7)
        await #expect(throws: Stop.self) { try await pool.runBlocking { _ in throw Stop() } }
    }

    @Test func runsMoreJobsThanThreads() async throws {
        let pool = WorkerPool(maximumThreads: 3)
        let running = Locked((now: 0, most: 0))
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await pool.runBlocking { _ in
                        running.withLock { state in
                            state.now += 1
                            state.most = max(state.most, state.now)
                        }
                        MonotonicTime.sleep(nanoseconds: 100_000)
                        running.withLock { $0.now -= 1 }
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 4950)
        #expect(running.withLock { $0.most } <= 3)
    }

    @Test func givesItsResultAway() async throws {
        final class Token: Sendable {}
        let pool = WorkerPool(maximumThreads: 2)
        for _ in 0..<2000 {
            weak var held: Token?
            do {
                let token = try await pool.runBlocking { _ in Token() }
                held = token
                #expect(held != nil)
            }
            #expect(held == nil)
        }
    }

    @Test func cancellingTheTaskRaisesTheFlag() async throws {
        let pool = WorkerPool(maximumThreads: 1)
        let started = Locked(false)
        let task = Task {
            try await pool.runBlocking { flag in
                started.withLock { $0 = true }
                while !flag.isRaised { MonotonicTime.sleep(nanoseconds: 1_000_000) }
                try flag.check()
            }
        }
        while !started.withLock({ $0 }) { await Task.yield() }
        task.cancel()
        await #expect(throws: Trouble(.cancelled, "the caller cancelled the operation")) { try await task.value }
    }

    @Test func aCancelledTaskDoesNotWaitForAThread() async throws {
        let pool = WorkerPool(maximumThreads: 1)
        let (isHeld, isWaiting, ran) = (Locked(true), Locked(false), Locked(false))
        let holder = Task {
            try await pool.runBlocking { _ in
                while isHeld.withLock({ $0 }) { MonotonicTime.sleep(nanoseconds: 1_000_000) }
            }
        }
        let task = Task {
            isWaiting.withLock { $0 = true }
            try await pool.runBlocking { _ in ran.withLock { $0 = true } }
        }
        while !isWaiting.withLock({ $0 }) { await Task.yield() }
        try await Task.sleep(nanoseconds: 20_000_000)
        task.cancel()
        await #expect(throws: Trouble(.cancelled, "the caller cancelled the operation")) { try await task.value }
        #expect(isHeld.withLock { $0 } && !ran.withLock { $0 })
        isHeld.withLock { $0 = false }
        try await holder.value
        // Its place in the queue is passed over.
        try await pool.runBlocking { _ in }
        #expect(!ran.withLock { $0 })
    }

    @Test func workOfACancelledTaskIsNotRun() async throws {
        let pool = WorkerPool(maximumThreads: 1)
        let ran = Locked(false)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await pool.runBlocking { _ in ran.withLock { $0 = true } }
        }
        task.cancel()
        await #expect(throws: Trouble.self) { try await task.value }
        #expect(!ran.withLock { $0 })
    }
}
