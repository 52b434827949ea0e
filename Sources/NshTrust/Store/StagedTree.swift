import Synchronization

/// A directory in staging that this process alone works in, for as long as the value lives.
package final class StagedTree: Sendable {
    /// Where files are created; its descriptor holds the lock.
    package let directory: Directory
    let name: String
    private let state: StateDirectory
    /// Whether the directory still lies in staging.
    private let isStaged = Atomic(true)

    init(_ directory: consuming Directory, name: String, state: StateDirectory) {
        self.directory = directory
        self.name = name
        self.state = state
    }

    deinit {
        // What cannot be removed now is abandoned from here on, and the next clean-up's to remove.
        do { try discard() } catch {}
    }

    /// Waits until everything written is on the disk.
    ///
    /// - Throws: `storeFull`, `ioFailure`: the system reports here what it could not write earlier.
    package func sync() throws(Trouble) { try directory.syncFileSystem() }

    /// Removes the tree with all that is in it, unless it was installed.
    ///
    /// - Throws: `ioFailure`.
    package func discard() throws(Trouble) {
        guard isStaged.load(ordering: .acquiring) else { return }
        try state.directory(StateDirectory.stagingName).removeTree(name)
        isStaged.store(false, ordering: .releasing)
    }

    /// Says that the directory was renamed out of staging.
    func leave() { isStaged.store(false, ordering: .releasing) }

    /// Says that the directory was renamed back.
    func comeBack() { isStaged.store(true, ordering: .releasing) }
}
