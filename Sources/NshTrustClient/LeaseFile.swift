import Glibc
package import NshTrust

/// A hold on an installed tree: no clean-up removes it for as long as the value lives.
package final class LeaseFile: Sendable {
    private let file: OwnedDescriptor

    private init(_ file: consuming OwnedDescriptor) { self.file = file }

    /// How long a lock that is held exclusively is waited for, in seconds: who removes a tree renames it at once.
    private static let patienceSeconds = 5.0

    /// Takes the hold.
    ///
    /// - Parameter path: The lease file that the daemon names.
    /// - Returns: The hold.
    /// - Throws: `notInstalled` when it is not there (any more), `storeBusy` when somebody keeps it locked, `ioFailure`.
    package static func take(_ path: String) throws(Trouble) -> LeaseFile {
        let name = Printable.escaped(path, limit: 1000)
        var backoff = Backoff(seconds: patienceSeconds)
        while true {
            let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            if raw < 0, errno == EINTR { continue }
            guard raw >= 0 else {
                let trouble = SystemCall.trouble(errno, "cannot hold \(name)")
                throw trouble.code == .noSuchFile ? Trouble(.notInstalled, trouble.message) : trouble
            }
            let file = OwnedDescriptor(owning: raw)
            if try FileLock.take(file.raw, .shared, name) {
                let locked = try FileStatus.of(descriptor: file.raw, name)
                guard locked.kind == .regular else { throw Trouble(.ioFailure, "\(name) is not a plain file") }
                // While the lock was waited for, the tree may have been removed and another installed.
                var now = stat()
                if lstat(path, &now) == 0,
                    locked.identity == FileIdentity(device: UInt64(now.st_dev), inode: UInt64(now.st_ino))
                {
                    return LeaseFile(file)
                }
            }
            guard backoff.pause() else { throw Trouble(.storeBusy, "another process keeps \(name) locked") }
        }
    }
}
