import NshTrust

/// Hands the decision log to everybody who follows it.
///
/// One thread waits until the store may have changed, reads the new events once and hands them to all followers.
/// Followers that start further back, or take events more slowly than they come, are caught up from the store, a page
/// at a time. What goes wrong with the store is retried for as long as the hub runs.
final class EventHub: Sendable {
    /// How many may follow at once.
    static let maximumFollowers = 512
    /// How many of them may be one user's.
    static let maximumPerUser = 256
    /// How long the thread waits without a change, in seconds; then it looks at the store anyway.
    private static let idleSeconds = 1.0
    /// How long it waits after a trouble of the store, in seconds.
    private static let retrySeconds = 0.2
    /// Events read at once.
    private static let pageLimit = 200
    /// Pages by which one follower is caught up before the others have their turn.
    private static let pagesPerTurn = 4

    private struct Shared: Sendable {
        var newcomers: [EventFollower] = []
        var users: [UInt32: Int] = [:]
        var count: Int { users.values.reduce(0, +) }
        var isRunning = false
        var isStopped = false
        /// The last event that was handed on; nil before the store could be read.
        var newest: Int64?
        var trouble: Trouble?

        /// Adds a follower, who is where the log is now unless it says where.
        mutating func add(_ sequence: Int64?, _ user: UInt32, _ showsCaller: Bool) throws(Problem) -> EventFollower {
            guard isRunning, !isStopped else {
                throw Problem(.stopping, "the log is not watched; ask again when the daemon runs")
            }
            guard count < EventHub.maximumFollowers, users[user, default: 0] < EventHub.maximumPerUser else {
                throw Problem(.overloaded, "as many clients as may follow the log already")
            }
            guard let position = sequence ?? newest else {
                throw Problem(Trouble(.storeBusy, "the log could not be read yet; ask again, or say after which event"))
            }
            let follower = EventFollower(
                stream: EventStream(), user: user, showsCaller: showsCaller, position: position)
            // So that the client sees at once that it is heard.
            follower.stream.append(Array(":\n\n".utf8))
            newcomers.append(follower)
            users[user, default: 0] += 1
            return follower
        }
    }

    private let core: TrustCore
    private let log: any ServiceLog
    private let watch: StoreWatch
    private let onTick: @Sendable () -> Void
    private let shared = Locked(Shared())

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - core: The library.
    ///   - log: Where a trouble of the store is said, once.
    ///   - onTick: Called by the thread at least every second or so.
    init(_ core: TrustCore, log: any ServiceLog, onTick: @escaping @Sendable () -> Void = {}) {
        self.core = core
        self.log = log
        self.onTick = onTick
        watch = StoreWatch(core.state)
        // What fails here the thread meets again, and says it.
        let newest = try? Self.newest(core)
        shared.withLock { shared in
            shared.newest = newest
            shared.isRunning = true
        }
        if SystemThread.startDetached({ self.run() }) != 0 {
            shared.withLock { shared in
                shared.isRunning = false
                shared.trouble = Trouble(.ioFailure, "the system gives no thread to watch the store")
            }
        }
    }

    /// Follows the log.
    ///
    /// - Parameters:
    ///   - sequence: Events with a greater number are sent; nil for each that is committed after this call, and perhaps
    ///     some that were before.
    ///   - user: Who follows.
    ///   - showsCaller: Whether events say who asked.
    /// - Returns: The stream.
    /// - Throws: `overloaded` when too many follow, or too many of this user; `stopping`; `storeBusy` when nobody knows yet
    ///   what the newest event is.
    func follow(after sequence: Int64?, by user: UInt32, showsCaller: Bool) throws(Problem) -> EventStream {
        let added = shared.withLock { shared in
            Result { () throws(Problem) in try shared.add(sequence, user, showsCaller) }
        }
        let follower = try added.get()
        follower.stream.whenDrained { [watch, lag = follower.lag] in
            if lag.isBehind { watch.wake() }
        }
        watch.wake()
        return follower.stream
    }

    /// How many follow.
    var followerCount: Int { shared.withLock { $0.count } }

    /// Why the store could not be read when it was last looked at; nil when it could.
    var trouble: Trouble? { shared.withLock { $0.trouble } }

    /// Ends the thread, and returns when it has ended.
    func stop() {
        shared.withLock { $0.isStopped = true }
        while shared.withLock({ $0.isRunning }) {
            watch.wake()
            MonotonicTime.sleep(nanoseconds: 1_000_000)
        }
    }

    // MARK: - The thread

    private func run() {
        var followers: [EventFollower] = []
        var pause = 0.0
        while true {
            _ = watch.wait(seconds: pause)
            onTick()
            let (newcomers, isStopped) = shared.withLock { shared in
                defer { shared.newcomers = [] }
                return (shared.newcomers, shared.isStopped)
            }
            followers += newcomers
            if isStopped { break }
            dropClosed(&followers)
            do {
                let isDone = try serve(&followers)
                note(nil)
                pause = isDone ? Self.idleSeconds : 0
            } catch {
                note(NshError(wrapping: error))
                pause = Self.retrySeconds
            }
        }
        shared.withLock { shared in
            shared.users = [:]
            shared.isRunning = false
        }
    }

    private func dropClosed(_ followers: inout [EventFollower]) {
        // Each is asked once: who leaves between two questions would be dropped by the one and counted by the other, for ever.
        let hasLeft = followers.map(\.stream.isClosed)
        guard hasLeft.contains(true) else { return }
        let left = zip(followers, hasLeft).filter(\.1).map(\.0)
        followers = zip(followers, hasLeft).filter { !$0.1 }.map(\.0)
        shared.withLock { shared in
            for follower in left {
                let others = shared.users[follower.user, default: 1] - 1
                shared.users[follower.user] = others == 0 ? nil : others
            }
        }
    }

    private func note(_ error: NshError?) {
        let trouble = error.map { Trouble(TroubleCode(rawValue: $0.code.rawValue) ?? .ioFailure, $0.message) }
        let before = shared.withLock { shared in
            defer { shared.trouble = trouble }
            return shared.trouble
        }
        if let trouble, trouble.code != before?.code {
            log.write(.error, "the decision log cannot be read: \(trouble.message) (\(trouble.code.rawValue))")
        } else if trouble == nil, before != nil {
            log.write(.info, "the decision log can be read again")
        }
    }

    /// Logs what was decided, by whatever process; the store has merged floods of equal refusals.
    private func say(_ row: StoredEvent) {
        let event = row.event
        var fields: JSONObject = ["event": .integer(row.sequence)]
        if let app = event.app { fields.append("app", .text(app.text)) }
        if let build = event.build { fields.append("build", .integer(build)) }
        if let digest = event.digest { fields.append("digest", .text(digest.hex)) }
        if let code = event.code { fields.append("code", .text(code)) }
        fields.append("uid", .integer(Int64(event.uid)))
        fields.append("pid", .integer(Int64(event.pid)))
        log.write(event.kind == .refused ? .notice : .info, "\(event.kind.rawValue): \(event.message)", fields)
    }

    /// Reads what is new and hands it on; tells whether everybody has everything that they can take.
    private func serve(_ followers: inout [EventFollower]) throws -> Bool {
        guard let known = shared.withLock({ $0.newest }) else {
            let newest = try Self.newest(core)
            shared.withLock { $0.newest = newest }
            return false
        }
        let read = try core.store.read { try $0.events(after: known, limit: Self.pageLimit) }
        for row in read.events { say(row) }
        let page = EventFrames(read)
        shared.withLock { $0.newest = page.next }
        var isDone = page.count < Self.pageLimit
        var pages = RecentPages()
        for index in followers.indices {
            if followers[index].position >= known, !followers[index].stream.isFull {
                followers[index].take(page)
            }
            if try !catchUp(&followers[index], to: page.next, &pages) { isDone = false }
        }
        return isDone
    }

    private static func newest(_ core: TrustCore) throws -> Int64 { try core.store.read { try $0.newestEvent() } }

    /// Brings a follower up to a number from the store; false when there is more that it could take.
    private func catchUp(
        _ follower: inout EventFollower, to newest: Int64, _ pages: inout RecentPages
    ) throws -> Bool {
        for _ in 0..<Self.pagesPerTurn {
            // Who left while others had their turn costs nothing more; it is dropped in the next one.
            let position = follower.position
            guard position < newest, !follower.stream.isClosed else {
                follower.lag.set(false)
                return true
            }
            follower.lag.set(true)
            // Asked after the flag is up: if it is drained from now on, the thread is woken.
            if follower.stream.isFull { return true }
            let page = try pages.page(after: position) {
                EventFrames(try core.store.read { try $0.events(after: position, limit: Self.pageLimit) })
            }
            follower.take(page)
            // Nothing is left up to the newest number, as in a store that was put back to an older state.
            if page.count == 0 { follower.position = newest }
        }
        return false
    }
}
