import Glibc

/// The signals that the daemon waits for, one after another, on its first thread.
enum Signals {
    /// What a signal asks for.
    enum Request: Hashable, Sendable {
        /// Read the roots and the lists again.
        case reload
        /// Finish what is under way and leave.
        case stop
    }

    private static let requests: [Int32: Request] = [
        SIGHUP: .reload, SIGTERM: .stop, SIGINT: .stop,
    ]

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in requests.keys { sigaddset(&set, number) }
        return set
    }

    /// Keeps the signals from ending the process; to be called before any thread starts, which inherits it.
    static func hold() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A client that goes away and a file that grows over a limit are errors of a call, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // Swift's runtime takes SIGQUIT for its crash reports.
        signal(SIGQUIT, SIG_DFL)
    }

    /// Waits for a signal.
    ///
    /// - Parameter seconds: How long at most.
    /// - Returns: What it asks for; nil when none came.
    static func wait(seconds: Double) -> Request? {
        var set = set
        let whole = seconds.rounded(.down)
        var time = timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1_000_000_000))
        let number = sigtimedwait(&set, nil, &time)
        return number > 0 ? requests[number] : nil
    }
}
