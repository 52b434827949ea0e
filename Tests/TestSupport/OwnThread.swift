import Glibc
import NshTrust

/// Threads of a test's own.
///
/// Swift's tasks share a few threads, so one that is to run beside blocking work may never begin.
public enum OwnThread {
    /// Runs the work on a thread, and does not wait for it.
    public static func run(_ work: @escaping @Sendable () -> Void) {
        let thread = make(work)
        pthread_detach(thread)
    }

    /// Runs the work on a thread for as long as the body runs here, and waits until both are done.
    public static func whileRunning(_ work: @escaping @Sendable () -> Void, _ body: () throws -> Void) rethrows {
        let thread = make(work)
        defer { pthread_join(thread, nil) }
        try body()
    }

    private static func make(_ work: @escaping @Sendable () -> Void) -> pthread_t {
        var thread: pthread_t = 0
        let failure = SystemThread.start(&thread, work)
        guard failure == 0 else { fatalError("no thread: \(failure)") }
        return thread
    }
}
