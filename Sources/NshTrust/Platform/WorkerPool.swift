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
    ///   `Monitor` should ask. Work whose task was cancelled before it started is not run.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws; `cancelled` when it was not run; `ioFailure` when no thread can be started.
    package func runBlocking<Value: Sendable>(
        _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        let flag = CancellationFlag()
        // A result may be in use for as long as somebody holds it, and no thread of the pool does when the caller goes on.
        let notRun = Result<Value, any Error>.failure(Trouble(.cancelled, "the work was not run"))
        let handedOver = Locked(notRun)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let job: JobQueue.Job = {
                    handedOver.withLock { result in
                        result = Result {
                            try flag.check()
                            return try work(flag)
                        }
                    }
                    continuation.resume()
                }
                do {
                    try queue.add(job)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            flag.raise()
        }
        return try handedOver.withLock { result in
            defer { result = notRun }
            return result
        }.get()
    }
}
