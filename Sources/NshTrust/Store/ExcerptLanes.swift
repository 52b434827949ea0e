import Synchronization

/// An excerpt as the threads of one processor hold it.
///
/// Who holds it is counted here, and not on the excerpt, which all processors share: a count that two of them write
/// travels between them, and together they are slower than one alone.
package final class LocalExcerpt: Sendable {
    /// The excerpt; to be read through this object, for a copy of it or of what it holds is counted there.
    package let excerpt: PackageExcerpt
    /// The state of the store that it is from.
    let epoch: UInt64
    /// Keeps the next object on the heap, which may be another processor's, out of this one's cache lines.
    private let distance = InlineArray<12, UInt64>(repeating: 0)

    /// The package digest.
    package var digest: Digest { excerpt.installed.facts.digest }

    /// Whether it was decided in this second already that the package may start.
    func mayStart(at now: Int64) -> Bool { excerpt.mayStart(at: now) }

    /// Makes an object that nobody else holds.
    init(_ excerpt: PackageExcerpt, epoch: UInt64) {
        self.excerpt = excerpt
        self.epoch = epoch
    }
}

/// The excerpts that were asked for last, a set for each processor.
///
/// A question takes an excerpt out of its place and puts it back, without waiting: when a thread is stopped in between,
/// the others find the place empty and fill it anew. Nothing here is needed: what is not found is asked for elsewhere.
///
/// At most 4,096 objects of 150 bytes for each processor that was asked on, and the places themselves: 640 KB.
final class ExcerptLanes: Sendable {
    /// Processors beyond the 64th share a lane with another.
    private let lanes = InlineArray<64, LaneReference> { _ in LaneReference() }

    /// Returns the excerpt of a package where it is from a state of the store or a later one.
    func find(_ digest: Digest, notBefore epoch: UInt64) -> LocalExcerpt? {
        lanes[here].made?._withUnsafeGuaranteedRef { $0.find(digest, notBefore: epoch) }
    }

    /// Keeps an excerpt for the next question on this processor.
    func keep(_ local: LocalExcerpt) {
        lanes[here].lane()._withUnsafeGuaranteedRef { $0.keep(local) }
    }

    private var here: Int { Processors.current % lanes.count }
}

/// A lane, made when its processor first keeps something, and there until all are given up.
///
/// As `AtomicLazyReference`, but that who looks at the lane does not count as one who holds it.
private struct LaneReference: ~Copyable, Sendable {
    private let content = Atomic<Unmanaged<Lane>?>(nil)

    /// The lane, once it is made.
    var made: Unmanaged<Lane>? { content.load(ordering: .acquiring) }

    /// The lane, which is made when there is none.
    func lane() -> Unmanaged<Lane> {
        if let made { return made }
        let new = Unmanaged.passRetained(Lane())
        let (isFirst, other) = content.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
        guard !isFirst, let other else { return new }
        new.release()
        return other
    }

    deinit { made?.release() }
}

/// What one processor asks for; a thread that has just been moved from it to another does no harm.
///
/// A digest has two places. Who comes to its first sends whoever is there to that one's other place, and so on for a
/// while; who has been sent last of all is forgotten.
private final class Lane: Sendable {
    private let places = InlineArray<4096, Place> { _ in Place() }

    func find(_ digest: Digest, notBefore epoch: UInt64) -> LocalExcerpt? {
        let first = firstPlace(of: digest)
        return look(first, digest, epoch) ?? look(otherPlace(of: digest, than: first), digest, epoch)
    }

    private func look(_ index: Int, _ digest: Digest, _ epoch: UInt64) -> LocalExcerpt? {
        // One of an earlier state is not put back.
        guard let local = places[index].take(), local.epoch >= epoch else { return nil }
        places[index].put(local)
        return local.digest == digest ? local : nil
    }

    func keep(_ local: LocalExcerpt) {
        var (local, place) = (local, firstPlace(of: local.digest))
        for _ in 0..<4 {
            guard let other = places[place].put(local), other.epoch >= local.epoch, other.digest != local.digest else {
                return
            }
            (local, place) = (other, otherPlace(of: other.digest, than: place))
        }
    }

    private func firstPlace(of digest: Digest) -> Int {
        Int(truncatingIfNeeded: digest.shardNumber % UInt64(places.count))
    }

    /// The second place for the first, and the first for the second.
    private func otherPlace(of digest: Digest, than place: Int) -> Int {
        place ^ Int(truncatingIfNeeded: digest.shardNumber >> 32 % UInt64(places.count) | 1)
    }
}

/// Holds one object or none.
///
/// Who takes it has it alone, reference and all.
private struct Place: ~Copyable, Sendable {
    private let content = Atomic<Unmanaged<LocalExcerpt>?>(nil)

    func take() -> LocalExcerpt? { content.exchange(nil, ordering: .acquiring)?.takeRetainedValue() }

    /// Returns what was there instead.
    @discardableResult
    func put(_ local: LocalExcerpt) -> LocalExcerpt? {
        content.exchange(.passRetained(local), ordering: .acquiringAndReleasing)?.takeRetainedValue()
    }

    deinit { content.exchange(nil, ordering: .acquiring)?.release() }
}
