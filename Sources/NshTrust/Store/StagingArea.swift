/// Where trees are written before they are installed and lie while they are removed.
///
/// Each entry is a directory with a random name on which whoever works in it holds an exclusive `flock`. The lock goes
/// with the process, so an entry whose lock can be had is abandoned.
///
/// - Spec: STO-14
package final class StagingArea: Sendable {
    private let state: StateDirectory

    /// Works in the `staging` directory of a state directory.
    package init(_ state: StateDirectory) { self.state = state }

    /// Makes an empty, locked directory for one tree.
    ///
    /// - Returns: The tree; dropping it removes what was written unless it was installed.
    /// - Throws: `storeFull`, `storeUnsafe`, `ioFailure`.
    package func makeTree() throws(Trouble) -> StagedTree {
        while true {
            let staging = try state.directory(StateDirectory.stagingName)
            let name = Self.randomName()
            // Until it is locked, clean-up may take the directory for an abandoned one, or remove it even before it is
            // opened.
            guard let directory = try Self.make(name, in: staging),
                try FileLock.take(directory.raw, .exclusive, staging.shown(name)),
                try staging.status(of: name)?.identity == directory.status().identity
            else { continue }
            return StagedTree(directory, name: name, state: state)
        }
    }

    /// Makes a directory, or returns nil when it was gone before it could be opened.
    private static func make(_ name: String, in staging: borrowing Directory) throws(Trouble) -> Directory? {
        do {
            // Mode 0755 is the installed tree's; `staging` itself keeps others out.
            return try staging.makeDirectory(name, permissions: 0o755)
        } catch {
            guard error.code == .noSuchFile else { throw error }
            return nil
        }
    }

    /// Removes what processes left that are gone, at the start of a process; what is in use stays.
    ///
    /// Takes no lock of the store when there is nothing to remove.
    ///
    /// - Parameter store: The store of the same state directory.
    /// - Returns: How many entries were removed.
    /// - Throws: `storeBusy`, `storeUnsafe`, `ioFailure`.
    @discardableResult
    package func cleanUp(in store: any TrustStore) throws -> Int {
        guard let staging = try state.root.directory(beneath: StateDirectory.stagingName) else { return 0 }
        let hasAbandoned = try staging.textNames().contains { try isAbandoned($0, in: staging) }
        return hasAbandoned ? try store.commit { try removeAbandoned(in: $0) } : 0
    }

    /// Removes what processes left that are gone; what is in use stays.
    ///
    /// - Parameter transaction: An immediate transaction, so that one process at a time cleans up and none while another
    ///   installs.
    /// - Returns: How many entries were removed.
    /// - Throws: `storeUnsafe`, `ioFailure`.
    @discardableResult
    package func removeAbandoned(in transaction: any StoreTransaction) throws(Trouble) -> Int {
        let staging = try state.directory(StateDirectory.stagingName)
        // What moved them here may not be on the disk yet: cut off from power, a tree with a row must not come back
        // without some of its files.
        try staging.syncFileSystem()
        var removed = 0
        for name in try staging.textNames() {
            // The descriptor holds the entry's lock until the entry is gone.
            guard let entry = try staging.status(of: name), entry.kind == .directory else {
                try staging.removeTree(name)
                continue
            }
            guard let directory = try staging.directory(beneath: name),
                try FileLock.take(directory.raw, .exclusive, staging.shown(name))
            else { continue }
            try staging.removeTree(name)
            removed += 1
        }
        return removed
    }

    private func isAbandoned(_ name: String, in staging: borrowing Directory) throws(Trouble) -> Bool {
        guard try staging.status(of: name)?.kind == .directory else { return true }
        guard let directory = try staging.directory(beneath: name) else { return false }
        return try FileLock.take(directory.raw, .exclusive, staging.shown(name))
    }

    static func randomName() -> String {
        (0..<2).map { _ in Hex.encode(withUnsafeBytes(of: UInt64.random(in: 0...UInt64.max)) { Array($0) }) }.joined()
    }
}
