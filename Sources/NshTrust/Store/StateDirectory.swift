/// The directory in which a trust store lives, open and found safe: the database, staging, and the installed trees.
///
/// ```
/// trust.sqlite    trust.sqlite-journal                 the database: opened by nothing but SQLite
/// staging/<random>                                     trees being written or removed, each locked by who does it
/// apps/<app's directory name>/<build>-<16 hex>         installed trees; their `SHA256SUMS` is the file of the lease
/// set-aside/<app's directory name>/<tree>-<random>     trees without a row in the database, for an administrator
/// ```
///
/// - Spec: STO-4, STO-6
package final class StateDirectory: Sendable {
    /// Who may look into what.
    package struct Modes: Hashable, Sendable {
        /// Permissions of the state directory when it is made.
        package let directory: UInt32
        /// Permissions of `apps` and of each app's directory when they are made; trees themselves are 0755 and 0644.
        package let apps: UInt32

        /// A library's own: nobody else looks in.
        package static let library = Modes(directory: 0o700, apps: 0o700)
        /// A daemon's: engines of other users reach the trees that they are told of, and nothing else.
        package static let daemon = Modes(directory: 0o711, apps: 0o711)
    }

    /// What may be done to the directory.
    package enum Access: Hashable, Sendable {
        /// Everything; what is missing is made.
        case readWrite
        /// Nothing is made, migrated or removed; only what a crash interrupted is undone, where that is permitted.
        case readOnly
    }

    /// What may be done to the directory.
    package let access: Access
    /// Who may look into what is made.
    package let modes: Modes
    let root: Directory

    static let databaseName = "trust.sqlite"
    static let journalName = "trust.sqlite-journal"
    static let stagingName = "staging"
    static let appsName = "apps"
    static let setAsideName = "set-aside"

    private init(root: consuming Directory, access: Access, modes: Modes) {
        self.root = root
        self.access = access
        self.modes = modes
    }

    /// Opens a state directory, and makes it with the directories above it when it is missing and may be made.
    ///
    /// - Parameters:
    ///   - path: The directory; links above it are followed, it must not be one itself.
    ///   - modes: Permissions of what is made; what exists keeps its own.
    ///   - access: What may be done.
    /// - Returns: The directory, which this process's user or root owns and nobody else may write.
    /// - Throws: `storeUnsafe`, `noSuchFile`, `ioFailure`, `storeFull`.
    package static func open(
        _ path: String, modes: Modes = .library, access: Access = .readWrite
    ) throws(Trouble) -> StateDirectory {
        guard !path.utf8.contains(0) else {
            throw Trouble(.noSuchFile, "the path \(Printable.escaped(path)) holds a NUL")
        }
        if access == .readWrite { try Directory.make(path, permissions: modes.directory) }
        let root = try Directory.open(path)
        if let exposure = try root.status().exposure {
            throw Trouble(.storeUnsafe, "state directory \(Printable.escaped(root.path)): \(exposure)")
        }
        return StateDirectory(root: root, access: access, modes: modes)
    }

    /// The directory's path as the caller gave it, without slashes at its end.
    package var path: String { root.path }

    /// The absolute path of something in the directory, for engines.
    ///
    /// - Parameter relativePath: As the store records a tree.
    /// - Returns: The path with all links above the state directory resolved, as it was when it was opened.
    /// - Throws: `ioFailure` when the system cannot tell.
    package func absolutePath(of relativePath: String) throws(Trouble) -> String {
        try root.resolvedPath() + "/" + relativePath
    }

    /// Which files are the database and its journal: a package of the caller's must be neither, for closing any other
    /// descriptor of a database drops SQLite's locks on it.
    ///
    /// - Spec: STO-10
    package func databaseFiles() throws(Trouble) -> Set<FileIdentity> {
        var files: Set<FileIdentity> = []
        for name in [Self.databaseName, Self.journalName] {
            if let status = try root.status(of: name) { files.insert(status.identity) }
        }
        return files
    }

    /// Bytes of the database; 0 when there is none.
    ///
    /// Opens nothing.
    package func databaseSize() throws(Trouble) -> Int64 {
        Int64(clamping: try root.status(of: Self.databaseName)?.size ?? 0)
    }

    /// Opens one of the directories of the layout, and makes it when it is missing.
    ///
    /// - Throws: `storeUnsafe` when it is not ours, `ioFailure`, `storeFull`.
    func directory(_ name: String) throws(Trouble) -> Directory {
        let permissions = name == Self.appsName ? modes.apps : 0o700
        let directory = try root.openOrMakeDirectory(name, permissions: permissions)
        if let exposure = try directory.status().exposure {
            throw Trouble(.storeUnsafe, "\(root.shown(name)): \(exposure)")
        }
        return directory
    }
}
