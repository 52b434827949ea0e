/// What an administrator asks of a store and does to it; no root is needed for that.
package struct StoreAdministration: Sendable {
    /// The state directory.
    package let state: StateDirectory
    /// The store in it.
    package let store: any TrustStore
    /// Who is named in the decision log.
    package let caller: Caller
    /// The clock of what is logged.
    package let clock: WallClock

    /// Works on a store that is open.
    ///
    /// - Parameters:
    ///   - state: The state directory.
    ///   - store: The store in it.
    ///   - caller: Who is named in the decision log.
    ///   - clock: The local time.
    package init(
        state: StateDirectory, store: any TrustStore, caller: Caller = .thisProcess, clock: WallClock = .system
    ) {
        self.state = state
        self.store = store
        self.caller = caller
        self.clock = clock
    }

    // MARK: - Looking

    /// Says what the store holds.
    ///
    /// - Returns: What it holds now.
    /// - Throws: A trouble of the store, like everything here.
    package func status() throws -> StoreStatus {
        try StoreStatus(of: store, now: clock.now())
    }

    /// Returns a page of the apps that have an accepted build, by id.
    ///
    /// - Parameters:
    ///   - app: Only apps behind this one are returned; nil for the first page.
    ///   - limit: The most apps returned, 1 or more.
    /// - Returns: The apps; fewer than asked for when there are no more.
    /// - Throws: A trouble of the store.
    package func apps(after app: AppID?, limit: Int) throws -> [AppRecord] {
        try store.read { snapshot in
            try snapshot.acceptedBuilds(after: app, limit: limit).map { build in
                AppRecord(build: build, installed: try snapshot.installedPackages(of: build.app))
            }
        }
    }

    /// Returns one app, or nil when no build of it was accepted.
    ///
    /// - Throws: A trouble of the store.
    package func app(_ id: AppID) throws -> AppRecord? {
        try store.read { snapshot in
            guard let build = try snapshot.acceptedBuild(of: id) else { return nil }
            return AppRecord(build: build, installed: try snapshot.installedPackages(of: id))
        }
    }

    /// Returns a page of the decision log, oldest first.
    ///
    /// - Parameters:
    ///   - sequence: Only events with a greater number are returned.
    ///   - limit: The most events returned, 1 or more.
    /// - Returns: The events, and the oldest that is kept.
    /// - Throws: A trouble of the store.
    package func events(after sequence: Int64, limit: Int) throws -> EventPage {
        try store.read { try $0.events(after: sequence, limit: limit) }
    }

    /// Looks for damage in the database and in every installed file.
    ///
    /// - Parameter isCancelled: Asked between packages; when it says so, the rest is left out.
    /// - Returns: What is wrong.
    /// - Throws: `storeCorrupt` when it cannot even be looked at, or another trouble of the store.
    package func check(isCancelled: () -> Bool = { false }) throws -> StoreCheckResult {
        var problems = try store.problems().map { (code: TroubleCode.storeCorrupt.rawValue, message: $0) }
        var packages = 0
        var patience = Backoff(seconds: 2)
        try store.forEachPageOfPackages { page in
            packages += page.count
            for package in page where !isCancelled() {
                guard try isDamaged(package, &patience) else { continue }
                problems.append(
                    (
                        RefusalCode.manifestMismatch.rawValue,
                        "\(Printable.escaped("\(state.path)/\(package.tree)")) is not as it was installed; "
                            + "open its package again"
                    ))
            }
        }
        return StoreCheckResult(problems: problems, packages: packages)
    }

    /// Tells whether a tree is other than it was installed; not one that another process has removed since.
    private func isDamaged(_ package: InstalledPackage, _ patience: inout Backoff) throws -> Bool {
        let trees = Trees(state)
        while true {
            if try trees.isIntact(package.tree, manifest: package.facts.manifest) { return false }
            let isRecorded = try store.read { try $0.installedPackage(package.facts.digest)?.tree == package.tree }
            if !isRecorded { return false }
            // A tree is moved away before its record goes with the commit, and it may have come back meanwhile.
            if !patience.pause() { return true }
        }
    }

    /// Takes floors and lists down, for a new machine.
    package func export() throws -> StoreDocument { try store.read { try StoreDocument(of: $0) } }

    // MARK: - Changing

    /// Removes the trees of older builds that no process uses, and what interrupted work left in staging.
    ///
    /// - Parameters:
    ///   - kept: How many installed builds of each app stay, newest first; at least 1.
    ///   - isRehearsal: Whether to say only what would go.
    /// - Returns: What went, what stayed, what was set aside.
    /// - Throws: A trouble of the store or of the disk.
    /// - Spec: STO-13
    @discardableResult
    package func prune(keeping kept: Int, isRehearsal: Bool = false) throws -> Trees.Pruning {
        if !isRehearsal { try StagingArea(state).cleanUp(in: store) }
        return try prune(.olderThanNewest(kept), isRehearsal: isRehearsal)
    }

    /// Removes every tree of an app that no process uses, and what interrupted work left in staging; its accepted build
    /// stays.
    ///
    /// - Parameter app: The app.
    /// - Returns: What went and what stayed.
    /// - Throws: `notInstalled` when nothing of the app is installed.
    /// - Spec: STO-13
    @discardableResult
    package func remove(_ app: AppID) throws -> Trees.Pruning {
        try StagingArea(state).cleanUp(in: store)
        guard try store.read({ try !$0.installedPackages(of: app).isEmpty }) else {
            throw Trouble(.notInstalled, "nothing of \(app) is installed here")
        }
        return try prune(.all(of: app), isRehearsal: false)
    }

    private func prune(_ selection: Trees.Selection, isRehearsal: Bool) throws -> Trees.Pruning {
        try Trees(state).prune(selection, in: store, isRehearsal: isRehearsal) { package in
            event(
                .treeRemoved, app: package.app.id, build: package.app.build, digest: package.facts.digest,
                message: "the tree of \(package.app.id) build \(package.app.build) was removed")
        }
    }

    /// Takes the lists of a root out of force: what they revoked may be opened again.
    ///
    /// - Parameter issuer: The hash of the root's key.
    /// - Returns: Whether there was one.
    /// - Throws: A trouble of the store.
    /// - Spec: STO-12
    package func forgetRoot(_ issuer: Digest) throws -> Bool {
        let event = event(
            .rootForgotten, digest: issuer, message: "the lists of root \(issuer.shortHex) were taken out of force")
        return try store.commit { try $0.forgetLists(of: issuer, event: event) }
    }

    /// Raises floors and the threshold to those of an export; none is ever lowered.
    ///
    /// Its lists are verified and applied by `TrustCore.importStore`, which calls this after them.
    ///
    /// - Parameter document: The export.
    /// - Returns: The number of builds in the document.
    /// - Throws: A trouble of the store.
    package func importBuilds(_ document: StoreDocument) throws -> Int {
        try store.commit { transaction in
            try document.raiseFloors(in: transaction) { build in
                event(
                    .buildImported, app: build.app, build: build.build, digest: build.digest,
                    message: "build \(build.build) of \(build.app) was taken over from another store")
            }
        }
        return document.builds.count
    }

    private func event(
        _ kind: NewEvent.Kind, app: AppID? = nil, build: Int64? = nil, digest: Digest? = nil, message: String
    ) -> NewEvent {
        NewEvent(
            kind, time: clock.now(), app: app, build: build, digest: digest, message: message, uid: caller.uid,
            pid: caller.pid)
    }
}
