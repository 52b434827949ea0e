public import NshTrust
import NshTrustWire

/// What a daemon says of itself and its store.
public struct NshDaemonStatus: Hashable, Sendable {
    /// A root that the daemon trusts unless a list withdraws it.
    public struct Root: Hashable, Sendable {
        /// Hex SHA-256 of the key.
        public let keyHash: String
        /// The key in base64.
        public let key: String
        /// The file that names it.
        public let file: String
        /// Whether a list in force withdraws it.
        public let isWithdrawn: Bool
    }

    /// A file of the daemon's directories that it passed over.
    public struct BadFile: Hashable, Sendable {
        /// The file.
        public let file: String
        /// Why, in one line.
        public let message: String
    }

    /// The daemon's version.
    public let version: String
    /// Seconds since it started.
    public let uptimeSeconds: Int64
    /// Its state directory.
    public let stateDirectory: String
    /// Apps with an accepted build.
    public let apps: Int64
    /// Installed packages.
    public let installed: Int64
    /// Bytes of all their files.
    public let unpackedSize: Int64
    /// How many roots must have signed a certificate.
    public let rootThreshold: Int
    /// The oldest event still kept, or 0.
    public let oldestEvent: Int64
    /// The newest event, or 0.
    public let newestEvent: Int64
    /// The roots of its directory.
    public let roots: [Root]
    /// Root and list files that were passed over.
    public let badFiles: [BadFile]
    /// The revocation lists in force, by issuer.
    public let revocations: [NshRevocationList]
    /// What runs out soon, a sentence each.
    public let warnings: [String]

    init(_ document: StatusDocument) {
        version = document.version
        uptimeSeconds = document.uptime
        stateDirectory = document.store.state
        apps = document.store.apps
        installed = document.store.packages
        unpackedSize = document.store.unpackedSize
        rootThreshold = Int(document.store.threshold)
        oldestEvent = document.store.oldestEvent
        newestEvent = document.store.newestEvent
        roots = document.roots.map { root in
            Root(keyHash: root.key, key: root.publicKey, file: root.file, isWithdrawn: root.isWithdrawn)
        }
        badFiles = (document.badRoots + document.badLists).map { BadFile(file: $0.file, message: $0.message) }
        revocations = document.store.lists.map(\.list)
        warnings = document.store.warnings
    }
}

/// An app that a daemon knows.
public struct NshKnownApp: Hashable, Sendable {
    /// An installed package of the app.
    public struct Installed: Hashable, Sendable {
        /// Its build.
        public let build: Int
        /// Its version, for people.
        public let version: String
        /// The package digest in hex.
        public let digest: String
        /// The path of its tree.
        public let directory: String
    }

    /// The accepted build; lower ones are refused.
    public let accepted: NshAcceptedBuild
    /// What is installed, by rising build.
    public let installed: [Installed]

    init(_ document: AppDocument) {
        accepted = document.accepted
        installed = document.installed.map { package in
            Installed(
                build: Int(package.build), version: package.version, digest: package.digest,
                directory: package.directory)
        }
    }
}

/// What comes next while the decision log is followed.
public enum NshFollowedEvent: Hashable, Sendable {
    /// Something that was decided or done.
    case event(NshEvent)
    /// Events are missing here, because the log is bounded: ask `check` about everything that runs. The number is that
    /// of the oldest event still kept.
    case gap(oldest: Int64)
}
