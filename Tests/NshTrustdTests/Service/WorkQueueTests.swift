import Glibc
import NshTrust
import Synchronization
import Testing

@testable import NshTrustd

@Suite("Lanes of work")
struct WorkQueueTests {
    /// Keeps threads busy until it is opened.
    private final class Gate: Sendable {
        private let isOpen = Atomic(false)
        func open() { isOpen.store(true, ordering: .releasing) }
        func pass() { while !isOpen.load(ordering: .acquiring) { MonotonicTime.sleep(nanoseconds: 200_000) } }
    }

    @Test("a lane takes what runs and what may wait, and turns the rest away")
    func bounds() {
        let lane = Lane(threads: 2, waiting: 3)
        let gate = Gate()
        let taken = (0..<10).map { _ in lane.add({ gate.pass() }, for: 1) }
        #expect(taken == Array(repeating: true, count: 5) + Array(repeating: false, count: 5))
        #expect(lane.figures.rejected == 5 && lane.figures.capacity == 3)
        gate.open()
        lane.stop()
        #expect(lane.figures.waiting == 0 && lane.figures.running == 0)
        let isTaken = lane.add({}, for: 1)
        #expect(!isTaken)
    }

    @Test("one user has only so much of a lane, however empty it is")
    func users() {
        let lane = Lane(threads: 4, waiting: 4, perUser: 2)
        let gate = Gate()
        let taken = (0..<3).map { _ in lane.add({ gate.pass() }, for: 1) }
        #expect(taken == [true, true, false])
        let isOtherTaken = lane.add({ gate.pass() }, for: 2)
        #expect(isOtherTaken)
        gate.open()
        while lane.figures.running + lane.figures.waiting > 0 { MonotonicTime.sleep(nanoseconds: 200_000) }
        let isTaken = lane.add({}, for: 1)
        #expect(isTaken)
        lane.stop()
    }

    @Test("jobs run in their order, each once, and stop waits for all of them")
    func order() {
        let lane = Lane(threads: 1, waiting: 1000)
        let done = Locked<[Int]>([])
        let taken = (0..<1000).map { number in lane.add({ done.withLock { $0.append(number) } }, for: 1) }
        #expect(taken.allSatisfy { $0 })
        lane.stop()
        #expect(done.withLock { $0 } == Array(0..<1000))
    }

    @Test("threads that read packages stand back, and those that they start as well")
    func background() {
        /// `SCHED_BATCH`, which the Glibc module lacks.
        let batch: Int32 = 3
        let found = Locked<[Int32]>([])
        let look: @Sendable () -> Void = {
            let niceness = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            found.withLock { $0 += [sched_getscheduler(0), niceness] }
        }
        let lane = Lane(threads: 1, waiting: 1, yields: true)
        let isTaken = lane.add(
            {
                look()
                HelperThread(look)?.join()
            }, for: 1)
        #expect(isTaken)
        lane.stop()
        let here = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        #expect(found.withLock { $0 } == [batch, max(here, 10), batch, max(here, 10)])
    }

    @Test("a full lane keeps no other lane waiting")
    func independence() throws {
        let queue = WorkQueue(workers: 1)
        let gate = Gate()
        for lane in WorkQueue.LaneName.allCases where lane != .queries {
            while (try? queue.add(to: lane, for: UInt32.random(in: 0...UInt32.max), { gate.pass() })) != nil {}
        }
        #expect(throws: Problem.self) { try queue.add(to: .files, for: 1) {} }
        let answered = Gate()
        try queue.add(to: .queries, for: 1) { answered.open() }
        answered.pass()
        gate.open()
        queue.stop()
    }

    @Test("a full lane is 503 with Retry-After, and small questions are still answered")
    func overload() throws {
        let host = try ServiceHost()
        let gate = Gate()
        while (try? host.service.queue.add(to: .upkeep, for: 1, { gate.pass() })) != nil {}
        let full = try host.send("POST /v1/store/prune", "{}")
        #expect(full.status == 503 && full.code == "overloaded" && full.header("Retry-After") == "1")
        #expect(try host.send("GET /v1/health").status == 200)
        #expect(try host.send("GET /v1/apps").status == 200)
        gate.open()
    }
}
