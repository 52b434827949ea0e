import Synchronization

/// A value that one thread at a time may touch.
///
/// The one lock of the code, so that thread sanitizing has one place to look at.
package final class Locked<Value>: Sendable where Value: Sendable {
    private let mutex: Mutex<Value>

    /// Makes a locked value.
    package init(_ value: Value) { mutex = Mutex(value) }

    /// Runs the body alone with the value.
    package func withLock<Result: Sendable>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
        try mutex.withLock(body)
    }
}
