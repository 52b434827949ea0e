import Glibc
import NshTrust

/// A bounded number of threads for a bounded number of jobs.
///
/// `@unchecked Sendable`: the mutable state is touched only between `lock` and `unlock` of the one mutex.
final class Lane: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    /// How full a lane is.
    struct Figures: Hashable, Sendable {
        /// Jobs that wait.
        var waiting = 0
        /// Jobs that run.
        var running = 0
        /// Jobs that may wait.
        var capacity = 0
        /// Jobs that were turned away so far.
        var rejected: Int64 = 0
    }

    private let maximumThreads: Int
    private let maximumPerUser: Int
    private let yields: Bool
    private var jobs: [(user: UInt32, job: Job)] = []
    private var users: [UInt32: Int] = [:]
    private var threads = 0
    private var figuresNow: Figures
    private var isStopped = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Makes a lane without threads; they start when there is work, and stay.
    ///
    /// - Parameters:
    ///   - threads: How many jobs may run at once, at least 1.
    ///   - waiting: How many more may wait.
    ///   - perUser: How many of both one user may have; any when nil.
    ///   - yields: Whether other threads of the process go first when processors are short.
    init(threads: Int, waiting: Int, perUser: Int? = nil, yields: Bool = false) {
        maximumThreads = threads
        maximumPerUser = perUser ?? .max
        self.yields = yields
        figuresNow = Figures(capacity: waiting)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    // Threads hold the lane for as long as they run: none is left here.
    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Adds a job for a user; false when there is no room for it.
    func add(_ job: @escaping Job, for user: UInt32) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let count = jobs.count + figuresNow.running
        let hasRoom = count < maximumThreads + figuresNow.capacity && users[user, default: 0] < maximumPerUser
        guard !isStopped, hasRoom, threads > count || threads == maximumThreads || start() || threads > 0 else {
            figuresNow.rejected += 1
            return false
        }
        jobs.append((user, job))
        users[user, default: 0] += 1
        pthread_cond_signal(changed)
        return true
    }

    /// How full the lane is.
    var figures: Figures {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var figures = figuresNow
        figures.waiting = jobs.count
        return figures
    }

    /// Takes no more jobs, and returns when those that were taken are done and the threads have ended.
    func stop() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        isStopped = true
        pthread_cond_broadcast(changed)
        while threads > 0 { pthread_cond_wait(changed, mutex) }
    }

    private func start() -> Bool {
        // The thread waits for the mutex that is held here, and keeps the lane alive for as long as it runs.
        let isRunning = SystemThread.startDetached { self.work() } == 0
        if isRunning { threads += 1 }
        return isRunning
    }

    private func work() {
        if yields { BackgroundWork.begin() }
        pthread_mutex_lock(mutex)
        while true {
            if !jobs.isEmpty {
                let (user, job) = jobs.removeFirst()
                figuresNow.running += 1
                pthread_mutex_unlock(mutex)
                job()
                pthread_mutex_lock(mutex)
                figuresNow.running -= 1
                let left = users[user, default: 1] - 1
                users[user] = left == 0 ? nil : left
            } else if isStopped {
                break
            } else {
                pthread_cond_wait(changed, mutex)
            }
        }
        threads -= 1
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}
