import Glibc

/// A thread that takes a part of one piece of work, and ends before it.
package final class HelperThread {
    private var running: pthread_t?

    /// Starts the thread; nil when none can be started, and then the body is never run.
    ///
    /// - Parameter body: What it runs; the owner sees to it that it ends when `join` is called.
    package init?(_ body: @escaping @Sendable () -> Void) {
        // Signals are the host's: none is handled on a thread that it does not know.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var started: pthread_t = 0
        guard SystemThread.start(&started, body) == 0 else { return nil }
        running = started
    }

    deinit { join() }

    /// Waits until the body has ended.
    package func join() {
        guard let running else { return }
        pthread_join(running, nil)
        self.running = nil
    }
}
