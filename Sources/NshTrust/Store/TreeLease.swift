/// The right to use an installed tree: no clean-up removes the tree for as long as the value lives.
///
/// It is a shared `flock` on the tree's own `SHA256SUMS`: the lease file is a file that every tree has, so that an
/// installed tree holds nothing but what was signed. Who removes a tree takes the lock exclusively first. Engines in
/// other languages do the same: open the file for reading, `flock(LOCK_SH)`, then look whether the path still leads to
/// the file that was locked.
///
/// - Spec: STO-13
package final class TreeLease: Sendable {
    /// The name of the lease file in each tree.
    package static let fileName = FileList.path
    /// How long a lock that is held exclusively is waited for: who removes a tree renames it at once.
    private static let patienceSeconds = 5.0

    private let file: OwnedDescriptor

    private init(_ file: consuming OwnedDescriptor) { self.file = file }

    /// Takes the lease on a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree relative to the state directory, as the store records it.
    ///   - state: The state directory.
    /// - Returns: The lease.
    /// - Throws: `notInstalled` when there is no such tree (any more), `storeBusy` when somebody keeps it locked,
    ///   `ioFailure`.
    package static func take(_ tree: String, in state: StateDirectory) throws(Trouble) -> TreeLease {
        var backoff = Backoff(seconds: patienceSeconds)
        while true {
            guard let directory = try state.root.directory(beneath: tree) else { throw missing(tree, in: state) }
            let file: OwnedDescriptor
            do {
                file = try directory.openFile(fileName)
            } catch {
                // Without a plain file of that name there is nothing to lease: the tree is not whole, or just goes.
                let isMissing = error.code == .noSuchFile || error.code == .notARegularFile
                throw isMissing ? missing(tree, in: state) : error
            }
            if try FileLock.take(file.raw, .shared, directory.shown(fileName)) {
                // While the lock was waited for, the tree may have been removed and another installed.
                let lease = TreeLease(file)
                if try lease.isReached(by: tree, in: state) { return lease }
            }
            guard backoff.pause() else {
                throw Trouble(.storeBusy, "another process keeps \(state.root.shown(tree)) locked")
            }
        }
    }

    /// Tells whether a path leads to the leased tree.
    ///
    /// - Parameters:
    ///   - tree: The path, relative to the state directory.
    ///   - state: The state directory.
    /// - Returns: Whether it does; false when there is nothing at the path.
    /// - Throws: `ioFailure`.
    package func isReached(by tree: String, in state: StateDirectory) throws(Trouble) -> Bool {
        let leased = try FileStatus.of(descriptor: file.raw, state.root.shown(tree)).identity
        return try state.root.directory(beneath: tree)?.status(of: Self.fileName)?.identity == leased
    }

    private static func missing(_ tree: String, in state: StateDirectory) -> Trouble {
        Trouble(.notInstalled, "\(state.root.shown(tree)) is not there, or has no \(fileName)")
    }
}
