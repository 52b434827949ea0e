import CLinux
import Glibc
import NshTrust

/// What lies at a path.
enum Lookup {
    /// What a path is.
    enum Kind { case missing, directory, other }

    /// Tells what a path is, links followed.
    ///
    /// - Throws: `Trouble` (`ioFailure`) when the system does not say.
    static func kind(_ path: String) throws(Trouble) -> Kind {
        var status = nsh_stat()
        let result = nsh_fstatat(AT_FDCWD, path, 1, &status)
        if result == -ENOENT || result == -ENOTDIR { return .missing }
        if result < 0 { throw SystemCall.trouble(-result, "cannot look at \(Terminal.safe(path))") }
        return status.mode & S_IFMT == S_IFDIR ? .directory : .other
    }

    /// Lists a directory's entries by their bytes, without the hidden ones.
    ///
    /// - Throws: `Trouble` when it cannot be read, or when a name is not UTF-8.
    static func names(in directory: String) throws(Trouble) -> [String] {
        let shown = Terminal.safe(directory)
        guard let stream = opendir(directory) else { throw SystemCall.trouble(errno, "cannot read directory \(shown)") }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemCall.trouble(errno, "cannot read directory \(shown)") }
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            guard let name else { throw Trouble(.ioFailure, "directory \(shown) has a name that is not UTF-8") }
            if name.utf8.first != 0x2E { names.append(name) }
        }
    }
}
