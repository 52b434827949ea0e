/// The installed trees: how they come, whether they are whole, and how they go.
///
/// A tree without a row in the database does not count as installed. A crash between the rename and the commit of an
/// installation leaves one; so does a restored backup. The next installation of the same package, and each pruning,
/// moves such a tree to `set-aside`, and nothing deletes it.
///
/// - Spec: STO-13, STO-14
package final class Trees: Sendable {
    let state: StateDirectory
    private let durability: Durability

    /// Works in the `apps` directory of a state directory.
    ///
    /// - Parameters:
    ///   - state: The state directory.
    ///   - durability: What an installed tree survives.
    package init(_ state: StateDirectory, durability: Durability = .powerLoss) {
        self.state = state
        self.durability = durability
    }

    /// Where a package's tree goes, relative to the state directory: `apps/com.example.orders/42-1a2b3c4d5e6f7081`.
    package static func path(of app: AppID, build: Int64, digest: Digest) -> String {
        "\(StateDirectory.appsName)/\(app.directoryName)/\(build)-\(digest.shortHex)"
    }

    /// Installs a staged tree and commits what makes it count, in the order that survives a crash at any moment.
    ///
    /// Syncs the tree, then, in one immediate transaction: runs the body, renames, syncs the directories, commits. When
    /// the package's row is there and its tree is whole, the installed tree stays and the staged one is dropped.
    ///
    /// - Parameters:
    ///   - staged: The tree, complete.
    ///   - app: The app.
    ///   - build: Its build.
    ///   - digest: The package digest.
    ///   - manifest: SHA-256 of the tree's `SHA256SUMS`.
    ///   - store: The store of the same state directory.
    ///   - check: Tells whether the tree at a path is whole; by default `isWhole`.
    ///   - body: Decides again, with the store and the clock read afresh, and records the package. When it throws,
    ///     nothing was installed or recorded.
    /// - Returns: A lease on the tree, taken before anybody could remove it, and what the body returned.
    /// - Throws: What the body throws; `storeFull`, `storeBusy`, `storeUnsafe`, `ioFailure`. The staged tree stays the
    ///   caller's to discard.
    package func install<Value>(
        _ staged: StagedTree, app: AppID, build: Int64, digest: Digest, manifest: Digest, in store: any TrustStore,
        unlessWhole check: ((String) throws -> Bool)? = nil, _ body: (any StoreTransaction) throws -> Value
    ) throws -> (lease: TreeLease, value: Value) {
        if durability == .powerLoss { try staged.sync() }
        let path = Self.path(of: app, build: build, digest: digest)
        var isRenamed = false
        var damaged: Moved?
        do {
            let result = try store.commit { transaction in
                let wasInstalled = try transaction.installedPackage(digest)?.tree == path
                let value = try body(transaction)
                if wasInstalled, try check?(path) ?? isWhole(path, manifest: manifest) {
                    return (lease: try TreeLease.take(path, in: state), value: value)
                }
                if wasInstalled { damaged = try moveOut(path) }
                try rename(staged, to: path)
                isRenamed = true
                return (lease: try TreeLease.take(path, in: state), value: value)
            }
            // It is installed now, whatever becomes of a tree that is not needed: dropping that, not before the commit,
            // removes it, and what cannot be removed is the next clean-up's.
            withExtendedLifetime(damaged) {}
            return result
        } catch {
            // Where even this fails, a tree without a row stays, which the next installation sets aside.
            if isRenamed { do { try takeBack(staged, from: path, digest: digest, in: store) } catch {} }
            throw error
        }
    }

    /// Tells whether a tree is there and its `SHA256SUMS` is the signed one.
    ///
    /// - Throws: `storeUnsafe`, `ioFailure`.
    /// - Spec: POL-20
    package func isWhole(_ tree: String, manifest: Digest) throws -> Bool {
        guard let directory = try state.root.directory(beneath: tree),
            let status = try directory.status(of: TreeLease.fileName), status.kind == .regular,
            status.size <= FileList.maxBytes
        else { return false }
        let file = try directory.openFile(TreeLease.fileName)
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        var count = 0
        try bytes.withUnsafeMutableBytes { buffer in
            count = try file.read(into: buffer, at: 0, directory.shown(TreeLease.fileName))
        }
        return count == bytes.count && SHA256.hash(bytes) == manifest
    }

    private func rename(_ staged: StagedTree, to path: String) throws {
        let (app, tree) = Self.parts(of: path)
        let staging = try state.directory(StateDirectory.stagingName)
        let apps = try state.directory(StateDirectory.appsName)
        let home = try apps.openOrMakeDirectory(app, permissions: state.modes.apps)
        while try !staging.rename(staged.name, to: home, as: tree) {
            // A tree without a row, or one that is damaged and in use: what is installed now takes its name.
            try setAside(tree, of: app, in: home)
        }
        staged.leave()
        guard durability == .powerLoss else { return }
        try home.sync()
        try apps.sync()
        try staging.sync()
    }

    /// Moves a tree out of the way, in use or not; its lease, if there is one, stays with its files.
    func setAside(_ tree: String, of app: String, in home: borrowing Directory) throws(Trouble) {
        let setAside = try state.directory(StateDirectory.setAsideName)
        let target = try setAside.openOrMakeDirectory(app, permissions: 0o700)
        while try !home.rename(tree, to: target, as: "\(tree)-\(StagingArea.randomName().prefix(16))") {}
        try target.sync()
        try setAside.sync()
    }

    /// Undoes the rename of an installation whose transaction failed, unless the tree has got a row since or is in use:
    /// whoever knows the path could lease the tree from the rename on.
    private func takeBack(_ staged: StagedTree, from path: String, digest: Digest, in store: any TrustStore) throws {
        try store.commit { transaction in
            let (app, tree) = Self.parts(of: path)
            guard try transaction.installedPackage(digest) == nil,
                let home = try state.root.directory(beneath: "\(StateDirectory.appsName)/\(app)"),
                try home.status(of: tree)?.identity == staged.directory.status().identity,
                let lock = try lockOut(path)
            else { return }
            let staging = try state.directory(StateDirectory.stagingName)
            if try home.rename(tree, to: staging, as: staged.name) { staged.comeBack() }
            withExtendedLifetime(lock) {}
        }
    }

    /// The app's directory name and the tree's name of a recorded path.
    static func parts(of path: String) -> (app: String, tree: String) {
        let parts = path.split(separator: "/")
        return (String(parts.dropLast().last ?? ""), String(parts.last ?? ""))
    }
}
