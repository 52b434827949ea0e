extension TrustCore {
    /// Verifies a package file and changes nothing.
    ///
    /// - Spec: POL-17
    package func verify(
        path: String, lists: [Verification.GivenList] = [], monitor: Monitor = Monitor()
    ) throws -> NshReport {
        try verify(try packageFile(path), lists: lists, monitor: monitor)
    }

    /// Verifies an open package file and changes nothing.
    package func verify(
        _ file: PackageFile, lists: [Verification.GivenList] = [], monitor: Monitor = Monitor()
    ) throws -> NshReport {
        var input = FileInput(file)
        return try verify(&input, lists: lists, monitor: monitor)
    }

    /// Verifies a package and changes nothing.
    ///
    /// - Throws: `NshError`, whose report says what had been established.
    package func verify(
        _ input: inout some PackageInput, lists: [Verification.GivenList] = [], sink: (any PayloadSink)? = nil,
        monitor: Monitor = Monitor()
    ) throws -> NshReport {
        try verification(lists: lists).report(&input, store: store, sink: sink, monitor: monitor)
    }

    /// Verifies a package file, extracts it and accepts it.
    ///
    /// - Spec: POL-18, POL-20, POL-21
    package func open(
        path: String, by caller: Caller = .thisProcess, lists: [Verification.GivenList] = [],
        monitor: Monitor = Monitor()
    ) throws -> NshPackage {
        try open(try packageFile(path), by: caller, lists: lists, monitor: monitor)
    }

    /// Verifies an open package file, extracts it and accepts it.
    package func open(
        _ file: PackageFile, by caller: Caller = .thisProcess, lists: [Verification.GivenList] = [],
        monitor: Monitor = Monitor()
    ) throws -> NshPackage {
        var input = FileInput(file)
        return try open(&input, length: file.length, by: caller, lists: lists, monitor: monitor)
    }

    /// Verifies a package, extracts it and accepts it.
    ///
    /// - Parameters:
    ///   - input: The package, at its first byte.
    ///   - length: Bytes of the file; nil for a stream, which is read to its end instead.
    ///   - caller: Who is named in the decision log.
    ///   - lists: Revocation lists to honour besides those of the store.
    ///   - monitor: Watches and stops.
    /// - Returns: The package, with a lease on its tree.
    /// - Throws: `NshError`: a refusal, which the log records, or a trouble. Nothing is left behind.
    package func open(
        _ input: inout some PackageInput, length: Int64?, by caller: Caller = .thisProcess,
        lists: [Verification.GivenList] = [], monitor: Monitor = Monitor()
    ) throws -> NshPackage {
        var established = Established()
        do {
            return try openUnlogged(
                &input, length: length, by: caller, lists: lists, monitor: monitor, established: &established)
        } catch let refusal as Refusal {
            throw logged(refusal, by: caller, established)
        } catch {
            throw NshError(wrapping: error)
        }
    }

    /// Opens a caller's path as a package: a regular file that is not the store's own.
    ///
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`.
    /// - Spec: STO-10
    package func packageFile(_ path: String) throws -> PackageFile {
        try PackageFile.open(path, forbidden: try state.databaseFiles())
    }

    /// Takes a caller's descriptor as a package: a regular file that is not the store's own.
    package func packageFile(duplicating descriptor: Int32) throws -> PackageFile {
        try PackageFile.duplicate(descriptor, forbidden: try state.databaseFiles())
    }

    // MARK: - Steps

    private var trees: Trees { Trees(state, durability: options.durability) }

    private func openUnlogged(
        _ input: inout some PackageInput, length: Int64?, by caller: Caller, lists: [Verification.GivenList],
        monitor: Monitor, established: inout Established
    ) throws -> NshPackage {
        let verification = verification(lists: lists)
        try verification.requireRoots()
        let front = try verification.readFront(&input)
        let (chain, installed) = try store.read { state in
            let chain = try verification.judge(front, against: state, established: &established)
            return (chain, try state.installedPackage(chain.digest))
        }
        if let installed, let lease = try leaseOnWholeTree(of: installed) {
            try checkLength(of: chain, length, &input, monitor)
            let directory = try state.absolutePath(of: installed.tree)
            try acceptAgain(chain, front, installed, verification, by: caller)
            return package(chain, in: directory, lease, established)
        }
        return try install(chain, front, &input, verification, by: caller, monitor, established)
    }

    /// Takes a lease on an installed tree, or returns nil when the tree is not whole and must be extracted again.
    func leaseOnWholeTree(of installed: InstalledPackage) throws -> TreeLease? {
        do {
            let lease = try TreeLease.take(installed.tree, in: state)
            // Since its row was read, the tree may have been removed and another renamed here that has no row yet, and
            // may never get one. With the row there and the path the lease's own, nobody can move the tree away.
            let isRecorded = try store.read { try $0.installedPackage(installed.facts.digest)?.tree == installed.tree }
            guard isRecorded, try lease.isReached(by: installed.tree, in: state) else { return nil }
            return try isWhole(installed.tree, installed.facts.manifest) ? lease : nil
        } catch let trouble as Trouble where trouble.code == .notInstalled {
            return nil
        }
    }

    /// Tells whether an installed tree is whole, as closely as the host asks for.
    private func isWhole(_ tree: String, _ manifest: Digest) throws -> Bool {
        switch options.treeCheck {
        case .fileList: try trees.isWhole(tree, manifest: manifest)
        case .everyFile: try trees.isIntact(tree, manifest: manifest)
        }
    }

    /// Judges the length of a package whose payload is not read; a stream is read to its end.
    private func checkLength(
        of chain: VerifiedChain, _ length: Int64?, _ input: inout some PackageInput, _ monitor: Monitor
    ) throws {
        let expected = chain.payloadOffset + chain.header.payload.size
        let found = try length ?? chain.payloadOffset + input.drain(monitor)
        if found < expected { throw Refusal(.truncated, "the file has \(found) bytes, \(expected) are expected") }
        if found > expected { throw Refusal(.trailingData, "the file has \(found) bytes, \(expected) are expected") }
    }

    /// Records an installed package again where the store does not say the same of it already.
    private func acceptAgain(
        _ chain: VerifiedChain, _ front: Verification.Front, _ installed: InstalledPackage,
        _ verification: Verification, by caller: Caller
    ) throws {
        let facts = PackageFacts(of: chain)
        let isRecorded = try store.read { state in
            try verification.repeatDecision(on: chain, of: front, against: state)
            let accepted = try state.acceptedBuild(of: facts.app)
            return facts == installed.facts && accepted?.build == facts.build && accepted?.identity == facts.identity
                && accepted?.publisher == facts.certificate.publisher
        }
        if isRecorded { return }
        try store.commit { transaction in
            try verification.repeatDecision(on: chain, of: front, against: transaction)
            try transaction.record(
                record(of: chain, tree: installed.tree), certificate: chain.certificate.envelope,
                event: event(.reopened, by: caller, chain))
        }
    }

    private func install(
        _ chain: VerifiedChain, _ front: Verification.Front, _ input: inout some PackageInput,
        _ verification: Verification, by caller: Caller, _ monitor: Monitor, _ established: Established
    ) throws -> NshPackage {
        let header = chain.header
        let staged = try StagingArea(state).makeTree()
        let sink = try DirectorySink(staged.directory)
        try PayloadVerifier.run(chain, input: &input, limits: policy.limits, sink: sink, monitor: monitor)
        try monitor.check()
        let tree = Trees.path(of: header.app.id, build: header.app.build, digest: chain.digest)
        // Nothing that can fail comes behind the commit: what was accepted must be reported so.
        let directory = try state.absolutePath(of: tree)
        let installed = record(of: chain, tree: tree)
        let (lease, _) = try trees.install(
            staged, app: header.app.id, build: header.app.build, digest: chain.digest,
            manifest: header.payload.manifest, in: store,
            unlessWhole: { try self.isWhole($0, header.payload.manifest) }
        ) { transaction in
            try verification.repeatDecision(on: chain, of: front, against: transaction)
            try transaction.record(
                installed, certificate: chain.certificate.envelope, event: event(.opened, by: caller, chain))
        }
        return package(chain, in: directory, lease, established)
    }

    private func record(of chain: VerifiedChain, tree: String) -> InstalledPackage {
        let payload = chain.header.payload
        return InstalledPackage(
            facts: PackageFacts(of: chain), app: chain.header.app, capabilities: chain.header.capabilities,
            files: payload.files, unpackedSize: payload.unpackedSize, packageSize: chain.payloadOffset + payload.size,
            tree: tree, acceptedAt: clock.now())
    }

    private func event(_ kind: NewEvent.Kind, by caller: Caller, _ chain: VerifiedChain) -> NewEvent {
        let (app, publisher) = (chain.header.app, chain.certificate.certificate.publisher)
        return newEvent(
            kind, by: caller, app: app.id, build: app.build, digest: chain.digest,
            message: "\(app.id) \(app.version) (build \(app.build)) by \(publisher)")
    }

    private func package(
        _ chain: VerifiedChain, in directory: String, _ lease: TreeLease, _ established: Established
    ) -> NshPackage {
        NshPackage(
            chain: chain, directory: directory, report: NshReport(established, payloadVerified: true), lease: lease,
            core: self)
    }

    /// Records a refusal in the log and returns it as the public error.
    private func logged(_ refusal: Refusal, by caller: Caller, _ established: Established) -> NshError {
        let app = established.chain?.header.app
        let event = newEvent(
            .refused, by: caller, app: app?.id, build: app?.build, digest: established.chain?.digest,
            code: refusal.code.rawValue, message: refusal.message)
        let report = NshReport(established, payloadVerified: false)
        do {
            try store.commit { try $0.record(event) }
            return NshError(refusal, report: report)
        } catch {
            // The refusal stands whether or not it could be written down; say both.
            let noted = NshError(wrapping: error).message
            return NshError(
                Refusal(refusal.code, "\(refusal.message) (and the decision log could not be written: \(noted))"),
                report: report)
        }
    }

    // MARK: - Running

    /// Asks whether an opened package may still run: rules 2, 3, 9 and 11, with store and clock read afresh.
    ///
    /// - Spec: POL-19
    package func checkStillTrusted(_ facts: PackageFacts) throws {
        try store.read { state in
            try Judge(policy: policy, pinned: roots, state: state, clock: clock.now()).stillTrusted(facts)
        }
    }
}
