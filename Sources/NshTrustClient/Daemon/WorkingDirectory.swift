import Glibc
import NshTrust

/// The directory that relative paths begin in.
enum WorkingDirectory {
    /// Its path.
    ///
    /// - Throws: `noSuchFile` when it was removed, `ioFailure`.
    static func path() throws(Trouble) -> String {
        guard let text = getcwd(nil, 0) else {
            throw SystemCall.trouble(errno, "cannot tell the working directory")
        }
        defer { free(text) }
        return String(cString: text)
    }
}
