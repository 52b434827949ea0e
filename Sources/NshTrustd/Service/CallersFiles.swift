import NshTrust

/// Opens the files that clients name by path, with the rights of each client and never with the daemon's own.
///
/// - Spec: API-5, STO-10, STO-16
struct CallersFiles: Sendable {
    private let ownUser: UInt32
    private let maximumBytes: Int64
    private let takesOnRights: @Sendable () -> Bool

    /// Prepares to open files.
    ///
    /// - Parameters:
    ///   - ownUser: The daemon's user, whose files it may open when it cannot take on others' rights.
    ///   - maximumBytes: Bytes that a package may have.
    ///   - takesOnRights: Whether the daemon can take on others' rights now.
    init(
        ownUser: UInt32, maximumBytes: Int64,
        takesOnRights: @escaping @Sendable () -> Bool = { FileSystemRights.canBeAssumed }
    ) {
        self.ownUser = ownUser
        self.maximumBytes = maximumBytes
        self.takesOnRights = takesOnRights
    }

    /// Opens a package for a client.
    ///
    /// What cannot be opened gives one answer, whatever the reason: nobody learns of files that they may not read.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - peer: The client.
    ///   - state: The state directory, whose database is never opened.
    /// - Returns: The file.
    /// - Throws: `noSuchFile`, also where paths of this client are not taken; `notARegularFile` of what the client can
    ///   reach; `tooLarge`; `ioFailure` when the client's rights cannot be taken on.
    func open(_ path: String, for peer: Peer, state: StateDirectory) throws -> PackageFile {
        let file: PackageFile
        if takesOnRights() {
            let rights = FileSystemRights(uid: peer.uid, gid: peer.gid, groups: peer.groups)
            let forbidden = try state.databaseFiles()
            // What the body throws must not be taken for the failure of becoming the client.
            let result = try rights.perform { Self.open(path, forbidden) }
            file = try result.get()
        } else if peer.uid == ownUser {
            file = try Self.open(path, try state.databaseFiles()).get()
        } else {
            // The same for every path of every such client, and what makes a client send the bytes.
            throw Trouble(.noSuchFile, "this daemon opens paths for its own user only; send the bytes instead")
        }
        guard file.length <= maximumBytes else {
            throw Problem(.tooLarge, "\(file.name) has \(file.length) bytes, \(maximumBytes) are allowed")
        }
        return file
    }

    private static func open(_ path: String, _ forbidden: Set<FileIdentity>) -> Result<PackageFile, Trouble> {
        do throws(Trouble) {
            return .success(try PackageFile.open(path, forbidden: forbidden, noMagicLinks: true))
        } catch {
            guard error.code != .notARegularFile else { return .failure(error) }
            return .failure(Trouble(.noSuchFile, "there is no such file, or you may not read it"))
        }
    }
}
