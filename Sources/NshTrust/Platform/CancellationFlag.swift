import Synchronization

/// Says to work on another thread that nobody waits for its result any more.
package final class CancellationFlag: Sendable {
    private let raised = Atomic(false)

    /// Makes a flag that is not raised.
    package init() {}

    /// Whether the caller has given up.
    package var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Raises the flag, for good.
    package func raise() { raised.store(true, ordering: .relaxed) }

    /// Throws `cancelled` when the flag is raised.
    package func check() throws(Trouble) {
        if isRaised { throw Trouble(.cancelled, "the caller cancelled the operation") }
    }
}
