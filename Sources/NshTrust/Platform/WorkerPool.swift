import Glibc

/// Threads that the library owns, for work that blocks: files, locks, SQLite.
///
/// Swift's cooperative pool has a thread for each core and must never block. Threads start when there is work that no
/// idle one can take, up to the bound, and end when they have been idle for a while; work beyond the bound waits.
package final class WorkerPool: Sendable {
    private let queue: JobQueue

    /// Makes a pool without threads.
    ///
    /// - Parameter maximumThreads: How many jobs may run at once, at least 1; by default twice the processors, at least 4.
    package init(maximumThreads: Int = max(4, 2 * Processors.count)) {
        queue = JobQueue(maximumThreads: max(maximumThreads, 1))
    }

    /// Runs the work on a thread of the pool and waits for it without blocking the caller's thread.
    ///
    /// - Parameter work: What blocks; the flag it is handed is raised when the calling task is cancelled, and is what a
    ///   `Monitor` should ask. Work whose task is cancelled before it has started is not run, nor waited for.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws; `cancelled` when it was not run; `ioFailure` when no thread can be started.
    package func runBlocking<Value: Sendable>(
        _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        let flag = CancellationFlag()
        // A result may be in use for as long as somebody holds it, and no thread of the pool does when the caller goes on.
        let notRun = Result<Value, any Error>.failure(Trouble(.cancelled, "the work was not run"))
        let handedOver = Locked(notRun)
        let turn = Turn()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard turn.wait(continuation) else { return }
                do {
                    try queue.add {
                        guard let continuation = turn.take() else { return }
                        handedOver.withLock { result in result = Result { try work(flag) } }
                        continuation.resume()
                    }
                } catch {
                    turn.take()?.resume(throwing: error)
                }
            }
        } onCancel: {
            flag.raise()
            turn.cancel()
        }
        return try handedOver.withLock { result in
            defer { result = notRun }
            return result
        }.get()
    }
}

/// A job's turn in the queue: whoever takes it, the thread that does the work or the task that is cancelled, has the
/// continuation for itself.
private final class Turn: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>

    private enum State: Sendable {
        case new
        case waiting(Continuation)
        case cancelled
        case taken
    }

    private let state = Locked(State.new)

    /// Waits from now on; false when the task was cancelled before, and goes on at once.
    func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let waits = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(throwing: Self.cancelled) }
        return waits
    }

    /// Takes the turn; nil when the task was cancelled before.
    func take() -> CheckedContinuation<Void, any Error>? { end(in: .taken) }

    /// Cancels what still waits; what has started goes on to its end.
    func cancel() { end(in: .cancelled)?.resume(throwing: Self.cancelled) }

    private func end(in end: State) -> Continuation? {
        state.withLock { state in
            switch state {
            case .waiting(let continuation):
                state = end
                return continuation
            case .new:
                state = end
                return nil
            case .cancelled, .taken: return nil
            }
        }
    }

    private static var cancelled: Trouble { Trouble(.cancelled, "the caller cancelled the operation") }
}
