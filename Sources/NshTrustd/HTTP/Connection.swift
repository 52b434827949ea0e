import CMicroHTTPD
import Glibc
import NshTrust
import Synchronization

/// One client's connection: who it is, how far it is, and the way to stop and go on with it.
///
/// libmicrohttpd works on a connection on one thread, always the same. Everybody else may only wake it, and
/// housekeeping may end it.
final class Connection: Sendable {
    /// The number; valid until the server was told that the connection is closed.
    let descriptor: Int32
    /// Whose share of the connections it takes.
    let user: UInt32
    /// Who asks.
    let peer: Peer?

    /// libmicrohttpd's handle, which any thread may use to resume a suspended connection.
    private struct Handle: @unchecked Sendable {  // MHD_resume_connection may be called from any thread
        let raw: OpaquePointer
    }

    private struct Turn {
        var handle: Handle?
        var isSuspended = false
        var wasWoken = false
    }

    private let turn = Locked(Turn())
    private let end = Atomic(false)
    private let isCommentDue = Atomic(false)
    /// The stage in the highest byte, its beginning below: both change at once.
    private let stage: Atomic<UInt64>
    private let streamSince = Atomic<Int64>(0)
    private let streamedBytes = Atomic<Int64>(0)
    private let heldMilliseconds = Atomic<Int64>(0)

    /// Makes a connection that was accepted just now.
    init(descriptor: Int32, user: UInt32, peer: Peer?) {
        self.descriptor = descriptor
        self.user = user
        self.peer = peer
        stage = Atomic(Self.packed(.head, Progress.now()))
    }

    // MARK: - How far it is

    /// How far the connection is.
    var progress: Progress {
        let packed = stage.load(ordering: .acquiring)
        return Progress(
            stage: Progress.Stage(rawValue: UInt8(packed >> 56)) ?? .head, since: Int64(packed & (1 << 56 - 1)),
            streamSince: streamSince.load(ordering: .relaxed), streamedBytes: streamedBytes.load(ordering: .relaxed),
            heldMilliseconds: heldMilliseconds.load(ordering: .relaxed))
    }

    /// Notes what is waited for from now on.
    func enter(_ next: Progress.Stage) {
        let now = Progress.now()
        let before = progress
        if next == .stream, before.stage == .held {
            heldMilliseconds.add(now - before.since, ordering: .relaxed)
        } else if next == .stream {
            streamSince.store(now, ordering: .relaxed)
            streamedBytes.store(0, ordering: .relaxed)
            heldMilliseconds.store(0, ordering: .relaxed)
        }
        stage.store(Self.packed(next, now), ordering: .releasing)
    }

    /// Notes that bytes of the streamed body arrived.
    func noteStreamed(_ count: Int) { streamedBytes.add(Int64(count), ordering: .relaxed) }

    private static func packed(_ stage: Progress.Stage, _ since: Int64) -> UInt64 {
        UInt64(stage.rawValue) << 56 | UInt64(since)
    }

    /// Asks for a comment on a stream without events; it is written when the connection is woken.
    func requestComment() { isCommentDue.store(true, ordering: .releasing) }

    /// Whether a comment was asked for since the last time.
    func takeCommentRequest() -> Bool { isCommentDue.exchange(false, ordering: .acquiring) }

    // MARK: - What it asked for

    /// The last head that was planned for all requests like it; only on the connection's own thread.
    nonisolated(unsafe) var knownHead: KnownHead?

    // MARK: - Stop and go

    /// Notes that libmicrohttpd serves the connection now.
    func start(_ handle: OpaquePointer) {
        let handle = Handle(raw: handle)
        turn.withLock { $0.handle = handle }
    }

    /// Notes that libmicrohttpd is about to close the connection.
    func stop() { turn.withLock { $0.handle = nil } }

    /// Whether libmicrohttpd serves the connection.
    var isServed: Bool { turn.withLock { $0.handle != nil } }

    /// Whether the connection waits to be woken.
    var isSuspended: Bool { turn.withLock { $0.isSuspended } }

    /// Whether the connection is to end without a further answer.
    var isEnding: Bool { end.load(ordering: .acquiring) }

    /// Forgets earlier wake-ups; what is waited for is looked at after this and before `wait`.
    func prepareToWait() { turn.withLock { $0.wasWoken = false } }

    /// Suspends the connection, in a handler that then returns.
    ///
    /// - Returns: False when it was woken, or has to end, since `prepareToWait`: then it goes on.
    func wait() -> Bool {
        turn.withLock { turn in
            guard !turn.wasWoken, !isEnding, let handle = turn.handle else { return false }
            MHD_suspend_connection(handle.raw)
            turn.isSuspended = true
            return true
        }
    }

    /// Lets the connection go on, now or when it next wants to wait; on any thread.
    func wake() {
        turn.withLock { turn in
            turn.wasWoken = true
            guard turn.isSuspended, let handle = turn.handle else { return }
            turn.isSuspended = false
            MHD_resume_connection(handle.raw)
        }
    }

    /// Ends the connection; only while it stands in the server's table, or the descriptor may be another one's.
    func shutDown() {
        end.store(true, ordering: .releasing)
        shutdown(descriptor, Int32(SHUT_RDWR))
        wake()
    }
}
