/// What stands behind the public face, the tool and the daemon: one store, the roots of this process, the policy.
///
/// Everything here blocks; callers bring the thread.
package final class TrustCore: Sendable {
    /// The store.
    package let store: any TrustStore
    /// Where it lives.
    package let state: StateDirectory
    /// What the host asks for.
    package let policy: Policy
    /// How installed trees are checked and how lasting a commit is.
    let options: NshTrust.Options
    /// The clock of every decision.
    package let clock: WallClock
    /// Threads for callers that must not block.
    let pool: WorkerPool
    /// Who is told that the store may have changed.
    let followers: StoreFollowers
    private let pinned: Locked<PinnedRoots>

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - directory: The state directory's path.
    ///   - options: What the host asks for.
    ///   - access: `readOnly` neither makes nor migrates anything: `verify` against a store that may be another user's.
    ///   - modes: Permissions of what is made.
    ///   - users: Whether more than one thread will use the store.
    /// - Throws: `Trouble`: `badRequest`, `storeUnsafe`, `storeCorrupt`, `storeNewer`, `storeBusy`, `storeFull`,
    ///   `noSuchFile`, `ioFailure`.
    /// - Spec: STO-3, POL-16
    package init(
        directory: String, options: NshTrust.Options, access: StateDirectory.Access = .readWrite,
        modes: StateDirectory.Modes = .library, users: StoreUsers = .manyThreads
    ) throws {
        self.options = options
        policy = try options.policy()
        clock = options.clock.map { WallClock($0) } ?? .system
        state = try StateDirectory.open(directory, modes: modes, access: access)
        store = try state.openStore(
            busyTimeoutSeconds: Double(options.busyTimeoutSeconds), durability: options.durability, users: users)
        pool = WorkerPool()
        followers = StoreFollowers(state)
        pinned = Locked(PinnedRoots(limit: options.limits.pinnedRoots))
        try agreeOnThreshold(access)
        if access == .readWrite { try StagingArea(state).cleanUp(in: store) }
    }

    /// Refuses to work with fewer roots than the store has been used with, and raises what it remembers.
    private func agreeOnThreshold(_ access: StateDirectory.Access) throws {
        let greatest = try store.read { try $0.greatestThreshold() }
        try policy.requireThreshold(atLeast: greatest)
        if policy.rootThreshold > greatest, access == .readWrite {
            try store.commit { try $0.raiseThreshold(to: policy.rootThreshold) }
        }
    }

    // MARK: - Roots

    /// The roots that this process trusts, in the order in which they were added.
    package var roots: [PublicKey] { pinned.withLock { $0.keys } }

    /// Trusts a root.
    ///
    /// - Parameter text: The content of a `.pub` file.
    /// - Throws: `Refusal` (`malformed`, `rootWithdrawn`, `limitExceeded`), or a trouble of the store.
    /// - Spec: KEY-1, KEY-2, LIM-7, STO-11
    package func addRoot(_ text: String) throws {
        try addRoot(try PinnedRoots.key(fromFile: Array(text.utf8)))
    }

    /// Trusts a root.
    package func addRoot(_ key: PublicKey) throws { try addRoot(try PinnedRoots.root(key)) }

    /// Trusts a root.
    package func addRoot(_ root: RootKey) throws {
        // Judged before it is written down, and pinned after: a call that throws has pinned nothing.
        var judged = pinned.withLock { $0 }
        try add(root, to: &judged)
        try pinned.withLock { try $0.add(root) }
        store.forgetExcerpts()
    }

    /// Trusts exactly these roots from now on, and no others.
    ///
    /// Decisions under way end with the roots that they began with; each that begins later has the new ones.
    ///
    /// - Parameter keys: The roots, in the order in which they are to stand.
    /// - Returns: Keys that are not trusted, with the reason: withdrawn by a list in force, no key of a root, one too many.
    /// - Throws: A trouble of the store; the roots are then as they were.
    /// - Spec: KEY-2, LIM-7, STO-11
    @discardableResult
    package func replaceRoots(with keys: [PublicKey]) throws -> [(key: PublicKey, refusal: Refusal)] {
        var judged = PinnedRoots(limit: options.limits.pinnedRoots)
        var refused: [(key: PublicKey, refusal: Refusal)] = []
        for key in keys {
            do {
                try add(try PinnedRoots.root(key), to: &judged)
            } catch let refusal as Refusal {
                refused.append((key, refusal))
            }
        }
        let replacement = judged
        pinned.withLock { $0 = replacement }
        store.forgetExcerpts()
        return refused
    }

    /// Adds a root that no list in force withdraws, and writes down that it was trusted here when that is new.
    private func add(_ root: RootKey, to roots: inout PinnedRoots) throws {
        let key = root.key
        let (withdrawal, isNew) = try store.read { state in
            (try state.withdrawals(ofRoot: key.hash).first, try !state.rootsSeen().contains { $0.key == key })
        }
        if let withdrawal { throw Refusal(.rootWithdrawn, "root \(key.id) was withdrawn by \(withdrawal)") }
        try roots.add(root)
        guard isNew, state.access == .readWrite else { return }
        let event = newEvent(
            .rootAdded, by: .thisProcess, digest: key.hash,
            message: "root \(key.id) was trusted here for the first time")
        try store.commit { try $0.rememberRoot(key, event: event) }
    }

    // MARK: - Helpers of the parts

    /// A verification with the roots and the policy of now.
    package func verification(lists: [Verification.GivenList] = []) -> Verification {
        Verification(roots: roots, policy: policy, lists: lists, clock: clock)
    }

    /// The administrator's view of the store.
    ///
    /// - Parameter caller: Who is named in the decision log.
    /// - Returns: What an administrator may ask and do.
    package func administration(by caller: Caller = .thisProcess) -> StoreAdministration {
        StoreAdministration(state: state, store: store, caller: caller, clock: clock)
    }

    /// An event of a caller at this time.
    func newEvent(
        _ kind: NewEvent.Kind, by caller: Caller, app: AppID? = nil, build: Int64? = nil, digest: Digest? = nil,
        code: String? = nil, message: String
    ) -> NewEvent {
        NewEvent(
            kind, time: clock.now(), app: app, build: build, digest: digest, code: code, message: message,
            uid: caller.uid, pid: caller.pid)
    }

    /// Reads an app id that a caller named.
    package static func appID(_ text: String) throws(Trouble) -> AppID {
        guard let id = AppID(text) else {
            throw Trouble(.badRequest, "“\(Printable.escaped(text, limit: 80))” is not an app id")
        }
        return id
    }
}
