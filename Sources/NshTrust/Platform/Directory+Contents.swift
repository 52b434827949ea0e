import CLinux
import Glibc

/// What opening one tree and removing another needs beyond single names.
extension Directory {
    /// Opens a directory some levels below, through no link and never out of this one.
    ///
    /// - Parameter relativePath: Names with `/` between.
    /// - Returns: The directory, or nil when there is none.
    /// - Throws: `storeUnsafe` when a name on the way is something else; else what the system says.
    package func directory(beneath relativePath: String) throws(Trouble) -> Directory? {
        let result = nsh_open_beneath(raw, relativePath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        switch -result {
        case ENOENT: return nil
        case ENOTDIR, ELOOP, EXDEV: throw Trouble(.storeUnsafe, "\(shown(relativePath)) is not a directory")
        case 1...: throw SystemCall.trouble(-result, "cannot open directory \(shown(relativePath))")
        default: return Directory(owning: result, path: "\(path)/\(relativePath)")
        }
    }

    /// The names in the directory but `.` and `..`, as bytes with the zero at their end, in no order.
    ///
    /// - Throws: What the system says.
    package func names() throws(Trouble) -> [[CChar]] {
        let again = nsh_openat(raw, ".", O_RDONLY | O_DIRECTORY, 0)
        guard again >= 0 else { throw SystemCall.trouble(-again, "cannot list \(Printable.escaped(path))") }
        guard let stream = fdopendir(again) else {
            let number = errno
            close(again)
            throw SystemCall.trouble(number, "cannot list \(Printable.escaped(path))")
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                Array(bytes.bindMemory(to: CChar.self).prefix { $0 != 0 }) + [0]
            }
            if name != [0x2E, 0] && name != [0x2E, 0x2E, 0] { names.append(name) }
        }
        guard errno == 0 else { throw SystemCall.trouble(errno, "cannot list \(Printable.escaped(path))") }
        return names
    }

    /// The names in the directory that are UTF-8, sorted; others are not ours.
    package func textNames() throws(Trouble) -> [String] {
        try names().compactMap { name in
            String(validating: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }.sorted()
    }

    /// Removes a name and, when it is a directory, everything in it; links are removed, never followed.
    ///
    /// Works relative to open descriptors, level by level, so a directory that is swapped for a link while this runs
    /// leads nowhere. A name that is gone is no error: another process may be cleaning up too.
    ///
    /// - Throws: What the system says; `ioFailure` for a tree deeper than any of ours.
    package func removeTree(_ name: String) throws(Trouble) {
        try removeTree(name.utf8CString.map { $0 }, levels: Self.maximumLevels)
    }

    /// Removes a name that is no directory.
    ///
    /// - Throws: What the system says; a name that is gone is no error.
    package func removeFile(_ name: String) throws(Trouble) {
        if unlinkat(raw, name, 0) == 0 || errno == ENOENT { return }
        throw SystemCall.trouble(errno, "cannot remove \(shown(name))")
    }

    /// Sets the permission bits of a name, which must be no symbolic link: nobody else may write this directory.
    ///
    /// - Throws: What the system says.
    package func changePermissions(of name: String, to permissions: UInt32) throws(Trouble) {
        guard fchmodat(raw, name, permissions, 0) != 0 else { return }
        throw SystemCall.trouble(errno, "cannot set the permissions of \(shown(name))")
    }

    /// Gives a name to a group; its owner stays.
    ///
    /// - Throws: What the system says.
    package func changeGroup(of name: String, to group: UInt32) throws(Trouble) {
        guard fchownat(raw, name, .max, group, AT_SYMLINK_NOFOLLOW) != 0 else { return }
        throw SystemCall.trouble(errno, "cannot give \(shown(name)) to group \(group)")
    }

    /// Removes a directory that is empty.
    ///
    /// - Returns: False when it was not.
    /// - Throws: What the system says.
    package func removeEmptyDirectory(_ name: String) throws(Trouble) -> Bool {
        if unlinkat(raw, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return true }
        if errno == ENOTEMPTY || errno == EEXIST { return false }
        throw SystemCall.trouble(errno, "cannot remove \(shown(name))")
    }

    /// Levels of directories that are removed: a tree of ours has at most 32, its own included.
    private static var maximumLevels: Int { 64 }

    private func removeTree(_ name: [CChar], levels: Int) throws(Trouble) {
        if unlinkat(raw, name, 0) == 0 || errno == ENOENT { return }
        let text = Printable.escaped(bytes: name.dropLast().map { UInt8(bitPattern: $0) })
        guard errno == EISDIR || errno == EPERM else {
            throw SystemCall.trouble(errno, "cannot remove \(text) in \(path)")
        }
        // An empty one needs no descriptor, of which there may be none left.
        if unlinkat(raw, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
        guard levels > 0 else { throw Trouble(.ioFailure, "cannot remove \(text): it is deeper than any tree of ours") }
        let result = nsh_openat(raw, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if result == -ENOENT { return }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot remove \(text) in \(path)") }
        let inner = Directory(owning: result, path: "\(path)/\(text)")
        for child in try inner.names() { try inner.removeTree(child, levels: levels - 1) }
        guard unlinkat(raw, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw SystemCall.trouble(errno, "cannot remove \(text) in \(path)")
        }
    }
}
