import Synchronization
import TestSupport
import Testing

@testable import NshTrust

/// What each processor has of the excerpts, and that it never hands out anything but what was asked for.
@Suite(.rules("POL-24")) struct ExcerptLanesTests {
    private let fixture: StoreFixture
    private let excerpts: [PackageExcerpt]

    init() throws {
        let fixture = try StoreFixture()
        let packages = try (1...40).map { try fixture.record(build: 1, app: "com.example.app\($0)") }
        self.fixture = fixture
        excerpts = try fixture.store.read { snapshot in
            try packages.map { package in
                try #require(
                    try PackageExcerpt(of: package.facts.digest, pinned: [TestKey.root.publicKey], in: snapshot))
            }
        }
    }

    /// Asks again when the thread was moved to another processor, which knows nothing yet.
    private func isFound(_ lanes: ExcerptLanes, _ excerpt: PackageExcerpt, _ epoch: UInt64) -> Bool {
        for _ in 0..<100 {
            if let found = lanes.find(excerpt.installed.facts.digest, notBefore: epoch) {
                return found.excerpt === excerpt
            }
            lanes.keep(LocalExcerpt(excerpt, epoch: epoch))
        }
        return false
    }

    @Test func whatWasKeptIsFoundAndEachDigestHasItsOwn() {
        let lanes = ExcerptLanes()
        #expect(lanes.find(excerpts[0].installed.facts.digest, notBefore: 0) == nil)
        for excerpt in excerpts { lanes.keep(LocalExcerpt(excerpt, epoch: 1)) }
        for excerpt in excerpts { #expect(isFound(lanes, excerpt, 1)) }
    }

    @Test func nothingOfAnEarlierStateIsFound() {
        let lanes = ExcerptLanes()
        for excerpt in excerpts {
            lanes.keep(LocalExcerpt(excerpt, epoch: 1))
            #expect(lanes.find(excerpt.installed.facts.digest, notBefore: 2) == nil)
        }
    }

    @Test func whatIsKeptIsGivenUpWithTheLanesAndNotBefore() {
        weak var kept: LocalExcerpt?
        do {
            let lanes = ExcerptLanes()
            do {
                let local = LocalExcerpt(excerpts[0], epoch: 1)
                kept = local
                lanes.keep(local)
                for _ in 0..<10 { _ = lanes.find(local.digest, notBefore: 1) }
            }
            #expect(kept != nil)
            withExtendedLifetime(lanes) {}
        }
        #expect(kept == nil)
    }

    @Test("64 threads ask for forty packages while the state changes; none gets another's or an old one")
    func threadsNeverGetWhatTheyDidNotAskFor() async throws {
        let (lanes, excerpts, epoch) = (ExcerptLanes(), excerpts, Locked<UInt64>(1))
        let pool = WorkerPool(maximumThreads: 64)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await pool.runBlocking { _ in
                        for round in 0..<2_000 {
                            let excerpt = excerpts[(number + round) % excerpts.count]
                            let now = epoch.withLock { now in
                                if round % 500 == number { now += 1 }
                                return now
                            }
                            guard let found = lanes.find(excerpt.installed.facts.digest, notBefore: now) else {
                                lanes.keep(LocalExcerpt(excerpt, epoch: now))
                                continue
                            }
                            if found.excerpt !== excerpt { Issue.record("another package's") }
                            if found.epoch < now { Issue.record("of state \(found.epoch), asked for \(now)") }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for excerpt in excerpts { #expect(isFound(lanes, excerpt, epoch.withLock { $0 })) }
    }
}
