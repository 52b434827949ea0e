#if Foundation
public import FoundationEssentials
#endif

/// A package that was verified, extracted and accepted, to be taken once by an engine.
///
/// Its tree stays on disk for as long as this value, or the run that took it, lives.
public final class NshPackage: Sendable {
    /// The app inside a package.
    public struct Info: Hashable, Sendable {
        /// The app id, which the certificate vouches for.
        public let id: String
        /// The name for people.
        public let name: String
        /// The version for people.
        public let version: String
        /// The build, which only grows.
        public let build: Int

        /// Takes the app of a verified header.
        package init(_ app: PackageHeader.App) {
            id = app.id.text
            name = app.name.text
            version = app.version.text
            build = Int(app.build)
        }

        /// Makes an app of its parts.
        package init(id: String, name: String, version: String, build: Int) {
            self.id = id
            self.name = name
            self.version = version
            self.build = build
        }
    }

    /// `id`, `name`, `version` and `build` of the app inside.
    public let info: Info
    /// The extracted tree: `bundle.*`, `app.json`, `assets/`, with `SHA256SUMS` to check it by.
    public let directory: URL
    /// What the app declares that it needs.
    public let capabilities: NshCapabilities
    /// Hex SHA-256 of the signed header: the package digest.
    public let digest: String
    /// The whole chain that was verified.
    public let report: NshReport
    /// A name for a directory of the app's own data, the same for every build and safe on every file system.
    ///
    /// - Spec: APP-6, APP-7
    public let storageDirectoryName: String

    /// The extracted tree's path, as `directory` has it, for tool and daemon, which make no URL of it.
    package let path: String

    private let facts: PackageFacts
    private let core: TrustCore
    private let lease: Locked<TreeLease?>

    /// Makes a package of what was opened.
    init(chain: VerifiedChain, directory: String, report: NshReport, lease: TreeLease, core: TrustCore) {
        info = Info(chain.header.app)
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
        path = directory
        capabilities = NshCapabilities(chain.header.capabilities)
        digest = chain.digest.hex
        storageDirectoryName = chain.header.app.id.directoryName
        self.report = report
        facts = PackageFacts(of: chain)
        self.core = core
        self.lease = Locked(lease)
    }

    /// Takes the package to run it: the one call by which an engine gets hold of it.
    ///
    /// Checks again, with the store and the clock read afresh, that no root, certificate, key, package or build was
    /// revoked since it was opened and that the lists are fresh. A refusal does not use the package up.
    ///
    /// - Returns: The run; the tree stays on disk for as long as it lives.
    /// - Throws: `NshError`: `alreadyRun` when it was taken before, a refusal, or a code of the store.
    /// - Spec: POL-19
    public func take() throws -> NshRun {
        try NshError.wrapping {
            try lease.withLock { lease in
                guard let held = lease else {
                    throw Trouble(
                        .alreadyRun,
                        "build \(info.build) of \(info.id) was taken before; open the package again to run it again")
                }
                try core.checkStillTrusted(facts)
                lease = nil
                return NshRun(info: info, directory: directory, lease: held)
            }
        }
    }
}

/// A package that an engine has taken; its tree is not cleaned up while this value lives.
public final class NshRun: Sendable {
    /// The app that runs.
    public let info: NshPackage.Info
    /// Its tree.
    public let directory: URL
    private let lease: TreeLease

    init(info: NshPackage.Info, directory: URL, lease: TreeLease) {
        self.info = info
        self.directory = directory
        self.lease = lease
    }
}
