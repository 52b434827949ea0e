import Synchronization

/// The excerpts of packages that were asked for lately, dropped as soon as a commit changed what decisions are made by.
///
/// A commit of this process counts at once. Those of other processes are asked for every twenty milliseconds: an answer
/// reflects each that finished fifty milliseconds before. Between them an answer costs no system call, and waits for
/// nothing that another thread does.
///
/// - Spec: POL-24
final class PackageExcerpts: Sendable {
    /// Times in nanoseconds.
    private enum Age {
        /// From here on somebody asks whether the store changed, and does not wait for the answer.
        static let soft: UInt64 = 20_000_000
        /// From here on nobody is answered before it is known whether the store changed.
        static let hard: UInt64 = 50_000_000
        /// Between two questions, while another process keeps the store locked.
        static let pause: UInt64 = 1_000_000
    }
    private static let shardCount = 16
    /// Excerpts that a shard holds: 65,536 in all.
    private static let shardCapacity = 4096
    /// Digests of packages that are not installed, in a shard.
    private static let shardUnknown = 256

    /// What is known of a digest: nil for a package that is not installed.
    private struct Found: Sendable {
        let excerpt: PackageExcerpt?
    }

    private struct Shard: Sendable {
        var epoch: UInt64 = 0
        var installed: [Digest: PackageExcerpt] = [:]
        var unknown: Set<Digest> = []

        mutating func keep(_ excerpt: PackageExcerpt?, of digest: Digest, _ epoch: UInt64) {
            guard epoch == self.epoch else { return }
            if let excerpt {
                if installed.count >= shardCapacity { installed.removeAll(keepingCapacity: true) }
                installed[digest] = excerpt
            } else {
                if unknown.count >= shardUnknown { unknown.removeAll(keepingCapacity: true) }
                unknown.insert(digest)
            }
        }
    }

    private let lanes = ExcerptLanes()
    private let shards = (0..<shardCount).map { _ in Locked(Shard()) }
    /// Held by the one thread that reads the store, and counts how often one did.
    ///
    /// The store has one connection for it, and what many ask for is read once.
    private let reads = Locked<UInt64>(0)
    /// Counts the states of the store that were seen; excerpts of an earlier one are worth nothing.
    let epoch = Atomic<UInt64>(1)
    /// When the store was last found to be in the state of `epoch`.
    private let validatedAt = Atomic<UInt64>(0)
    /// Commits of this process, and how many of them that finding reflects.
    private let commits = Atomic<UInt64>(1)
    private let commitsSeen = Atomic<UInt64>(0)
    private let lastLook = Atomic<UInt64>(0)
    /// What tells the state of `epoch` from others.
    private let known = Locked<Known?>(nil)

    /// A state of the store, by its own counts.
    private struct Known: Sendable {
        /// Of all commits; cheap to ask for.
        ///
        /// Nil after a question that failed: it may have closed the connection, and the next one counts anew.
        var changes: Int64?
        /// Of those that matter.
        let decisions: Int64
    }

    /// Asks the store, and waits for locks of other processes for so many seconds.
    typealias Question = (_ patience: Double) throws -> Int64

    /// Reads the store, and waits for locks of other processes for so many seconds.
    typealias Reading = (_ patience: Double) throws -> PackageExcerpt?

    /// Says that this process has committed something that decisions are made by.
    func noteCommit() { commits.add(1, ordering: .acquiringAndReleasing) }

    /// Drops everything, for something that does not stand in the store has changed.
    func forget() { epoch.add(1, ordering: .acquiringAndReleasing) }

    /// Returns the excerpt of a package from memory, where it is there and no question is due.
    func known(_ digest: Digest) -> LocalExcerpt? {
        guard let age = age(at: MonotonicTime.nanoseconds()), age < Age.soft else { return nil }
        return lanes.find(digest, notBefore: epoch.load(ordering: .acquiring))
    }

    /// Returns what is known of a digest, or finds it out.
    ///
    /// - Parameters:
    ///   - digest: The package digest.
    ///   - patience: How long locks of other processes are waited for, in seconds, however many threads ask at once.
    ///   - changeCount: Asks for the store's count of all commits.
    ///   - decisionCount: Asks for its count of those that changed what decisions are made by.
    ///   - read: Takes the excerpt from the store, and waits as the others do; nil when the package is not installed.
    /// - Returns: The excerpt; nil for a package that is not installed.
    /// - Throws: What these throw.
    func answer(
        for digest: Digest, patience: Double, changeCount: Question, decisionCount: Question, read: Reading
    ) throws -> LocalExcerpt? {
        // Counted from here: else of many threads each would wait as long as all before it, and then as long again.
        let deadline = MonotonicTime.moment(in: patience)
        try validate(deadline, changeCount, decisionCount)
        // Before the store is read: what is read later than a change is not kept as if it were from before it.
        let epoch = epoch.load(ordering: .acquiring)
        if let local = lanes.find(digest, notBefore: epoch) { return local }
        guard let excerpt = try shared(digest, epoch, deadline, read) else { return nil }
        let local = LocalExcerpt(excerpt, epoch: epoch)
        lanes.keep(local)
        return local
    }

    /// Returns the excerpt that all processors share, or reads it; nil when the package is not installed.
    private func shared(
        _ digest: Digest, _ epoch: UInt64, _ deadline: UInt64, _ read: Reading
    ) throws -> PackageExcerpt? {
        let shard = shards[Int(truncatingIfNeeded: digest.shardNumber % UInt64(Self.shardCount))]
        if let found = Self.look(digest, epoch, in: shard) { return found.excerpt }
        return try reads.withLock { reads in
            // Another thread may have read it while this one waited for it.
            if let found = Self.look(digest, epoch, in: shard) { return found.excerpt }
            reads += 1
            let excerpt = try read(MonotonicTime.seconds(until: deadline))
            shard.withLock { $0.keep(excerpt, of: digest, epoch) }
            return excerpt
        }
    }

    private static func look(_ digest: Digest, _ epoch: UInt64, in shard: Locked<Shard>) -> Found? {
        shard.withLock { shard in
            if shard.epoch < epoch { shard = Shard(epoch: epoch) }
            if let excerpt = shard.installed[digest] { return Found(excerpt: excerpt) }
            return shard.unknown.contains(digest) ? Found(excerpt: nil) : nil
        }
    }

    // MARK: - Freshness

    /// Makes sure that `epoch` is the state of the store now, or fifty milliseconds ago.
    private func validate(_ deadline: UInt64, _ changeCount: Question, _ decisionCount: Question) throws {
        let now = MonotonicTime.nanoseconds()
        guard let age = age(at: now), age < Age.hard else {
            try known.withLock { try lookForChanges(&$0, deadline, changeCount, decisionCount) }
            return
        }
        guard age >= Age.soft else { return }
        let last = lastLook.load(ordering: .relaxed)
        guard now > last, now - last >= Age.pause,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        do {
            // Who looks already may be waiting for the store; this one need not.
            try known.withLockIfFree { try lookForChanges(&$0, now, changeCount, decisionCount) }
        } catch let trouble as Trouble where trouble.code == .storeBusy {
            // Another process commits just now. What is known counts for a while yet.
        }
    }

    /// How long ago the state was found, or nil when this process has committed since.
    private func age(at now: UInt64) -> UInt64? {
        // In the reverse of the order in which `lookForChanges` writes them.
        let found = validatedAt.load(ordering: .acquiring)
        guard commitsSeen.load(ordering: .acquiring) == commits.load(ordering: .acquiring) else { return nil }
        return now > found ? now - found : 0
    }

    private func lookForChanges(
        _ known: inout Known?, _ deadline: UInt64, _ changeCount: Question, _ decisionCount: Question
    ) throws {
        let begun = MonotonicTime.nanoseconds()
        // Another thread may have looked while this one waited for it.
        if let age = age(at: begun), age < Age.soft { return }
        let committed = commits.load(ordering: .acquiring)
        let before = known
        known?.changes = nil
        let changes = try changeCount(MonotonicTime.seconds(until: deadline))
        if changes != before?.changes {
            // Read after the changes were counted: a commit in between makes the next look read it again.
            let decisions = try decisionCount(MonotonicTime.seconds(until: deadline))
            if decisions != before?.decisions { epoch.add(1, ordering: .acquiringAndReleasing) }
            known = Known(changes: changes, decisions: decisions)
        } else {
            known = before
        }
        commitsSeen.store(committed, ordering: .releasing)
        validatedAt.store(begun, ordering: .releasing)
    }
}
