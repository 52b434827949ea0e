/// Waits until a process may have changed a store.
///
/// What is watched is the state directory, by name: neither the database nor its journal is opened, for closing a second
/// descriptor of them would drop SQLite's locks. Cutting the journal off is what commits, and so is always seen. Where the
/// system cannot watch, the answer is "perhaps" every twentieth of a second.
package final class StoreWatch: Sendable {
    private let changes: DirectoryWatch

    /// Starts to watch: a change from now on ends the next wait, whenever that begins.
    package init(_ state: StateDirectory) {
        changes = DirectoryWatch(
            state.root, modified: [StateDirectory.journalName],
            replaced: [StateDirectory.journalName, StateDirectory.databaseName])
    }

    /// Waits until something may have changed, or somebody calls `wake`, or the time is over; one thread at a time.
    ///
    /// - Parameter seconds: The longest wait; 0 or less looks and does not wait.
    /// - Returns: Whether to look at the store; false when the time was over.
    package func wait(seconds: Double) -> Bool { changes.wait(seconds: seconds) }

    /// Ends the wait of another thread, or the next one.
    package func wake() { changes.wake() }
}
