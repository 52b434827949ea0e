import CLinux
import CMicroHTTPD
import Glibc
import NshTrust
import Synchronization

/// Accepts connections and keeps house, on a thread of its own.
///
/// We accept ourselves: libmicrohttpd, once it had no descriptor for a new connection, listens again only when one of the
/// same thread's connections is closed, and knows neither users nor a polite refusal.
final class Acceptor: Sendable {
    /// One of libmicrohttpd's threads, which any thread may hand a connection to.
    struct Worker: @unchecked Sendable {  // MHD_add_connection locks
        let daemon: OpaquePointer
    }

    private let core: ServerCore
    private let workers: [Worker]
    private let doorbell: OwnedDescriptor
    private let isDoorShut = Atomic(false)
    private let isDismissed = Atomic(false)
    private let thread = Locked<pthread_t?>(nil)

    /// How long no connection is accepted after there was no descriptor or memory for one.
    private static let pauseMilliseconds: Int64 = 100

    /// The listening socket on its way to the thread.
    private final class Post {
        let acceptor: Acceptor
        let socket: OwnedDescriptor

        init(_ acceptor: Acceptor, _ socket: consuming OwnedDescriptor) {
            self.acceptor = acceptor
            self.socket = socket
        }
    }

    /// Makes an acceptor that has not begun.
    ///
    /// - Throws: `ioFailure` when there is no descriptor for the bell.
    init(core: ServerCore, workers: [Worker]) throws(Trouble) {
        self.core = core
        self.workers = workers
        doorbell = OwnedDescriptor(owning: try SystemCall.check("cannot make an eventfd", nsh_eventfd))
    }

    /// Begins to accept connections.
    ///
    /// - Parameter socket: The listening socket; closed when the door is shut.
    /// - Throws: `ioFailure` when no thread can be started.
    func begin(at socket: consuming OwnedDescriptor) throws(Trouble) {
        // An accept must not wait for a client that has left again.
        let flags = fcntl(socket.raw, F_GETFL)
        guard flags >= 0, fcntl(socket.raw, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemCall.trouble(errno, "cannot prepare the listening socket")
        }
        let post = Unmanaged.passRetained(Post(self, socket))
        var started: pthread_t = 0
        let number = pthread_create(
            &started, nil,
            { post in
                guard let post else { return nil }
                var held: Post? = Unmanaged<Post>.fromOpaque(post).takeRetainedValue()
                let acceptor = held?.acceptor
                acceptor?.watch(&held)
                return nil
            }, post.toOpaque())
        guard number == 0 else {
            post.release()
            throw SystemCall.trouble(number, "cannot start a thread")
        }
        let thread = started
        self.thread.withLock { $0 = thread }
    }

    /// Accepts nobody from now on.
    func shutDoor() {
        isDoorShut.store(true, ordering: .releasing)
        ring()
    }

    /// Ends the thread and waits until it has ended.
    func dismiss() {
        isDismissed.store(true, ordering: .releasing)
        ring()
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let started { pthread_join(started, nil) }
    }

    private func ring() {
        var one: UInt64 = 1
        // A bell that rings already is heard as well.
        _ = write(doorbell.raw, &one, 8)
    }

    // MARK: - On the thread

    private func watch(_ post: inout Post?) {
        let round = Int64(core.limits.housekeepingSeconds * 1000)
        var nextRound = Progress.now() + round
        var pausedUntil: Int64 = 0
        while !isDismissed.load(ordering: .acquiring) {
            if isDoorShut.load(ordering: .acquiring) { post = nil }
            let now = Progress.now()
            if now >= nextRound {
                core.keepHouse()
                nextRound = now + round
            }
            let isListening = post != nil && now >= pausedUntil
            let until = isListening || post == nil ? nextRound : min(nextRound, pausedUntil)
            var polled = [pollfd(fd: doorbell.raw, events: Int16(POLLIN), revents: 0)]
            if isListening, let socket = post?.socket.raw {
                polled.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
            }
            // The coarse clock is some milliseconds behind.
            poll(&polled, nfds_t(polled.count), Int32(clamping: max(until - now, 0) + 1))
            if polled[0].revents != 0 {
                var count: UInt64 = 0
                _ = read(doorbell.raw, &count, 8)
            }
            if polled.count > 1, polled[1].revents != 0, !accept(polled[1].fd) {
                pausedUntil = Progress.now() + Self.pauseMilliseconds
            }
        }
        post = nil
    }

    /// Accepts some of the clients that wait; false when there is no room for one in the process or the system.
    private func accept(_ listening: Int32) -> Bool {
        for _ in 0..<64 {
            let descriptor = nsh_accept(listening)
            switch descriptor {
            case 0...:
                guard let thread = core.admit(descriptor) else {
                    close(descriptor)
                    continue
                }
                if nsh_mhd_add(workers[thread].daemon, descriptor) == 0 { core.forget(descriptor) }
            case -EAGAIN: return true
            case -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM, -EBADF, -EINVAL, -ENOTSOCK, -EOPNOTSUPP: return false
            default: continue  // a client that has left again, a signal
            }
        }
        return true
    }
}
