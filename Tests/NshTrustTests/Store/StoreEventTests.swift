import TestSupport
import Testing

@testable import NshTrust

@Suite struct StoreEventTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func events() throws -> [StoredEvent] {
        try fixture.store.read { try $0.events(after: 0, limit: 100_000).events }
    }

    /// Fills the log with rows that nobody merged or counted.
    private func fill(_ count: Int, kind: String) throws {
        try fixture.store.inspect { connection in
            try connection.run(
                """
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
                INSERT INTO events (kind, time, message, uid, pid, count) SELECT ?, n * -1000, 'filled', 1, 1, 1 FROM numbers
                """, [.integer(Int64(count)), .text(kind)])
        }
    }

    private func record(_ events: [NewEvent]) throws {
        try fixture.store.commit { transaction in for event in events { try transaction.record(event) } }
    }

    @Test(.rules("POL-21")) func eachRefusalHasARowOfItsOwn() throws {
        try record((0..<3).map { StoreFixture.event(.refused, at: 100 + $0, code: "rolledBack") })
        #expect(try events().map(\.event.time) == [100, 101, 102])
        #expect(try events().map(\.count) == [1, 1, 1])
    }

    @Test(.rules("STO-9")) func floodOfOneCallerAndCodeIsCountedInOneRow() throws {
        try record((0..<1000).map { _ in StoreFixture.event(.refused, code: "rolledBack") })
        let rows = try events()
        #expect(rows.count == 16)
        #expect(rows.map(\.count).reduce(0, +) == 1000)
        try record([
            StoreFixture.event(.refused, code: "keyRevoked"), StoreFixture.event(.refused, code: "rolledBack", uid: 1),
            StoreFixture.event(.refused, at: StoreFixture.now + 61, code: "rolledBack"),
        ])
        #expect(try events().count == 19)
    }

    @Test(.rules("STO-9")) func refusalsNeverPushOutOtherRows() throws {
        try record([StoreFixture.event(.opened)])
        try fill(6000, kind: "refused")
        try record((0..<64).map { StoreFixture.event(.refused, at: Int64($0) * 100, code: "malformed") })
        let rows = try events()
        #expect(rows.first?.event.kind == .opened)
        #expect((4097...4097 + 64).contains(rows.count))
        #expect(rows.last?.event.time == 6300)
    }

    @Test(.rules("STO-9")) func otherRowsAreBoundedToo() throws {
        try fill(66000, kind: "opened")
        try record((0..<64).map { StoreFixture.event(.opened, at: Int64($0)) })
        let page = try fixture.store.read { try $0.events(after: 0, limit: 10) }
        #expect(page.oldest > 1 && page.oldest == page.events.first?.sequence)
        #expect(try (65536...65536 + 64).contains(events().count))
    }

    @Test func pagesGoOnWhereTheLastOneEnded() throws {
        try record((0..<7).map { StoreFixture.event(.opened, at: $0) })
        var seen: [Int64] = []
        var next: Int64 = 0
        while true {
            let page = try fixture.store.read { try $0.events(after: next, limit: 3) }
            if page.events.isEmpty { break }
            seen += page.events.map(\.event.time)
            next = page.next
        }
        #expect(seen == [0, 1, 2, 3, 4, 5, 6])
        #expect(
            try fixture.store.read { try $0.events(after: 99, limit: 3) } == EventPage(events: [], next: 99, oldest: 1))
    }

    @Test func restoresEveryMemberAndKind() throws {
        let app = try #require(AppID("com.example.orders"))
        let kinds = NewEvent.Kind.allCases
        let recorded = kinds.map {
            NewEvent(
                $0, time: 5, app: app, build: 9, digest: SHA256.hash([1]), code: "x", message: "“ü”", uid: UInt32.max,
                pid: Int32.max)
        }
        try record(recorded + [StoreFixture.event(.opened)])
        #expect(try events().map(\.event) == recorded + [StoreFixture.event(.opened)])
    }
}
