import NshTrust

/// Keeps packages that were just opened, and with them the leases on their trees, until their engines have had the time
/// to take leases of their own.
final class LeaseHolder: Sendable {
    /// How long a lease is kept after the answer, in seconds.
    static let seconds: UInt64 = 10
    /// How many are kept; of more, the oldest go first.
    static let maximumCount = 64

    private struct Held: Sendable {
        let package: NshPackage
        let until: UInt64
    }

    private let held = Locked<[Held]>([])

    /// Keeps a package; one of the same digest is kept once.
    func keep(_ package: NshPackage) {
        let now = MonotonicTime.nanoseconds()
        let dropped = held.withLock { held in
            var dropped = held.filter { $0.package.digest == package.digest || $0.until <= now }
            held.removeAll { $0.package.digest == package.digest || $0.until <= now }
            if held.count >= Self.maximumCount { dropped.append(held.removeFirst()) }
            held.append(Held(package: package, until: now + Self.seconds * 1_000_000_000))
            return dropped
        }
        _ = dropped  // closed outside of the lock
    }

    /// Lets go of those whose time is over.
    func dropExpired() {
        let now = MonotonicTime.nanoseconds()
        let dropped = held.withLock { held in
            let dropped = held.prefix { $0.until <= now }
            held.removeFirst(dropped.count)
            return Array(dropped)
        }
        _ = dropped
    }

    /// Lets go of all.
    func dropAll() { held.withLock { $0 = [] } }

    /// How many are kept.
    var count: Int { held.withLock { $0.count } }
}
