import CLinux
import Glibc

/// A caller's file, opened once and found to be a regular file that is not the store's own: what is verified is what
/// was opened, whatever happens to the path afterwards.
///
/// - Spec: STO-10
package final class PackageFile: Sendable {
    /// The open file.
    package let descriptor: OwnedDescriptor
    /// Bytes of the file when it was opened.
    package let length: Int64
    /// What to call it in messages, escaped.
    package let name: String

    private init(_ descriptor: consuming OwnedDescriptor, length: UInt64, name: String) {
        self.descriptor = descriptor
        self.length = Int64(clamping: length)
        self.name = name
    }

    /// Opens a path.
    ///
    /// The path is looked at through a descriptor that opens nothing, so that neither a FIFO is waited for, nor a device
    /// set in motion, nor a database's lock dropped by closing a second descriptor of it.
    ///
    /// - Parameters:
    ///   - path: Any path; symbolic links are followed.
    ///   - forbidden: Files that are never opened here: the store's database and journal.
    ///   - noMagicLinks: For paths that others name: links that lead to a process's open files are refused, and of a
    ///     forbidden file no more is said than of one that is not there.
    /// - Returns: The file, to be read from its start.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`.
    package static func open(
        _ path: String, forbidden: Set<FileIdentity> = [], noMagicLinks: Bool = false
    ) throws(Trouble) -> PackageFile {
        let name = Printable.escaped(path, limit: 1000)
        guard !path.utf8.contains(0) else { throw Trouble(.noSuchFile, "a path holds a NUL: \(name)") }
        let looked = OwnedDescriptor(
            owning: try SystemCall.check("cannot open \(name)") {
                noMagicLinks
                    ? nsh_open_no_magic_links(AT_FDCWD, path, nsh_o_path())
                    : nsh_openat(AT_FDCWD, path, nsh_o_path(), 0)
            })
        let status = try judge(looked.raw, name, forbidden, orThrow: noMagicLinks ? .noSuchFile : .notARegularFile)
        let result = nsh_openat(AT_FDCWD, "/proc/self/fd/\(looked.raw)", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
        // The file is there; what may be missing is /proc.
        guard result != -ENOENT else { throw Trouble(.ioFailure, "cannot read \(name): /proc is not mounted") }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot read \(name)") }
        let opened = OwnedDescriptor(owning: result)
        guard try FileStatus.of(descriptor: opened.raw, name).identity == status.identity else {
            throw Trouble(.ioFailure, "cannot read \(name): /proc leads to another file")
        }
        return PackageFile(opened, length: status.size, name: name)
    }

    /// Takes a caller's descriptor, which stays the caller's.
    ///
    /// - Parameters:
    ///   - descriptor: An open file.
    ///   - forbidden: Files that are never touched here: the store's database and journal.
    /// - Returns: The file, through a descriptor of its own.
    /// - Throws: `notARegularFile`, `ioFailure`.
    package static func duplicate(
        _ descriptor: Int32, forbidden: Set<FileIdentity> = []
    ) throws(Trouble) -> PackageFile {
        let name = "descriptor \(descriptor)"
        let status = try judge(descriptor, name, forbidden, orThrow: .notARegularFile)
        let own = OwnedDescriptor(
            owning: try SystemCall.check("cannot use \(name)") { nsh_duplicate(descriptor) })
        return PackageFile(own, length: status.size, name: name)
    }

    private static func judge(
        _ descriptor: Int32, _ name: String, _ forbidden: Set<FileIdentity>, orThrow code: TroubleCode
    ) throws(Trouble) -> FileStatus {
        let status = try FileStatus.of(descriptor: descriptor, name)
        guard status.kind == .regular else { throw Trouble(.notARegularFile, "\(name) is not a regular file") }
        guard !forbidden.contains(status.identity) else {
            throw Trouble(code, "\(name) is the trust store’s own database, not a package")
        }
        return status
    }
}
