#if Foundation
public import FoundationEssentials
#endif

/// A trust store and the verifier of signed packages that works with it.
///
/// Opening a store trusts nobody: `addRoot` names the roots this process trusts. Everything else persists beneath the
/// state directory and is shared with every other process that uses it: revocation lists, the highest accepted build of
/// each app, the extracted packages. Thread-safe; blocking work runs on threads the library owns.
public final class NshTrust: Sendable {
    /// The version of library, tool, daemon and client, which are released together.
    public static let version = "0.1.0"

    /// What the host asks for.
    public let options: Options
    /// Where the state lives.
    public let stateDirectory: URL

    let core: TrustCore

    /// Opens or creates the trust store in a directory.
    ///
    /// - Parameters:
    ///   - stateDirectory: A file URL; the directory is created, mode 0700, when it is missing.
    ///   - options: What the host asks for; the defaults are the safe choice.
    /// - Throws: `NshError`: `storeUnsafe` when others may write the directory or an earlier instance asked for more
    ///   roots, `storeCorrupt`, `storeNewer`, `storeBusy`, `storeFull`, `ioFailure`, or `badRequest`.
    /// - Spec: STO-3 … STO-6, POL-16
    public init(stateDirectory: URL, options: Options = Options()) throws {
        self.options = options
        self.stateDirectory = stateDirectory
        do {
            core = try TrustCore(directory: stateDirectory.path, options: options)
        } catch {
            throw NshError(wrapping: error)
        }
    }

    // MARK: - Roots

    /// Trusts a root public key in this process.
    ///
    /// - Parameter publicKey: Base64 of 32 bytes, the content of a `.pub` file; one newline may follow.
    /// - Throws: `NshError`: `malformed` for text that is no key or a key that nobody can honestly hold,
    ///   `rootWithdrawn` when a list in force withdraws it, `limitExceeded` for a seventeenth root.
    /// - Spec: KEY-1, KEY-2, LIM-7, STO-11
    public func addRoot(_ publicKey: String) throws {
        try NshError.wrapping { try core.addRoot(publicKey) }
    }

    /// The roots this instance trusts, in base64, in the order in which they were added.
    public var trustedRoots: [String] { core.roots.map(\.base64) }

    // MARK: - Revocations

    /// Applies a revocation list, signed by a trusted root and newer than the one the store has.
    ///
    /// - Parameter json: The list's envelope.
    /// - Returns: What changed, and what was passed over.
    /// - Throws: `NshError`: `limitExceeded`, `malformed`, `untrustedRoot`, `rootWithdrawn`, `revocationsOlder`,
    ///   `revocationsConflict`, `noTrustedRoots`, or a code of the store.
    /// - Spec: REV-5 … REV-7, REV-22, STO-15
    @discardableResult
    public func updateRevocations(_ json: String) throws -> NshRevocationUpdate {
        try NshError.wrapping { try core.applyRevocations(Array(json.utf8)) }
    }

    /// The revocation lists in force, by issuer.
    ///
    /// - Throws: `NshError` when the store cannot be read.
    public var revocations: [NshRevocationList] {
        get throws {
            try NshError.wrapping {
                try core.store.read { try $0.storedLists() }.map(NshRevocationList.init)
            }
        }
    }

    // MARK: - Packages

    /// Verifies a package off the caller's thread, extracts its assets and accepts it: older builds of that app are
    /// refused from then on, whatever happens to this process.
    ///
    /// A package that is installed already is opened from its header and the store, whatever its size.
    ///
    /// - Parameters:
    ///   - url: A file URL of a regular file.
    ///   - progress: Told now and then, on a thread of the library, how far the work has come.
    /// - Returns: The package, to be taken once by an engine; its tree stays for as long as the value lives.
    /// - Throws: `NshError`: a refusal (`isRefusal`) or what kept it from being decided; `cancelled` when the task was
    ///   cancelled. Nothing is left behind in any of these cases.
    /// - Spec: POL-18, POL-20, POL-21
    public func openPackage(at url: URL, progress: NshProgress.Handler? = nil) async throws -> NshPackage {
        try await core.run(progress) { [core] monitor in try core.open(path: url.path, monitor: monitor) }
    }

    /// Opens a package from an open descriptor of a regular file; see `openPackage(at:progress:)`.
    ///
    /// - Parameters:
    ///   - fileDescriptor: A readable descriptor; it is duplicated and stays the caller's, its offset is not used.
    ///   - progress: Told now and then how far the work has come.
    /// - Returns: The package.
    /// - Throws: `NshError`; `notARegularFile` for anything but a regular file.
    public func openPackage(
        fileDescriptor: Int32, progress: NshProgress.Handler? = nil
    ) async throws -> NshPackage {
        let file = try NshError.wrapping { try core.packageFile(duplicating: fileDescriptor) }
        return try await core.run(progress) { [core] monitor in try core.open(file, monitor: monitor) }
    }

    /// Opens a package from a stream of bytes, which is never held in memory; see `openPackage(at:progress:)`.
    ///
    /// - Parameters:
    ///   - stream: The package in pieces of any size, front to back.
    ///   - progress: Told now and then how far the work has come.
    /// - Returns: The package.
    /// - Throws: `NshError`; `ioFailure` when the stream fails.
    public func openPackage<Stream: AsyncSequence & Sendable>(
        from stream: Stream, progress: NshProgress.Handler? = nil
    ) async throws -> NshPackage where Stream.Element == [UInt8] {
        try await core.run(progress, feeding: stream) { [core] input, monitor in
            var input = input
            return try core.open(&input, length: nil, monitor: monitor)
        }
    }

    /// Verifies a whole package and changes nothing.
    ///
    /// - Parameters:
    ///   - url: A file URL of a regular file.
    ///   - progress: Told now and then how far the work has come.
    /// - Returns: The whole chain.
    /// - Throws: `NshError`, whose `report` says what had been established when the package was refused.
    /// - Spec: POL-17
    public func verifyPackage(at url: URL, progress: NshProgress.Handler? = nil) async throws -> NshReport {
        try await core.run(progress) { [core] monitor in try core.verify(path: url.path, monitor: monitor) }
    }

    /// Verifies a package from an open descriptor of a regular file; see `verifyPackage(at:progress:)`.
    public func verifyPackage(
        fileDescriptor: Int32, progress: NshProgress.Handler? = nil
    ) async throws -> NshReport {
        let file = try NshError.wrapping { try core.packageFile(duplicating: fileDescriptor) }
        return try await core.run(progress) { [core] monitor in try core.verify(file, monitor: monitor) }
    }

    /// Verifies a package from a stream of bytes, which is never held in memory; see `verifyPackage(at:progress:)`.
    public func verifyPackage<Stream: AsyncSequence & Sendable>(
        from stream: Stream, progress: NshProgress.Handler? = nil
    ) async throws -> NshReport where Stream.Element == [UInt8] {
        try await core.run(progress, feeding: stream) { [core] input, monitor in
            var input = input
            return try core.verify(&input, monitor: monitor)
        }
    }

    // MARK: - Queries

    /// The highest accepted build of an app, or nil when none was accepted.
    ///
    /// - Parameter app: An app id.
    /// - Returns: The record.
    /// - Throws: `NshError`: `badRequest` for text that is no app id, or a code of the store.
    public func acceptedBuild(forApp app: String) throws -> NshAcceptedBuild? {
        try NshError.wrapping {
            let id = try TrustCore.appID(app)
            return try core.store.read { try $0.acceptedBuild(of: id) }.map(NshAcceptedBuild.init)
        }
    }

    /// The highest accepted build of every app, by app id.
    ///
    /// - Throws: `NshError` when the store cannot be read.
    public var acceptedBuilds: [NshAcceptedBuild] {
        get throws {
            try NshError.wrapping {
                try core.store.read { try $0.acceptedBuilds(after: nil, limit: .max) }.map(NshAcceptedBuild.init)
            }
        }
    }

    /// Asks what was decided, when, why and by whom.
    ///
    /// - Parameters:
    ///   - sequence: Events with a greater number are returned; 0 for all that are kept.
    ///   - limit: The most events returned, 1 … 1000.
    /// - Returns: The events, oldest first.
    /// - Throws: `NshError` when the store cannot be read.
    public func events(after sequence: Int64 = 0, limit: Int = 1000) throws -> [NshEvent] {
        try NshError.wrapping {
            try core.store.read { try $0.events(after: sequence, limit: min(max(limit, 1), 1000)) }
                .events.map(NshEvent.init)
        }
    }

    /// Follows what is decided by any process, from after an event on, until the loop is left.
    ///
    /// - Parameter sequence: Events with a greater number come; 0 for all that are kept.
    /// - Returns: Events oldest first; an event arrives within a tenth of a second of its commit.
    public func events(following sequence: Int64) -> AsyncThrowingStream<NshEvent, any Error> {
        core.follow(after: sequence)
    }

    /// Removes the trees of older builds that no process uses; accepted builds stay accepted.
    ///
    /// - Parameter builds: How many installed builds of each app stay, newest first; at least 1.
    /// - Returns: The directories removed.
    /// - Throws: `NshError` when the store cannot be written.
    /// - Spec: STO-13
    @discardableResult
    public func prune(keeping builds: Int = 1) throws -> [URL] {
        try NshError.wrapping {
            try core.administration().prune(keeping: max(builds, 1)).removed.map { installed in
                URL(fileURLWithPath: try core.state.absolutePath(of: installed.tree), isDirectory: true)
            }
        }
    }
}
