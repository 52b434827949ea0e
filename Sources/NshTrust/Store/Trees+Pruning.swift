/// Removing trees that nobody needs and nobody uses.
extension Trees {
    /// Which trees go.
    package enum Selection: Hashable, Sendable {
        /// Those of an app's older builds: all but the newest so many, and those above the recorded build.
        case olderThanNewest(Int)
        /// Every tree of an app; its accepted build stays recorded.
        case all(of: AppID)
    }

    /// What a pruning did, or would do.
    package struct Pruning: Sendable {
        /// Packages whose trees went.
        package internal(set) var removed: [InstalledPackage] = []
        /// Packages whose trees stayed because a process holds a lease on them.
        package internal(set) var inUse: [InstalledPackage] = []
        /// Trees without a row, by their old path, that were moved to `set-aside`.
        package internal(set) var setAside: [String] = []
    }

    /// Removes selected trees that are not in use, and their rows; moves trees without rows aside.
    ///
    /// Everything is decided and renamed in one immediate transaction, alone among all processes; the files are deleted
    /// after it, out of staging, so that others need not wait for that.
    ///
    /// - Parameters:
    ///   - selection: Which trees go.
    ///   - store: The store of the same state directory.
    ///   - isRehearsal: Whether to say what would go and change nothing.
    ///   - event: What the log says of a removed tree.
    /// - Returns: What went, what stayed, what was set aside.
    /// - Throws: `storeBusy`, `storeUnsafe`, `ioFailure`; when deleting failed, the rows are gone and the files lie in
    ///   staging, where the next clean-up finds them.
    /// - Spec: STO-13
    package func prune(
        _ selection: Selection, in store: any TrustStore, isRehearsal: Bool = false,
        event: (InstalledPackage) -> NewEvent
    ) throws -> Pruning {
        var pruning = Pruning()
        var moved: [Moved] = []
        // Looked for outside of the transaction, which asks about each again: there may be a million apps to pass over.
        let apps = try apps(of: selection, in: store)
        let strangers = isRehearsal ? [] : try strangers(in: store)
        do {
            try store.commit { transaction in
                for package in try apps.flatMap({ try candidates(selection, of: $0, in: transaction) }) {
                    guard let lock = try lockOut(package.tree) else {
                        pruning.inUse.append(package)
                        continue
                    }
                    pruning.removed.append(package)
                    if isRehearsal { continue }
                    try transaction.forgetTree(of: package.facts.digest, event: event(package))
                    if let tree = try moveToStaging(package.tree, lock: lock) { moved.append(tree) }
                }
                pruning.setAside = try setAside(strangers, unlessRecordedIn: transaction)
            }
        } catch {
            // A tree that cannot be put back is extracted again when its package is opened next, and keeps no other back.
            // In a transaction, so that no installation has looked before and goes on behind it.
            func putAllBack() { for tree in moved { do { try putBack(tree) } catch {} } }
            if !moved.isEmpty { do { try store.commit { _ in putAllBack() } } catch {} }
            throw error
        }
        for tree in moved { try tree.staged.discard() }
        return pruning
    }

    /// A tree on its way out.
    struct Moved {
        let path: String
        let staged: StagedTree
        let lock: Lock
    }

    /// The exclusive lock on a lease file, or the knowledge that there is no such file.
    final class Lock {
        private let file: OwnedDescriptor?
        init(_ file: consuming OwnedDescriptor?) { self.file = file }
    }

    /// Moves a tree that nobody uses to staging, to be discarded; nil when it is in use or not there.
    func moveOut(_ path: String) throws -> Moved? {
        guard let lock = try lockOut(path) else { return nil }
        return try moveToStaging(path, lock: lock)
    }

    /// The apps of which a tree may go.
    private func apps(of selection: Selection, in store: any TrustStore) throws -> [AppID] {
        switch selection {
        case .all(of: let app): return [app]
        case .olderThanNewest(let kept): return try store.read { try $0.apps(withMoreThan: max(kept, 1)) }
        }
    }

    private func candidates(
        _ selection: Selection, of app: AppID, in snapshot: any StoreSnapshot
    ) throws -> [InstalledPackage] {
        let packages = try snapshot.installedPackages(of: app)
        guard case .olderThanNewest(let kept) = selection else { return packages }
        let accepted = try snapshot.acceptedBuild(of: app)
        func rank(_ package: InstalledPackage) -> (Int, Int64, Int, Int64) {
            // A build above the recorded one was lowered away and is refused; it is the first to go.
            let stands = accepted.map { package.facts.build <= $0.build } ?? false
            let isCurrent = accepted?.digest == package.facts.digest
            return (stands ? 1 : 0, package.facts.build, isCurrent ? 1 : 0, package.acceptedAt)
        }
        let ranked = packages.sorted { rank($0) > rank($1) }
        return ranked.enumerated().filter { $0.offset >= max(kept, 1) || rank($0.element).0 == 0 }.map(\.element)
            .sorted { $0.facts.build < $1.facts.build }
    }

    /// Takes the lease of a tree exclusively; nil when it is in use, which a tree without the file cannot be.
    func lockOut(_ tree: String) throws -> Lock? {
        guard let directory = try state.root.directory(beneath: tree),
            try directory.status(of: TreeLease.fileName)?.kind == .regular
        else { return Lock(nil) }
        let file = try directory.openFile(TreeLease.fileName)
        guard try FileLock.take(file.raw, .exclusive, directory.shown(TreeLease.fileName)) else { return nil }
        return Lock(file)
    }

    private func moveToStaging(_ path: String, lock: Lock) throws -> Moved? {
        let (app, tree) = Self.parts(of: path)
        let appPath = "\(StateDirectory.appsName)/\(app)"
        guard let directory = try state.root.directory(beneath: path),
            let home = try state.root.directory(beneath: appPath)
        else { return nil }
        // The lock of a staging entry, so that no clean-up takes it for abandoned while this process deletes it.
        _ = try FileLock.take(directory.raw, .exclusive, home.shown(tree))
        let name = StagingArea.randomName()
        let staging = try state.directory(StateDirectory.stagingName)
        guard try home.rename(tree, to: staging, as: name) else { return nil }
        let moved = Moved(path: path, staged: StagedTree(directory, name: name, state: state), lock: lock)
        do {
            // Both, and before a file of it goes: else a loss of power could bring a half emptied tree back to its old place.
            try home.sync()
            try staging.sync()
            _ = try state.directory(StateDirectory.appsName).removeEmptyDirectory(app)
        } catch {
            // The row stays, and nobody else knows yet where its tree is.
            do { try putBack(moved) } catch {}
            throw error
        }
        return moved
    }

    /// Undoes a move whose transaction failed; the name is free, for its row has kept it.
    private func putBack(_ moved: Moved) throws(Trouble) {
        let (app, tree) = Self.parts(of: moved.path)
        let home = try state.directory(StateDirectory.appsName)
            .openOrMakeDirectory(app, permissions: state.modes.apps)
        guard try state.directory(StateDirectory.stagingName).rename(moved.staged.name, to: home, as: tree) else {
            return
        }
        moved.staged.leave()
        try home.sync()
    }

    /// A directory of an app in which something stands that has no row, or nothing at all.
    private struct Stranger {
        let app: String
        /// Trees without a row.
        let trees: [String]
    }

    /// Finds trees without a row, of a restored backup or of a crash before a commit, and apps' directories without a tree.
    private func strangers(in store: any TrustStore) throws -> [Stranger] {
        let apps = try state.directory(StateDirectory.appsName)
        var strangers: [Stranger] = []
        for app in try apps.textNames() {
            guard try apps.status(of: app)?.kind == .directory, let home = try apps.directory(beneath: app) else {
                continue
            }
            let trees = try home.textNames()
            let unknown = try store.read { snapshot in
                try trees.filter { try !snapshot.hasTree(at: Self.path(app, $0)) }
            }
            if trees.isEmpty || !unknown.isEmpty { strangers.append(Stranger(app: app, trees: unknown)) }
        }
        return strangers
    }

    /// Moves trees aside that have no row still and are not in use, and removes the directories that are empty then.
    private func setAside(_ strangers: [Stranger], unlessRecordedIn snapshot: any StoreSnapshot) throws -> [String] {
        var moved: [String] = []
        let apps = try state.directory(StateDirectory.appsName)
        for stranger in strangers {
            guard let home = try apps.directory(beneath: stranger.app) else { continue }
            for tree in stranger.trees {
                let path = Self.path(stranger.app, tree)
                guard try !snapshot.hasTree(at: path), try home.status(of: tree) != nil, let lock = try lockOut(path)
                else { continue }
                try setAside(tree, of: stranger.app, in: home)
                withExtendedLifetime(lock) {}
                moved.append(path)
            }
            _ = try apps.removeEmptyDirectory(stranger.app)
        }
        return moved
    }

    private static func path(_ app: String, _ tree: String) -> String { "\(StateDirectory.appsName)/\(app)/\(tree)" }
}
