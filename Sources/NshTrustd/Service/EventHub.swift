import Glibc
import NshTrust
import NshTrustWire
import Synchronization

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
        var newcomers: [Follower] = []
        var users: [UInt32: Int] = [:]
        var count: Int { users.values.reduce(0, +) }
        var isRunning = false
        var isStopped = false
        var trouble: Trouble?
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
        shared.withLock { $0.isRunning = true }
        if !Threads.start({ self.run() }) {
            shared.withLock { shared in
                shared.isRunning = false
                shared.trouble = Trouble(.ioFailure, "the system gives no thread to watch the store")
            }
        }
    }

    /// Follows the log.
    ///
    /// - Parameters:
    ///   - sequence: Events with a greater number are sent; nil for those from now on.
    ///   - user: Who follows.
    ///   - showsCaller: Whether events say who asked.
    /// - Returns: The stream.
    /// - Throws: `overloaded` when too many follow, or too many of this user; `stopping`.
    func follow(after sequence: Int64?, by user: UInt32, showsCaller: Bool) throws(Problem) -> EventStream {
        let follower = Follower(stream: EventStream(), user: user, showsCaller: showsCaller, position: sequence)
        // So that the client sees at once that it is heard.
        follower.stream.append(Array(":\n\n".utf8))
        let isAdded: Bool? = shared.withLock { shared in
            guard shared.isRunning, !shared.isStopped else { return nil }
            guard shared.count < Self.maximumFollowers, shared.users[user, default: 0] < Self.maximumPerUser else {
                return false
            }
            shared.newcomers.append(follower)
            shared.users[user, default: 0] += 1
            return true
        }
        guard let isAdded else { throw Problem(.stopping, "the log is not watched; ask again when the daemon runs") }
        guard isAdded else { throw Problem(.overloaded, "as many clients as may follow the log already") }
        follower.stream.whenDrained { [watch, lag = follower.lag] in
            if lag.isBehind.load(ordering: .acquiring) { watch.wake() }
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
        var followers: [Follower] = []
        var newest: Int64?
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
                let isDone = try serve(&followers, &newest)
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

    private func dropClosed(_ followers: inout [Follower]) {
        let closed = followers.filter { $0.stream.isClosed }
        if closed.isEmpty { return }
        followers.removeAll { $0.stream.isClosed }
        shared.withLock { shared in
            for follower in closed {
                let left = shared.users[follower.user, default: 1] - 1
                shared.users[follower.user] = left == 0 ? nil : left
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

    /// Reads what is new and hands it on; tells whether everybody has everything that they can take.
    private func serve(_ followers: inout [Follower], _ newest: inout Int64?) throws -> Bool {
        guard let known = newest else {
            newest = try core.administration(by: .thisProcess).status().newestEvent
            return false
        }
        let page = EventFrames(try core.store.read { try $0.events(after: known, limit: Self.pageLimit) })
        newest = page.next
        var isDone = page.count < Self.pageLimit
        for index in followers.indices {
            let position = followers[index].position ?? known
            followers[index].position = position
            if position >= known, !followers[index].stream.isFull {
                followers[index].take(page)
            }
            if try !catchUp(&followers[index], to: page.next) { isDone = false }
        }
        return isDone
    }

    /// Brings a follower up to a number from the store; false when there is more that it could take.
    private func catchUp(_ follower: inout Follower, to newest: Int64) throws -> Bool {
        for _ in 0..<Self.pagesPerTurn {
            guard let position = follower.position, position < newest else {
                follower.lag.isBehind.store(false, ordering: .releasing)
                return true
            }
            follower.lag.isBehind.store(true, ordering: .releasing)
            // Asked after the flag is up: if it is drained from now on, the thread is woken.
            if follower.stream.isFull { return true }
            follower.take(EventFrames(try core.store.read { try $0.events(after: position, limit: Self.pageLimit) }))
        }
        return false
    }
}

/// Somebody who follows the log; touched by the hub's thread only, once it is there.
private struct Follower: Sendable {
    /// Whether there is something that could not be handed on yet.
    final class Lag: Sendable {
        let isBehind = Atomic(false)
    }

    /// Where the events go.
    let stream: EventStream
    /// Who follows.
    let user: UInt32
    /// Whether events say who asked.
    let showsCaller: Bool
    /// Everything up to this number was handed on, or was not asked for.
    var position: Int64?
    /// Whether there is more.
    let lag = Lag()

    /// Hands a page on, and says when rows between it and what was handed on before are gone.
    mutating func take(_ page: EventFrames) {
        let position = position ?? 0
        if position > 0, page.oldest > position + 1 { stream.append(EventFrames.gap(oldest: page.oldest)) }
        let bytes = page.bytes(after: position, showsCaller: showsCaller)
        if !bytes.isEmpty { stream.append(bytes) }
        self.position = max(position, page.next)
    }
}

/// A page of the log as server-sent events.
private struct EventFrames {
    private let rows: [StoredEvent]
    private let whole: [Bool: [UInt8]]
    /// The number to ask after next.
    let next: Int64
    /// The oldest number still kept; 0 when the log is empty.
    let oldest: Int64

    /// Number of events.
    var count: Int { rows.count }

    init(_ page: EventPage) {
        rows = page.events
        next = page.next
        oldest = page.oldest
        whole = rows.isEmpty ? [:] : [true: Self.frames(rows, true), false: Self.frames(rows, false)]
    }

    /// The events with a greater number.
    func bytes(after sequence: Int64, showsCaller: Bool) -> [UInt8] {
        guard let first = rows.first, first.sequence <= sequence else { return whole[showsCaller] ?? [] }
        return Self.frames(rows.filter { $0.sequence > sequence }, showsCaller)
    }

    /// What tells a follower that it has missed rows.
    static func gap(oldest: Int64) -> [UInt8] {
        Array("event: gap\ndata: \(JSONLine.text(["oldest": .integer(oldest)]))\n\n".utf8)
    }

    private static func frames(_ rows: [StoredEvent], _ showsCaller: Bool) -> [UInt8] {
        var text = ""
        for row in rows {
            let document = EventDocument(NshEvent(row), showsCaller: showsCaller)
            text +=
                "id: \(row.sequence)\nevent: \(row.event.kind.rawValue)\ndata: \(JSONLine.text(document.object))\n\n"
        }
        return Array(text.utf8)
    }
}
