import CLinux
import Glibc

/// A directory held open; what lies in it is reached through the descriptor, one name at a time, and no symbolic link is
/// ever followed below it.
package struct Directory: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    /// The path by which it was reached, for messages and for SQLite; it decides nothing.
    package let path: String

    /// The descriptor's number, valid for as long as this value lives.
    package var raw: Int32 { descriptor.raw }

    init(owning raw: Int32, path: String) {
        descriptor = OwnedDescriptor(owning: raw)
        self.path = path
    }

    /// Opens a directory by a path of the caller's; links above it are followed, it must not be one itself.
    ///
    /// - Throws: `storeUnsafe` when it is a link, `ioFailure` and `noSuchFile` for what the system says.
    package static func open(_ path: String) throws(Trouble) -> Directory {
        let name = trimmed(path)
        let result = nsh_openat(AT_FDCWD, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if result == -ENOTDIR || result == -ELOOP {
            throw Trouble(.storeUnsafe, "\(Printable.escaped(name)) is not a directory, or is a symbolic link to one")
        }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot open directory \(Printable.escaped(name))") }
        return Directory(owning: result, path: name)
    }

    /// Opens a directory in this one.
    ///
    /// - Throws: `storeUnsafe` when the name is something else, a link included; else what the system says.
    package func openDirectory(_ name: String) throws(Trouble) -> Directory {
        let result = nsh_openat(raw, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if result == -ENOTDIR || result == -ELOOP { throw Trouble(.storeUnsafe, "\(shown(name)) is not a directory") }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot open directory \(shown(name))") }
        return Directory(owning: result, path: "\(path)/\(name)")
    }

    /// Makes a directory with exactly these permissions, whatever the process's mask.
    ///
    /// - Throws: `exists` when the name is taken; else what the system says.
    package func makeDirectory(_ name: String, permissions: UInt32) throws(Trouble) -> Directory {
        guard mkdirat(raw, name, 0o700) == 0 else { throw Self.failed(errno, "cannot make directory \(shown(name))") }
        let made = try openDirectory(name)
        guard fchmod(made.raw, permissions) == 0 else {
            throw Self.failed(errno, "cannot set the mode of \(shown(name))")
        }
        return made
    }

    /// Opens a directory in this one, and makes it when it is missing; another process may make it at the same time.
    ///
    /// - Throws: `storeUnsafe` when the name is something else, a link included; else what the system says.
    package func openOrMakeDirectory(_ name: String, permissions: UInt32) throws(Trouble) -> Directory {
        while true {
            do {
                return try openDirectory(name)
            } catch {
                guard error.code == .noSuchFile else { throw error }
            }
            do {
                return try makeDirectory(name, permissions: permissions)
            } catch {
                guard error.code == .exists else { throw error }
            }
        }
    }

    /// Makes a directory with these permissions, and those above it that are missing; one that exists stays as it is.
    ///
    /// - Throws: What the system says.
    package static func make(_ path: String, permissions: UInt32) throws(Trouble) {
        let name = trimmed(path)
        let slash = name.utf8.lastIndex(of: 0x2F)
        let above = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
        var result = mkdir(name, permissions)
        if result != 0, errno == ENOENT, above != "/", above != "." {
            try make(above, permissions: 0o755)
            result = mkdir(name, permissions)
        }
        if result != 0 {
            if errno == EEXIST { return }
            throw failed(errno, "cannot make directory \(Printable.escaped(name))")
        }
        // The process's mask may have taken bits away; and what is in the directory must not be lost with its name.
        guard chmod(name, permissions) == 0 else {
            throw failed(errno, "cannot set the mode of \(Printable.escaped(name))")
        }
        try open(above + "/.").sync()
    }

    private static func trimmed(_ path: String) -> String {
        var trimmed = path[...]
        while trimmed.utf8.count > 1, trimmed.utf8.last == 0x2F { trimmed.removeLast() }
        return String(trimmed)
    }

    /// The directory's absolute path without links, as the system knows it now.
    ///
    /// - Throws: `ioFailure` when it cannot be told, or is not UTF-8.
    package func resolvedPath() throws(Trouble) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/fd/\(raw)", &buffer, buffer.count - 1)
        guard count > 0 else { throw SystemCall.trouble(errno, "cannot resolve \(Printable.escaped(path))") }
        guard let text = String(validating: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
            throw Trouble(.ioFailure, "the path of \(Printable.escaped(path)) is not UTF-8")
        }
        return text
    }

    /// Makes an empty file with exactly these permissions, whatever the process's mask.
    ///
    /// - Throws: `exists` when the name is taken; else what the system says.
    package func makeEmptyFile(_ name: String, permissions: UInt32) throws(Trouble) {
        let result = nsh_openat(raw, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions)
        guard result >= 0 else { throw Self.failed(-result, "cannot make \(shown(name))") }
        let file = OwnedDescriptor(owning: result)
        guard fchmod(file.raw, permissions) == 0 else {
            throw Self.failed(errno, "cannot set the mode of \(shown(name))")
        }
    }

    /// Opens a regular file in this directory for reading; it is neither followed when a link nor waited for when a pipe.
    ///
    /// - Throws: `notARegularFile` when it is something else; else what the system says.
    package func openFile(_ name: String) throws(Trouble) -> OwnedDescriptor {
        let result = nsh_openat(raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
        if result == -ELOOP { throw Trouble(.notARegularFile, "\(shown(name)) is a symbolic link") }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot open \(shown(name))") }
        let file = OwnedDescriptor(owning: result)
        guard try FileStatus.of(descriptor: file.raw, shown(name)).kind == .regular else {
            throw Trouble(.notARegularFile, "\(shown(name)) is not a regular file")
        }
        return file
    }

    /// The status of this directory.
    package func status() throws(Trouble) -> FileStatus {
        try FileStatus.of(descriptor: raw, Printable.escaped(path))
    }

    /// The status of a name, itself when it is a link; nil when there is none.
    package func status(of name: String) throws(Trouble) -> FileStatus? {
        var status = nsh_stat()
        let result = nsh_fstatat(raw, name, 0, &status)
        if result == -ENOENT { return nil }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot look at \(shown(name))") }
        return FileStatus(status)
    }

    /// Gives a name another one, in the same or another directory of the file system.
    ///
    /// - Returns: False when the new name is taken; nothing has changed then.
    package func rename(_ name: String, to other: borrowing Directory, as newName: String) throws(Trouble) -> Bool {
        let result = nsh_rename_no_replace(raw, name, other.raw, newName)
        if result == -EEXIST || result == -ENOTEMPTY { return false }
        guard result >= 0 else {
            throw Self.failed(-result, "cannot rename \(shown(name)) to \(other.shown(newName))")
        }
        return true
    }

    /// Waits until the names in this directory are on the disk.
    package func sync() throws(Trouble) {
        let result = nsh_fsync(raw)
        guard result >= 0 else { throw Self.failed(-result, "cannot sync directory \(Printable.escaped(path))") }
    }

    /// Waits until everything on the file system that holds this directory is on the disk.
    package func syncFileSystem() throws(Trouble) {
        let result = nsh_syncfs(raw)
        guard result >= 0 else {
            throw Self.failed(-result, "cannot sync the file system of \(Printable.escaped(path))")
        }
    }

    /// A name in this directory for people.
    package func shown(_ name: String) -> String { Printable.escaped("\(path)/\(name)") }

    /// Makes the trouble of a call that needs room on the disk: a full one is `storeFull`.
    package static func failed(_ number: Int32, _ what: String) -> Trouble {
        let trouble = SystemCall.trouble(number, what)
        let isFull = number == ENOSPC || number == EDQUOT
        return isFull ? Trouble(.storeFull, trouble.message) : trouble
    }
}
