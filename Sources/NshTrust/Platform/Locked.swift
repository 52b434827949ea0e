import Glibc

/// A value that one thread at a time may touch.
///
/// Who comes first after it was given back has it, however long others have waited. Swift's
/// `Mutex` is handed to the one that waits: a thread that is stopped while it holds such a lock makes others wait, and
/// once they do, each waits for its turn every time. ThreadSanitizer knows this lock, and not that one;
/// but a value of no bytes, as `()`, has no address of its own, and it would report accesses to that of another.
package final class Locked<Value>: Sendable where Value: Sendable {
    // Its own, from the beginning to the end.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Touched by the one that holds the mutex, who never asks for it again: that would wait for ever.
    @exclusivity(unchecked) private nonisolated(unsafe) var value: Value

    /// Makes a locked value.
    package init(_ value: Value) {
        self.value = value
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        // Who finds it held tries again a few times before it sleeps.
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        guard pthread_mutex_init(mutex, &attributes) == 0 else { fatalError("a mutex needs nothing but its memory") }
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs the body alone with the value.
    package func withLock<Result: Sendable>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs the body alone with the value, unless another thread has it.
    package func withLockIfFree(_ body: (inout sending Value) throws -> Void) rethrows {
        guard pthread_mutex_trylock(mutex) == 0 else { return }
        defer { pthread_mutex_unlock(mutex) }
        try body(&value)
    }
}
