import CLinux
import Glibc
internal import NshTrust

/// What a path given to `publish` is.
enum SourceKind {
    /// Tells whether the path is a directory or a link to one.
    static func isDirectory(_ path: String) -> Bool {
        var status = nsh_stat()
        return nsh_fstatat(AT_FDCWD, path, 1, &status) == 0 && status.mode & S_IFMT == S_IFDIR
    }

    /// Refuses a path that is no regular file.
    ///
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`.
    static func checkReadable(_ path: String) throws {
        _ = try PlainFile.open(path, name: Printable.escaped(path))
    }

    /// Refuses an output inside the directory that is published, in which nothing is ever written.
    ///
    /// - Throws: `badRequest`, `noSuchFile` when there is no directory for the output.
    static func checkOutside(_ output: String, of tree: TreeSource) throws {
        let (directory, _) = try OutputFile.split(output)
        guard let resolved = TreeSource.resolve(directory) else {
            throw SystemCall.trouble(errno, "cannot open the directory of \(Printable.escaped(output))")
        }
        guard !tree.contains(resolved) else {
            throw Trouble(
                .badRequest,
                "\(Printable.escaped(output)) lies in the directory that is published, in which nothing is written; "
                    + "choose another place")
        }
    }
}
