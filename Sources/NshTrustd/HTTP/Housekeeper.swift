import CLinux
import CMicroHTTPD
import Glibc
import NshTrust
import Synchronization

/// Looks for passed deadlines and for clients that left, about once a second, on a thread of its own.
final class Housekeeper: Sendable {
    /// One of libmicrohttpd's threads, which any thread may hand a connection to.
    struct Worker: @unchecked Sendable {  // MHD_add_connection locks
        let daemon: OpaquePointer
    }

    private let core: ServerCore
    private let workers: [Worker]
    private let doorbell: OwnedDescriptor
    private let isDismissed = Atomic(false)
    private let thread = Locked<pthread_t?>(nil)

    /// Makes a housekeeper that has not begun.
    ///
    /// - Throws: `ioFailure` when there is no descriptor for the bell.
    init(core: ServerCore, workers: [Worker]) throws(Trouble) {
        self.core = core
        self.workers = workers
        doorbell = OwnedDescriptor(owning: try SystemCall.check("cannot make an eventfd", nsh_event_counter))
    }

    /// Begins.
    ///
    /// - Throws: `ioFailure` when no thread can be started.
    func begin() throws(Trouble) {
        var started: pthread_t = 0
        let number = SystemThread.start(&started) { self.work() }
        guard number == 0 else { throw SystemCall.trouble(number, "cannot start a thread") }
        let thread = started
        self.thread.withLock { $0 = thread }
    }

    /// Ends the thread and waits until it has ended.
    func dismiss() {
        isDismissed.store(true, ordering: .releasing)
        // A bell that rings already is heard as well.
        _ = nsh_raise_event_counter(doorbell.raw)
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let started { pthread_join(started, nil) }
    }

    private func work() {
        let round = Int32(clamping: Int(core.limits.housekeepingSeconds * 1000))
        while !isDismissed.load(ordering: .acquiring) {
            var bell = pollfd(fd: doorbell.raw, events: Int16(POLLIN), revents: 0)
            poll(&bell, 1, max(round, 1))
            if isDismissed.load(ordering: .acquiring) { return }
            core.keepHouse()
            if core.takeShortage(), !workers.allSatisfy(nudge) { core.noteShortage() }
        }
    }

    /// Makes a thread listen again that had no descriptor for a new connection.
    ///
    /// libmicrohttpd does that only when one of the thread's connections is closed, and those may be event streams that
    /// stay: it gets one that is closed at once.
    ///
    /// - Returns: Whether there was a descriptor for that.
    private func nudge(_ worker: Worker) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard nsh_socket_pair(&ends) == 0 else { return false }
        close(ends[1])
        return nsh_mhd_add(worker.daemon, ends[0]) != 0
    }
}
