import CLinux
import Glibc
internal import NshTrust

/// Files that must not be there before.
enum NewFile {
    /// Creates a file where nothing stands, not even a dangling link.
    ///
    /// - Parameters:
    ///   - path: The place.
    ///   - mode: Its permissions, exactly, whatever the umask.
    /// - Returns: The open file.
    /// - Throws: `exists`, `noSuchFile` without the directory, `ioFailure`.
    static func create(_ path: String, mode: UInt32) throws -> OwnedDescriptor {
        let shown = Printable.escaped(path)
        let file = OwnedDescriptor(
            owning: try SystemCall.check("cannot create \(shown)") {
                nsh_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
            })
        guard fchmod(file.raw, mode) == 0 else {
            let number = errno
            remove(path)
            throw SystemCall.trouble(number, "cannot protect \(shown)")
        }
        return file
    }

    /// Tells whether something stands at a path.
    static func isTaken(_ path: String) -> Bool {
        var status = nsh_stat()
        return nsh_fstatat(AT_FDCWD, path, 0, &status) == 0
    }

    /// Removes a file that this program created.
    static func remove(_ path: String) { unlink(path) }

    /// Writes the bytes and waits until they are on the disk.
    ///
    /// - Throws: `ioFailure`.
    static func fill(_ file: borrowing OwnedDescriptor, with bytes: [UInt8], what: String) throws {
        let shown = Printable.escaped(what)
        try bytes.withUnsafeBytes { try OutputFile.write($0, to: file.raw, what: shown) }
        guard fsync(file.raw) == 0 else { throw SystemCall.trouble(errno, "cannot write \(shown)") }
    }

    /// Waits until the names in a file's directory are on the disk.
    ///
    /// - Throws: `ioFailure`.
    static func syncDirectory(of path: String) throws {
        let shown = Printable.escaped(path)
        let (parent, _) = try OutputFile.split(path)
        let directory = OwnedDescriptor(
            owning: try SystemCall.check("cannot open the directory of \(shown)") {
                nsh_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0)
            })
        guard fsync(directory.raw) == 0 else {
            throw SystemCall.trouble(errno, "cannot write the directory of \(shown)")
        }
    }
}
