import Glibc

/// A counting semaphore.
package final class Semaphore: @unchecked Sendable {
    // Sendable because a sem_t is made for several threads; its address never changes.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Makes a semaphore that stands at `count`.
    package init(_ count: Int) {
        guard sem_init(semaphore, 0, UInt32(count)) == 0 else { fatalError("sem_init fails only above SEM_VALUE_MAX") }
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Waits until it stands above 0, and takes 1 away.
    package func wait() {
        while sem_wait(semaphore) != 0 {}  // a signal interrupted it
    }

    /// Adds 1.
    package func post() { sem_post(semaphore) }
}
