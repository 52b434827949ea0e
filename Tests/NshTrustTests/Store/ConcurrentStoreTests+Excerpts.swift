import TestSupport
import Testing

@testable import NshTrust

/// What is answered from memory, under contention.
extension ConcurrentStoreTests {
    /// The floor that a root's list sets, as an excerpt has it; 0 for none.
    private static func floor(by root: TestKey, of package: InstalledPackage, in excerpt: PackageExcerpt) throws
        -> Int64
    {
        try excerpt.minimumBuilds(of: package.facts.app).first { $0.list.issuer == root.publicKey.hash }?.build ?? 0
    }

    @Test("64 threads ask from memory while this process and another apply lists", .rules("POL-24"))
    func excerptsAreNeverOlderThanTheyMayBe() async throws {
        let (own, other) = (try StoreFixture(directory), try StoreFixture(directory))
        let package = try own.record(build: 5)
        let pinned = [TestKey.root.publicKey, TestKey.secondRoot.publicKey]
        let byOther = Locked<[(floor: Int64, at: UInt64)]>([])
        let byOwn = Locked<Int64>(0)
        let asked = Locked(0)
        let isOver = CancellationFlag()

        try await threads(64) { number in
            switch number {
            case 0:
                defer { isOver.raise() }
                for floor in Int64(1)...30 {
                    try other.apply(sequence: floor) { $0.minimumBuilds = [package.facts.app: floor] }
                    byOther.withLock { $0.append((floor, MonotonicTime.nanoseconds())) }
                    MonotonicTime.sleep(nanoseconds: 15_000_000)
                }
            case 1:
                var floor: Int64 = 1
                while !isOver.isRaised {
                    try own.apply(by: .secondRoot, sequence: floor) { $0.minimumBuilds = [package.facts.app: floor] }
                    byOwn.withLock { $0 = floor }
                    floor += 1
                    MonotonicTime.sleep(nanoseconds: 5_000_000)
                }
            default:
                while !isOver.isRaised {
                    let now = MonotonicTime.nanoseconds()
                    let old = byOther.withLock { $0.last { $0.at + 50_000_000 <= now }?.floor ?? 0 }
                    let mine = byOwn.withLock { $0 }
                    let excerpt = try #require(try own.store.excerpt(of: package.facts.digest) { pinned }).excerpt
                    let (seen, seenOwn) = (
                        try Self.floor(by: .root, of: package, in: excerpt),
                        try Self.floor(by: .secondRoot, of: package, in: excerpt)
                    )
                    if seen < old { Issue.record("floor \(seen), another process committed \(old) 50 ms before") }
                    if seenOwn < mine { Issue.record("floor \(seenOwn), this process has committed \(mine)") }
                    asked.withLock { $0 += 1 }
                    MonotonicTime.sleep(nanoseconds: 200_000)
                }
            }
        }
        #expect(asked.withLock { $0 } >= 62 && byOwn.withLock { $0 } > 3)
    }

    @Test("what many threads ask for at once is read once", .rules("POL-24"))
    func readsOnceWhatManyAskFor() async throws {
        let fixture = try StoreFixture(directory)
        let package = try fixture.record(build: 1)
        let (excerpts, reads) = (PackageExcerpts(), Locked(0))
        try await threads(32) { _ in
            for asked in [package.facts.digest, SHA256.hash([1])] {
                let answer = try excerpts.answer(
                    for: asked, patience: 0, changeCount: { _ in 1 }, decisionCount: { _ in 1 }
                ) { _ in
                    reads.withLock { $0 += 1 }
                    MonotonicTime.sleep(nanoseconds: 5_000_000)
                    return try fixture.store.read {
                        try PackageExcerpt(of: asked, pinned: [TestKey.root.publicKey], in: $0)
                    }
                }
                if let answer {
                    #expect(answer.digest == asked && asked == package.facts.digest)
                } else {
                    #expect(asked != package.facts.digest)
                }
            }
        }
        #expect(reads.withLock { $0 } == 2)
    }
}
