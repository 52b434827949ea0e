import CLinux
import Synchronization

/// A value that one thread at a time may touch.
///
/// The one lock of the code. ThreadSanitizer does not see inside Swift's `Mutex` and would report races that cannot
/// be, so each locking is told to it; in other builds that is an empty call.
package final class Locked<Value>: Sendable where Value: Sendable {
    private let mutex: Mutex<Value>

    /// Makes a locked value.
    package init(_ value: Value) { mutex = Mutex(value) }

    /// Runs the body alone with the value.
    package func withLock<Result: Sendable>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result {
        let lock = Unmanaged.passUnretained(self).toOpaque()
        return try mutex.withLock { value in
            nsh_lock_taken(lock)
            defer { nsh_lock_given(lock) }
            return try body(&value)
        }
    }
}
