import NshTrust
import NshTrustWire

/// What judges packages and lists for a verb: this process with its roots, or a daemon with its own.
protocol PackageDoor {
    /// The time of the decision, in seconds since 1970 UTC.
    var now: Int64 { get }
    /// Opens what is behind the door, so that what stands in the way shows before the first file.
    ///
    /// - Throws: A code of the store, or `Failure` when there is no daemon.
    func prepare() throws
    /// The files that name the trusted roots, by key hash; asked for when the chain is shown.
    func rootFiles() throws -> [String: String]
    /// Verifies a package whole; `-` is standard input.
    ///
    /// - Throws: `NshError` with what was established, or a trouble.
    func verify(_ file: String, _ monitor: Monitor) throws -> NshReport
    /// Verifies a package, extracts it and accepts it; tells where its files lie.
    ///
    /// - Throws: As `verify`.
    func open(_ file: String, _ monitor: Monitor) throws -> (report: NshReport, directory: String)
    /// Applies a revocation list, or says what that would do.
    ///
    /// - Throws: A refusal of the list, or a trouble.
    func applyRevocations(_ bytes: consuming [UInt8]) throws -> NshRevocationUpdate
    /// Takes over another store's floors and lists.
    ///
    /// - Throws: A refusal of a list, or a trouble.
    func importStore(_ document: StoreDocument) throws -> ImportDocument
}

/// Opens the door that a command line names.
enum PackageDoors {
    /// What the verb does to a store.
    enum Access { case reads, writes }

    /// Finds who judges.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - place: The store; nil when no store takes part.
    ///   - access: What the verb does to it; a rehearsal reads.
    /// - Returns: The door; nothing behind it is open yet.
    /// - Throws: `UsageError`, `Failure` (no root, a bad root file), or what reading a list throws.
    static func find(_ invocation: Invocation, _ place: StorePlace?, _ access: Access) throws -> any PackageDoor {
        switch place {
        case .socket(let path): DaemonDoor(path, isRehearsal: access == .reads)
        case .state(let path): LocalJudge(try Judging(invocation), state: path, access, invocation.console)
        case nil: LocalJudge(try Judging(invocation), state: nil, access, invocation.console)
        }
    }
}

/// This process judges, with or without a store.
final class LocalJudge: PackageDoor {
    private let judging: Judging
    private let state: String?
    private let isReadOnly: Bool
    private let console: Console
    private var opened: TrustCore?

    /// Takes what the options ask for.
    init(_ judging: Judging, state: String?, _ access: PackageDoors.Access, _ console: Console) {
        self.judging = judging
        self.state = state
        isReadOnly = access == .reads
        self.console = console
    }

    var now: Int64 { judging.clock.now() }

    func prepare() throws { _ = try core() }

    func rootFiles() -> [String: String] { judging.roots.files }

    func verify(_ file: String, _ monitor: Monitor) throws -> NshReport {
        let core = try core()
        if file == "-" {
            var input = StandardInput()
            return try core?.verify(&input, lists: judging.lists, monitor: monitor)
                ?? judging.verification().report(&input, store: nil, monitor: monitor)
        }
        if let core { return try core.verify(path: file, lists: judging.lists, monitor: monitor) }
        var input = FileInput(try PackageFile.open(file))
        return try judging.verification().report(&input, store: nil, monitor: monitor)
    }

    func open(_ file: String, _ monitor: Monitor) throws -> (report: NshReport, directory: String) {
        let package = try requiredCore().open(path: file, lists: judging.lists, monitor: monitor)
        return (package.report, package.path)
    }

    func applyRevocations(_ bytes: consuming [UInt8]) throws -> NshRevocationUpdate {
        try requiredCore().applyRevocations(consume bytes, dryRun: isReadOnly)
    }

    func importStore(_ document: StoreDocument) throws -> ImportDocument {
        ImportDocument(try requiredCore().importStore(document))
    }

    private func core() throws -> TrustCore? {
        if opened == nil, let state {
            opened = try PinnedStore.open(state, judging, isReadOnly: isReadOnly, console)
        }
        return opened
    }

    private func requiredCore() throws -> TrustCore {
        guard let core = try core() else { throw Trouble(.badRequest, "no trust store is named") }
        return core
    }
}
