import Glibc

/// The jobs of a pool and the threads that take them.
///
/// `@unchecked Sendable`: the mutable state is touched only between `lock` and `unlock` of the one mutex.
final class JobQueue: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    /// How long an idle thread waits for work before it ends.
    private static let idleSeconds = 5

    private let maximumThreads: Int
    private var jobs: [Job] = []
    private var threads = 0
    private var idle = 0
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Makes a queue without threads.
    ///
    /// - Parameter maximumThreads: How many jobs may run at once, at least 1.
    init(maximumThreads: Int) {
        self.maximumThreads = maximumThreads
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(hasWork, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    // Threads hold the queue for as long as they run: none is left here.
    deinit {
        pthread_cond_destroy(hasWork)
        pthread_mutex_destroy(mutex)
        hasWork.deallocate()
        mutex.deallocate()
    }

    /// Adds a job and sees that a thread takes it.
    ///
    /// - Throws: `ioFailure` when there is no thread and none can be started; the job is then never run.
    func add(_ job: @escaping Job) throws(Trouble) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        jobs.append(job)
        guard jobs.count > idle, threads < maximumThreads else {
            pthread_cond_signal(hasWork)
            return
        }
        let number = SystemThread.startDetached { self.work() }
        if number == 0 {
            threads += 1
        } else if threads == 0 {
            jobs.removeLast()
            throw SystemCall.trouble(number, "cannot start a thread")
        }
    }

    private func work() {
        pthread_mutex_lock(mutex)
        while true {
            if !jobs.isEmpty {
                let job = jobs.removeFirst()
                pthread_mutex_unlock(mutex)
                job()
                pthread_mutex_lock(mutex)
            } else if !waitForWork() {
                break
            }
        }
        threads -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Waits with the mutex given up; returns false when nothing came for a while.
    private func waitForWork() -> Bool {
        var until = timespec()
        clock_gettime(CLOCK_MONOTONIC, &until)
        until.tv_sec += Self.idleSeconds
        idle += 1
        defer { idle -= 1 }
        while jobs.isEmpty {
            if pthread_cond_timedwait(hasWork, mutex, &until) == ETIMEDOUT { return !jobs.isEmpty }
        }
        return true
    }
}
