import NshTrust

/// The files of a directory by the ends of their names, and whether they have changed since they were last read.
struct WatchedFiles: Sendable {
    /// What tells one state of the directory from another: its own rights decide whether the files are trusted.
    private struct State: Hashable, Sendable {
        var identity: FileIdentity?
        var owner: UInt32?
        var permissions: UInt32?
        var files: [Fingerprint] = []
    }

    /// What tells one state of a file from another.
    private struct Fingerprint: Hashable, Sendable {
        let name: String
        let status: FileStatus
    }

    /// The directory's path.
    let path: String
    private let endings: [String]
    private var last: State?

    /// Names the files.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - endings: How their names end, such as `.pub`.
    init(_ path: String, endings: [String]) {
        self.path = path
        self.endings = endings
    }

    /// Tells whether the files, or who may change them, are others than at the last call, and remembers how they are now.
    ///
    /// A directory that cannot be read counts as none; who reads the files finds out why.
    mutating func haveChanged() -> Bool {
        let now = state()
        defer { last = now }
        return now != last
    }

    /// Opens the directory.
    ///
    /// - Throws: `noSuchFile`, `ioFailure`, `storeUnsafe` when it is a link.
    func directory() throws(Trouble) -> Directory { try Directory.open(path) }

    /// The names of the files, sorted.
    func names(in directory: borrowing Directory) throws(Trouble) -> [String] {
        try directory.textNames().filter { name in
            endings.contains { name.utf8.reversed().starts(with: $0.utf8.reversed()) } && name.utf8.first != 0x2E
        }
    }

    private func state() -> State {
        do throws(Trouble) {
            let directory = try directory()
            let status = try directory.status()
            var state = State(identity: status.identity, owner: status.owner, permissions: status.permissions)
            for name in try names(in: directory) {
                guard let status = try directory.status(of: name) else { continue }
                state.files.append(Fingerprint(name: name, status: status))
            }
            return state
        } catch {
            return State()
        }
    }
}
