import Glibc

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
        let boxed = Unmanaged.passRetained(Work(work))
        var thread: pthread_t = 0
        let failure = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, boxed.toOpaque())
        guard failure == 0 else { fatalError("no thread: \(failure)") }
        return thread
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
