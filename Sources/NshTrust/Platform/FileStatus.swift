import CLinux
import Glibc

/// Which file: two names with equal identities are one file.
package struct FileIdentity: Hashable, Sendable {
    /// The file system's device number.
    package let device: UInt64
    /// The file's number there.
    package let inode: UInt64

    /// Makes an identity.
    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What the system knows of a file.
package struct FileStatus: Hashable, Sendable {
    /// What a file is.
    package enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, socket, other
    }

    /// Which file.
    package let identity: FileIdentity
    /// What it is.
    package let kind: Kind
    /// Permission bits, set-id and sticky bits included.
    package let permissions: UInt32
    /// The user it belongs to.
    package let owner: UInt32
    /// Names it has.
    package let links: UInt32
    /// Bytes.
    package let size: UInt64
    /// When its content, owner, permissions or names last changed, in nanoseconds since 1970 UTC.
    package let changedAt: Int64

    init(_ status: nsh_stat) {
        identity = FileIdentity(device: status.device, inode: status.inode)
        kind =
            switch status.mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFSOCK: .socket
            default: .other
            }
        permissions = status.mode & 0o7777
        owner = status.owner
        links = status.links
        size = status.size
        changedAt = status.changed_nanoseconds
    }

    /// The status of an open file, which `what` names for messages.
    package static func of(descriptor: Int32, _ what: @autoclosure () -> String) throws(Trouble) -> FileStatus {
        var status = nsh_stat()
        _ = try SystemCall.check("cannot look at \(what())") { nsh_fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Why others than this process's user and root could change the file; nil when they cannot.
    ///
    /// - Spec: STO-6
    package var exposure: String? {
        let user = geteuid()
        if owner != user && owner != 0 { return "it belongs to user \(owner), not to user \(user)" }
        guard permissions & 0o022 == 0 else {
            return "others than its owner may write it (mode \(String(permissions, radix: 8)))"
        }
        return nil
    }
}
