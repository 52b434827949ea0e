import NshTrust
import NshTrustWire

/// The roots and lists that lie in directories of this machine: read at the start, when asked to, and when they change.
///
/// A file that cannot be used is passed over, logged, and named by `/v1/status`: one bad file must not stop the rest.
final class Configuration: ConfigurationStatus {
    private struct State: Sendable {
        var rootFiles: [RootFile] = []
        var badRoots: [BadFile] = []
        var badLists: [BadFile] = []
    }

    /// The directories, touched by one thread at a time.
    private struct Directories: Sendable {
        var roots: WatchedFiles
        var lists: WatchedFiles?
        /// When to read everything again because the store or the system, not a file, stood in the way.
        var retry: Retry?
    }

    private struct Retry: Sendable {
        /// On the monotonic clock.
        let time: UInt64
        /// How long before that it was settled, in nanoseconds.
        let pause: UInt64
    }

    private let core: TrustCore
    private let log: Log
    private let retryInterval: UInt64
    private let state = Locked(State())
    private let directories: Locked<Directories>

    /// Names the directories; nothing is read yet.
    ///
    /// - Parameters:
    ///   - core: Whose roots these are.
    ///   - roots: The directory of `.pub` files.
    ///   - lists: The directory of revocation lists; nil for none.
    ///   - log: Where it is said what was read.
    ///   - retryInterval: How long after the store or the system stood in the way everything is read again, in
    ///     nanoseconds; twice as long each time that this was in vain and nothing has changed, up to a hundred times as long.
    init(
        _ core: TrustCore, roots: String, lists: String?, log: Log, retryInterval: UInt64 = 2_000_000_000
    ) {
        self.core = core
        self.log = log
        self.retryInterval = retryInterval
        directories = Locked(
            Directories(
                roots: WatchedFiles(roots, endings: [".pub"]),
                lists: lists.map { WatchedFiles($0, endings: [".json", ".list"]) }))
    }

    /// The roots that files name and this process trusts, or would if no list had withdrawn them.
    var rootFiles: [RootFile] { state.withLock { $0.rootFiles } }
    /// The files that name no root that can be trusted.
    var badRoots: [BadFile] { state.withLock { $0.badRoots } }
    /// The files that hold no list that can be applied.
    var badLists: [BadFile] { state.withLock { $0.badLists } }

    /// Reads what has changed since the last time, or everything: when asked to, and some time after the store or the system
    /// stood in the way, for no revocation may be lost because the store was busy or no descriptor was left.
    ///
    /// - Parameter isAsked: Whether to read, and to log, what looks unchanged, too.
    func reload(all isAsked: Bool) {
        let now = MonotonicTime.nanoseconds()
        let (roots, lists, haveRootsChanged, haveListsChanged, retry) = directories.withLock { directories in
            let (roots, lists) = (directories.roots.haveChanged(), directories.lists?.haveChanged() ?? false)
            return (directories.roots, directories.lists, roots, lists, directories.retry)
        }
        let isDue = retry.map { now >= $0.time } ?? false
        let hasChanged = haveRootsChanged || haveListsChanged
        let all = isAsked || isDue || (retry != nil && hasChanged)
        guard all || hasChanged else { return }
        var isDone = true
        if all || haveRootsChanged { isDone = readRoots(roots, isAsked) }
        // A list may be that of a root which has just come.
        if let lists, !readLists(lists, isAsked) { isDone = false }
        let wasInVain = isDue && !isAsked && !hasChanged
        let pause = wasInVain ? min(2 * (retry?.pause ?? 0), 100 * retryInterval) : retryInterval
        let next = isDone ? nil : Retry(time: MonotonicTime.nanoseconds() + pause, pause: pause)
        directories.withLock { $0.retry = next }
    }

    /// Whether a trouble is one of the store or the system that may be over soon.
    static func isPassing(_ error: any Error) -> Bool {
        [.storeBusy, .storeFull, .ioFailure].contains(NshError(wrapping: error).code)
    }

    // MARK: - Roots

    /// Reads the roots; false when the store or the system stood in the way.
    private func readRoots(_ files: WatchedFiles, _ isAsked: Bool) -> Bool {
        let (before, badBefore) = (core.roots, badRoots)
        let read = RootFiles.read(files)
        var (roots, bad) = (read.roots, read.bad)
        do {
            for (key, refusal) in try core.replaceRoots(with: roots.map(\.key)) {
                let file = roots.first { $0.key == key }?.file ?? key.id
                bad.append(BadFile(file: file, message: refusal.message))
                // A withdrawn root stays in the list, marked as such; one too many is not there.
                if refusal.code != .rootWithdrawn { roots.removeAll { $0.key == key } }
            }
        } catch {
            // The roots of before stay pinned: the store, not the files, stood in the way.
            log.write(.error, "the roots cannot be taken over: \(NshError(wrapping: error))")
            return false
        }
        for file in bad where isAsked || !badBefore.contains(file) {
            log.write(.warning, "root file \(Printable.escaped(file.file)) is passed over: \(file.message)")
        }
        if isAsked || core.roots != before { sayWhoIsTrusted(files) }
        let (now, nowBad) = (roots, bad)
        state.withLock { state in
            state.rootFiles = now
            state.badRoots = nowBad
        }
        return read.isDone
    }

    private func sayWhoIsTrusted(_ files: WatchedFiles) {
        let roots = core.roots
        if roots.isEmpty {
            log.write(.error, "no root is trusted: put a .pub file into \(Printable.escaped(files.path))")
        } else {
            let trusted = roots.map(\.id).joined(separator: ", ")
            log.write(.info, "trusting \(roots.count == 1 ? "root" : "roots") \(trusted)")
        }
    }

    // MARK: - Lists

    /// Reads the lists; false when the store or the system stood in the way of one.
    private func readLists(_ files: WatchedFiles, _ isAsked: Bool) -> Bool {
        let badBefore = badLists
        var bad: [BadFile] = []
        var isDone = true
        do throws(Trouble) {
            let directory = try files.directory()
            for name in try files.names(in: directory) {
                let path = "\(files.path)/\(name)"
                do {
                    try apply(name, in: directory, path)
                } catch {
                    if Self.isPassing(error) { isDone = false }
                    bad.append(BadFile(file: path, message: NshError(wrapping: error).message))
                }
            }
        } catch {
            if Self.isPassing(error) { isDone = false }
            bad.append(BadFile(file: files.path, message: error.message))
        }
        for file in bad where isAsked || !badBefore.contains(file) {
            log.write(.warning, "revocation list \(Printable.escaped(file.file)) is passed over: \(file.message)")
        }
        let now = bad
        state.withLock { $0.badLists = now }
        return isDone
    }

    private func apply(_ name: String, in directory: borrowing Directory, _ path: String) throws {
        let file = try directory.openFile(name)
        let limit = Int(core.policy.limits.revocationListBytes)
        do {
            let update = try core.applyRevocations(try file.contents(limit: limit, directory.shown(name)))
            guard update.changed else { return }
            log.write(
                .notice, "applied revocation list \(update.sequence) of root \(update.issuer.prefix(16))",
                ["file": .text(path), "stoppedApps": .array(update.stoppedApps.map { .text($0) })])
            for warning in update.warnings { log.write(.warning, "\(Printable.escaped(path)): \(warning)") }
        } catch let refusal as Refusal where refusal.code == .revocationsOlder {
            // A directory may well keep the lists of before.
        }
    }
}
