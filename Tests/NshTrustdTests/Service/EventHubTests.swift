import Glibc
import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshTrustd

@Suite("Following the decision log")
struct EventHubTests {
    let host: ServiceHost
    init() throws { host = try ServiceHost() }

    /// Takes bytes until the predicate holds or ten seconds have passed.
    private func text(of stream: EventStream, until isDone: (String) -> Bool) -> String {
        var text = ""
        let deadline = MonotonicTime.nanoseconds() + 10_000_000_000
        while !isDone(text), MonotonicTime.nanoseconds() < deadline {
            let bytes = stream.take(upTo: 1 << 20)
            if bytes.isEmpty { MonotonicTime.sleep(nanoseconds: 200_000) }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    private func sequences(_ text: String) -> [Int64] {
        text.split(separator: "\n").compactMap { $0.hasPrefix("id: ") ? Int64($0.dropFirst(4)) : nil }
    }

    private func record(_ count: Int, in core: TrustCore) throws {
        try core.store.commit { transaction in
            for number in 0..<count {
                try transaction.record(
                    NewEvent(
                        .rootForgotten, time: ServiceHost.now, message: "\(number)", uid: 4, pid: 5))
            }
        }
    }

    @Test("a follower hears of what another process's store commits, within 100 ms in 99 of 100 cases")
    func latency() throws {
        let other = try ServiceHost.core(in: host.directory)
        let stream = try host.follow()
        _ = text(of: stream) { !$0.isEmpty }
        MonotonicTime.sleep(nanoseconds: 100_000_000)
        var latencies: [UInt64] = []
        for _ in 0..<100 {
            try record(1, in: other)
            let committed = MonotonicTime.nanoseconds()
            let text = text(of: stream) { $0.contains("\n\n") }
            latencies.append(MonotonicTime.nanoseconds() - committed)
            #expect(text.contains("event: rootForgotten"))
        }
        latencies.sort()
        print("latency of an event: median \(latencies[50] / 1000) µs, p99 \(latencies[98] / 1000) µs")
        #expect(latencies[98] < 100_000_000)
    }

    @Test("an event is its row: id, kind and document; who asked is shown to administrators only", .rules("API-7"))
    func frames() throws {
        try record(1, in: host.core)
        let rows = try host.core.store.read { try $0.events(after: 0, limit: 10).events }
        for (peer, shows) in [(ServiceHost.admin, true), (ServiceHost.other, false)] {
            let stream = try host.follow("&after=1", peer: peer)
            let text = text(of: stream) { $0.contains("data:") }
            let document = EventDocument(NshEvent(rows[1]), showsCaller: shows)
            #expect(text == ":\n\nid: 2\nevent: rootForgotten\ndata: \(JSONLine.text(document.object))\n\n")
        }
    }

    @Test("without a number only new events come; Last-Event-ID resumes; after wins over it")
    func positions() throws {
        try record(5, in: host.core)
        MonotonicTime.sleep(nanoseconds: 200_000_000)
        let fresh = try host.follow()
        let resumed = try host.follow(lastEventID: "3")
        let chosen = try host.follow("&after=4", lastEventID: "1")
        let all = try host.follow("&after=0")
        _ = text(of: all) { sequences($0).count == 6 }
        try record(1, in: host.core)
        #expect(sequences(text(of: fresh) { !sequences($0).isEmpty }) == [7])
        #expect(sequences(text(of: resumed) { sequences($0).contains(7) }) == [4, 5, 6, 7])
        #expect(sequences(text(of: chosen) { sequences($0).contains(7) }) == [5, 6, 7])
    }

    @Test("who follows from now on hears of each event that is committed after the answer, at any moment")
    func fromNowOn() throws {
        let other = try ServiceHost.core(in: host.directory)
        let isDone = CancellationFlag()
        let recording: @Sendable () -> Void = {
            while !isDone.isRaised {
                do { try record(1, in: other) } catch { Issue.record(error) }
            }
        }
        try OwnThread.whileRunning(recording) {
            defer { isDone.raise() }
            for _ in 0..<60 {
                let stream = try host.follow()
                let known = try host.core.store.read { try $0.newestEvent() }
                let heard = sequences(text(of: stream) { sequences($0).contains { $0 > known } })
                stream.close()
                #expect(heard.first.map { $0 <= known + 1 } ?? false, "heard \(heard) after \(known)")
            }
        }
    }

    @Test("one who is far behind is caught up completely and in order, and so is one who reads slowly")
    func catchingUp() throws {
        try record(5000, in: host.core)
        let stream = try host.follow("&after=1")
        // Not read for a while: the hub stops at the high water mark and goes on when it is drained.
        let deadline = MonotonicTime.nanoseconds() + 10_000_000_000
        while !stream.isFull, MonotonicTime.nanoseconds() < deadline { MonotonicTime.sleep(nanoseconds: 1_000_000) }
        #expect(stream.isFull)
        try record(10, in: host.core)
        let text = text(of: stream) { $0.contains("id: 5011\n") }
        #expect(sequences(text) == Array(2...5011) && !text.contains("event: gap"))
    }

    @Test("many who begin at one place get every page, which is read once for all of them")
    func sharedPages() throws {
        var pages = RecentPages()
        var made = 0
        for after in [0, 200, 0, 200, 400, 0] as [Int64] {
            _ = pages.page(after: after) {
                made += 1
                return EventFrames(EventPage(events: [], next: after, oldest: 0))
            }
        }
        #expect(made == 3)
        try record(1500, in: host.core)
        let streams = try (0..<40).map { _ in try host.follow("&after=0") }
        for stream in streams {
            #expect(sequences(text(of: stream) { $0.contains("id: 1501\n") }) == Array(1...1501))
        }
    }

    @Test("a follower is told when rows between it and the log are gone", .rules("API-8"))
    func gaps() throws {
        try record(65_700, in: host.core)
        let oldest = try host.core.store.read { try $0.events(after: 0, limit: 1).oldest }
        #expect(oldest > 2)
        let stream = try host.follow("&after=1")
        let text = text(of: stream) { $0.utf8.count > 1000 }
        #expect(
            text.hasPrefix(":\n\nevent: gap\ndata: {\"oldest\":\(oldest)}\n\nid: \(oldest)\n"), "\(text.prefix(100))")
        let answer = try host.send("GET /v1/events?after=1")
        #expect(answer.status == 410 && answer.code == "eventsGone" && answer.integer("oldest") == oldest)
        #expect(try host.send("GET /v1/events?after=\(oldest - 1)").status == 200)
        #expect(try host.send("GET /v1/events?after=0").status == 200)
    }

    @Test("only so many follow, and who left makes room")
    func bound() throws {
        var streams = try (0..<EventHub.maximumPerUser).map { _ in try host.follow(peer: ServiceHost.other) }
        let second = try host.send("GET /v1/events?follow=true", peer: ServiceHost.other)
        #expect(second.status == 503 && second.code == "overloaded")
        streams += try (streams.count..<EventHub.maximumFollowers).map { _ in try host.follow() }
        let answer = try host.send("GET /v1/events?follow=true", peer: ServiceHost.engine)
        #expect(answer.status == 503 && answer.code == "overloaded")
        streams.removeLast().close()
        let deadline = MonotonicTime.nanoseconds() + 10_000_000_000
        while host.service.events.followerCount == EventHub.maximumFollowers, MonotonicTime.nanoseconds() < deadline {
            MonotonicTime.sleep(nanoseconds: 1_000_000)
        }
        _ = try host.follow()
        #expect(host.service.events.followerCount == EventHub.maximumFollowers)
    }

    @Test("the hub goes on when the store could not be read for a while")
    func troubles() throws {
        let stream = try host.follow()
        _ = text(of: stream) { !$0.isEmpty }
        let database = host.directory.path + "/state/trust.sqlite"
        let before = try host.damage(database)
        #expect(try host.waitForHealth(503).code == "storeCorrupt")
        try host.damage(database, with: before)
        #expect(try host.waitForHealth(200).status == 200)
        try record(1, in: ServiceHost.core(in: host.directory))
        #expect(!sequences(text(of: stream) { !sequences($0).isEmpty }).isEmpty)
        // Twice about the store, and once about what was recorded.
        #expect(host.log.lines.filter { $0.contains("the decision log") }.count == 2)
        #expect(host.log.lines.filter { $0.hasPrefix("rootForgotten") }.count == 1)
    }

    @Test("a stopped hub takes nobody and its thread has ended")
    func stops() throws {
        host.service.stop()
        let answer = try host.send("GET /v1/events?follow=true")
        #expect(answer.status == 503 && answer.code == "stopping")
    }
}
