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
        let file = try PlainFile.open(path, name: name, noMagicLinks: noMagicLinks) { (status) throws(Trouble) in
            try refuse(forbidden, status, name, as: noMagicLinks ? .noSuchFile : .notARegularFile)
        }
        let length = file.status.size
        return PackageFile(file.take(), length: length, name: name)
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
        let status = try PlainFile.status(of: descriptor, name)
        try refuse(forbidden, status, name, as: .notARegularFile)
        let own = OwnedDescriptor(
            owning: try SystemCall.check("cannot use \(name)") { nsh_duplicate(descriptor) })
        return PackageFile(own, length: status.size, name: name)
    }

    private static func refuse(
        _ forbidden: Set<FileIdentity>, _ status: FileStatus, _ name: String, as code: TroubleCode
    ) throws(Trouble) {
        guard !forbidden.contains(status.identity) else {
            throw Trouble(code, "\(name) is the trust store’s own database, not a package")
        }
    }
}
