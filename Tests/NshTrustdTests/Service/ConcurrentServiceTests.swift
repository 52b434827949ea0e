import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// 64 threads at the parts of the service that threads share; run with and without ThreadSanitizer.
@Suite("64 threads at the service", .rules("STO-8"), .serialized) struct ConcurrentServiceTests {
    /// Runs the body on 64 threads at once and rethrows the first error.
    private func threads(_ body: @escaping @Sendable (Int) throws -> Void) async throws {
        let pool = WorkerPool(maximumThreads: 64)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 { group.addTask { try await pool.runBlocking { _ in try body(number) } } }
            try await group.waitForAll()
        }
    }

    @Test("a lane does what it took, once, never more at a time than it may, and turns the rest away")
    func lane() async throws {
        struct Tally: Sendable {
            var running = 0
            var most = 0
            var done: [Int: Int] = [:]
            var taken = 0
        }
        let lane = Lane(threads: 8, waiting: 40, perUser: 12)
        let tally = Locked(Tally())
        // Two that wait for each other, so that two run at once however few processors there are.
        let met = Locked(0)
        for name in [-1, -2] {
            let isTaken = lane.add(
                {
                    tally.withLock { tally in
                        tally.running += 1
                        tally.most = max(tally.most, tally.running)
                        tally.done[name, default: 0] += 1
                    }
                    met.withLock { $0 += 1 }
                    var patience = Backoff(seconds: 30)
                    while met.withLock({ $0 }) < 2, patience.pause() {}
                    tally.withLock { $0.running -= 1 }
                }, for: 6)
            if isTaken { tally.withLock { $0.taken += 1 } }
        }
        try await threads { number in
            for round in 0..<200 {
                let name = number * 1000 + round
                let isTaken = lane.add(
                    {
                        tally.withLock { tally in
                            tally.running += 1
                            tally.most = max(tally.most, tally.running)
                            tally.done[name, default: 0] += 1
                        }
                        if name % 7 == 0 { MonotonicTime.sleep(nanoseconds: 50_000) }
                        tally.withLock { $0.running -= 1 }
                    }, for: UInt32(number % 6))
                if isTaken { tally.withLock { $0.taken += 1 } }
                let figures = lane.figures
                if figures.running > 8 || figures.waiting > 48 { Issue.record("\(figures)") }
            }
        }
        let users = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    lane.stop(); return lane.add({}, for: 1)
                }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(users == [false, false, false, false])
        let end = tally.withLock { $0 }
        #expect(end.done.count == end.taken && end.done.values.allSatisfy { $0 == 1 })
        #expect(end.running == 0 && end.most <= 8 && end.most > 1)
        #expect(lane.figures.rejected == Int64(2 + 64 * 200 - end.taken + 4))
    }

    @Test("each follower gets every event once and in order while others come, go and record")
    func events() async throws {
        let host = try ServiceHost()
        let other = try ServiceHost.core(in: host.directory)
        let first = try host.core.store.read { try $0.newestEvent() }
        let (recorders, perThread) = (8, Int64(15))
        let last = first + Int64(recorders) * perThread
        try await threads { number in
            switch number {
            case ..<recorders:
                let core = number % 2 == 0 ? host.core : other
                for round in 0..<perThread {
                    try core.store.commit { transaction in
                        try transaction.record(
                            NewEvent(
                                .rootForgotten, time: ServiceHost.now, message: "\(number) \(round)", uid: 4, pid: 5))
                    }
                }
            case ..<40:
                let stream = try host.follow("&after=\(first)")
                defer { stream.close() }
                let found = sequences(of: stream, until: last)
                #expect(found == Array((first + 1)...last))
            default:
                // These come and go, at any moment.
                for round in 0..<4 {
                    let stream = try host.follow("&after=\(first + Int64(round) * 20)")
                    for _ in 0..<(round % 3) { _ = stream.take(upTo: 200) }
                    _ = host.service.events.followerCount
                    stream.close()
                }
            }
        }
        #expect(waitUntilNobodyFollows(host) && host.service.events.trouble == nil)
        host.service.stop()
    }

    @Test("whenever a follower leaves it is counted no longer")
    func leaving() async throws {
        let host = try ServiceHost()
        let served = Locked(0)
        try await threads { _ in
            for _ in 0..<100 {
                // Turned away while those who left have not been dropped yet.
                guard let stream = try? host.follow() else { continue }
                served.withLock { $0 += 1 }
                stream.close()
            }
        }
        #expect(served.withLock { $0 } >= EventHub.maximumPerUser)
        #expect(waitUntilNobodyFollows(host), "\(host.service.events.followerCount) are counted for ever")
        host.service.stop()
    }

    @Test("of all threads that have one complaint at one moment one says it")
    func complaints() async throws {
        let host = try ServiceHost()
        let said = Locked([Int](repeating: 0, count: 2000))
        try await threads { _ in
            for kind in 0..<2000 where host.service.isDue("\(kind)") { said.withLock { $0[kind] += 1 } }
        }
        #expect(said.withLock { $0.allSatisfy { $0 == 1 } })
        host.service.stop()
    }

    private func waitUntilNobodyFollows(_ host: ServiceHost) -> Bool {
        let deadline = MonotonicTime.nanoseconds() + 60_000_000_000
        while host.service.events.followerCount > 0, MonotonicTime.nanoseconds() < deadline {
            MonotonicTime.sleep(nanoseconds: 1_000_000)
        }
        return host.service.events.followerCount == 0
    }

    private func sequences(of stream: EventStream, until last: Int64) -> [Int64] {
        var (found, rest): ([Int64], [UInt8]) = ([], [])
        let deadline = MonotonicTime.nanoseconds() + 120_000_000_000
        while found.last != last, MonotonicTime.nanoseconds() < deadline {
            let bytes = stream.take(upTo: 3000)
            if bytes.isEmpty { MonotonicTime.sleep(nanoseconds: 500_000) }
            rest += bytes
            guard let end = rest.lastIndex(of: 0x0A) else { continue }
            for line in String(decoding: rest[...end], as: UTF8.self).split(separator: "\n")
            where line.hasPrefix("id: ") {
                found.append(Int64(line.dropFirst(4)) ?? -1)
            }
            rest.removeSubrange(...end)
        }
        return found
    }

    @Test("requests of every kind at once: each is answered as if it were alone, or told to come back")
    func requests() async throws {
        let host = try ServiceHost()
        let digest = try host.install(build: 1)
        let packages = (Int64(1)...8).map { ServiceHost.package(build: $0, app: "com.example.other") }
        try await threads { number in
            for round in 0..<5 {
                let answer: Answer
                switch (number + round) % 8 {
                case 0, 1, 2:
                    answer = try host.send("POST /v1/packages/check", "{\"digest\":\"\(digest)\"}")
                    #expect(answer.status == 200)
                case 3: answer = try host.send("GET /v1/apps")
                case 4: answer = try host.send("GET /v1/status")
                case 5: answer = try host.send("POST /v1/packages/open", package: packages[round % 8])
                case 6: answer = try host.send("POST /v1/revocations", ServiceHost.list(Int64(round + 1)))
                default: answer = try host.send("GET /metrics")
                }
                let isRefusal = ["rolledBack", "revocationsOlder"].contains(answer.code)
                if answer.status != 200, !isRefusal, answer.code != "overloaded" {
                    Issue.record("\(answer.status) \(answer.text)")
                }
            }
        }
        let accepted = try host.core.store.read { try $0.events(after: 0, limit: 1000) }.events
            .filter { $0.event.kind == .opened && $0.event.app == PackageBuilder.id("com.example.other") }
            .compactMap(\.event.build)
        #expect(accepted == accepted.sorted() && !accepted.isEmpty)
        host.service.stop()
    }
}
