/// What lists revoke, in eight bytes an entry: kept in memory by a process that looks up often.
///
/// It says "not revoked" and nothing else; whatever it may hold, SQLite is asked about in the same snapshot. It speaks of one
/// state of the lists, which has a name that nothing else can have: the payload digests of the lists whose entries it was
/// made of. A snapshot that holds other lists does not use it, so a commit counts as soon as without it, whoever made it.
final class RevokedPrefixes: Sendable {
    /// Look-ups in one state that make it worth while.
    static let enoughLookUps = 4096
    /// Look-ups that do not count after a gathering that brought nothing.
    private static let lookUpsBetweenVainGatherings = 1 << 20
    /// Of lists with more entries none is kept: it would take more than 17 MiB.
    static let maximumEntries: Int64 = 1 << 21
    /// The kinds of entries that are kept.
    static let kinds: [Schema.EntryKind] = [.certificate, .key, .package]

    /// The entries of one state of the lists.
    final class Entries: Sendable {
        /// The payload digests of the lists, which name the state.
        let lists: [Digest]
        private let certificates: PrefixSet
        private let keys: PrefixSet
        private let packages: PrefixSet

        /// Makes them of a set for each of `kinds`; one that is missing would be empty.
        init(of lists: [Digest], _ sets: [Schema.EntryKind: PrefixSet]) {
            self.lists = lists
            certificates = sets[.certificate] ?? PrefixSet()
            keys = sets[.key] ?? PrefixSet()
            packages = sets[.package] ?? PrefixSet()
        }

        /// Tells whether an entry may be there; false is certain.
        func mayHold(_ kind: Schema.EntryKind, _ prefix: UInt64) -> Bool {
            switch kind {
            case .certificate: certificates.mayContain(prefix)
            case .key: keys.mayContain(prefix)
            case .package: packages.mayContain(prefix)
            case .minimumBuild, .maximumBuild, .transfer: true
            }
        }
    }

    private struct State: Sendable {
        var entries: Entries?
        var lookUps = 0
        var isGathering = false
    }

    private let state = Locked(State())

    /// Whether there are any in memory, of whatever state.
    var areKept: Bool { state.withLock { $0.entries != nil } }

    /// Returns the entries of a state; those of another are dropped.
    ///
    /// - Parameter lists: Says what names the state of the snapshot that asks.
    /// - Returns: The entries; nil when none of that state are kept.
    /// - Throws: What `lists` throws.
    private func entries(of lists: () throws -> [Digest]) throws -> Entries? {
        guard let kept = state.withLock({ $0.entries }) else { return nil }
        if try lists() == kept.lists { return kept }
        state.withLock { state in
            if state.entries === kept { state = State(isGathering: state.isGathering) }
        }
        return nil
    }

    /// Counts look-ups.
    ///
    /// - Returns: Whether it is worth while now to gather the entries; whoever is told so ends with `keep`.
    func note(_ lookUps: Int) -> Bool {
        state.withLock { state in
            guard state.entries == nil, !state.isGathering else { return false }
            state.lookUps += lookUps
            state.isGathering = state.lookUps >= Self.enoughLookUps
            return state.isGathering
        }
    }

    /// Ends a gathering; without entries, look-ups are counted anew, and it takes many until the next.
    func keep(_ entries: Entries?) {
        let lookUps = entries == nil ? -Self.lookUpsBetweenVainGatherings : 0
        state.withLock { $0 = State(entries: entries, lookUps: lookUps) }
    }

    /// What one snapshot knows of it: decided once, before its first look-up.
    final class View {
        private let shared: RevokedPrefixes
        private var entries: Entries?
        /// Whether it is decided.
        private(set) var isDecided = false
        /// Look-ups so far.
        private(set) var lookUps = 0

        /// Makes one that is not decided.
        init(_ shared: RevokedPrefixes) { self.shared = shared }

        /// Decides whether what is kept is of the snapshot's state.
        ///
        /// - Parameter lists: Says what names that state.
        /// - Throws: What `lists` throws.
        func decide(by lists: () throws -> [Digest]) throws {
            entries = try shared.entries(of: lists)
            isDecided = true
        }

        /// Tells whether an entry may be in the snapshot; false is certain.
        func mayHold(_ kind: Schema.EntryKind, _ prefix: UInt64) -> Bool {
            lookUps += 1
            return entries?.mayHold(kind, prefix) ?? true
        }
    }
}
