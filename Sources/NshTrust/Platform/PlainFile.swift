import CLinux
import Glibc

/// Opens files whose paths others choose: plain files of a disk, and nothing that acts when it is opened or read.
///
/// - Spec: STO-10
package enum PlainFile {
    /// Opens a regular file for reading.
    ///
    /// The path is looked at through a descriptor that opens nothing, so that neither a FIFO is waited for, nor a device
    /// set in motion, nor a database's lock dropped by closing a second descriptor of it; nor is a file of the kernel's
    /// own read, where reading may wait for ever or consume what others wait for.
    ///
    /// - Parameters:
    ///   - path: Any path; symbolic links are followed.
    ///   - name: What to call it in messages, escaped.
    ///   - noMagicLinks: For paths that others name: links that lead to a process's open files are refused, and of a file
    ///     of the kernel's own no more is said than of one that is not there.
    ///   - judge: Sees what was found before it is opened, and may refuse it.
    /// - Returns: The file, and what the system knew of it.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`, or what `judge` throws.
    package static func open(
        _ path: String, name: String, noMagicLinks: Bool = false,
        judge: (FileStatus) throws(Trouble) -> Void = { (_) throws(Trouble) in }
    ) throws(Trouble) -> PlainFile.Opened {
        guard !path.isEmpty else { throw Trouble(.noSuchFile, "\(name): an empty path names no file") }
        guard !path.utf8.contains(0) else { throw Trouble(.noSuchFile, "a path holds a NUL: \(name)") }
        let looked = OwnedDescriptor(
            owning: try SystemCall.check("cannot open \(name)") {
                noMagicLinks
                    ? nsh_open_no_magic_links(AT_FDCWD, path, nsh_o_path())
                    : nsh_openat(AT_FDCWD, path, nsh_o_path(), 0)
            })
        let status = try status(of: looked.raw, name, kernelsAs: noMagicLinks ? .noSuchFile : .notARegularFile)
        try judge(status)
        let result = nsh_openat(AT_FDCWD, "/proc/self/fd/\(looked.raw)", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
        // The file is there; what may be missing is /proc.
        guard result != -ENOENT else { throw Trouble(.ioFailure, "cannot read \(name): /proc is not mounted") }
        guard result >= 0 else { throw SystemCall.trouble(-result, "cannot read \(name)") }
        let opened = OwnedDescriptor(owning: result)
        guard try FileStatus.of(descriptor: opened.raw, name).identity == status.identity else {
            throw Trouble(.ioFailure, "cannot read \(name): /proc leads to another file")
        }
        return Opened(descriptor: opened, status: status)
    }

    /// What is known of an open file, which must be a regular file of a disk.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - name: What to call it in messages, escaped.
    ///   - code: What a file of the kernel's own is refused with.
    /// - Returns: What the system knows of it.
    /// - Throws: `notARegularFile`, the code, `ioFailure`.
    package static func status(
        of descriptor: Int32, _ name: String, kernelsAs code: TroubleCode = .notARegularFile
    ) throws(Trouble) -> FileStatus {
        let status = try FileStatus.of(descriptor: descriptor, name)
        guard status.kind == .regular else {
            let isDirectory = status.kind == .directory
            throw Trouble(.notARegularFile, "\(name) is \(isDirectory ? "a directory" : "not a regular file")")
        }
        let isKernels = try SystemCall.check("cannot look at the file system of \(name)") {
            nsh_is_kernel_file(descriptor)
        }
        guard isKernels == 0 else {
            throw Trouble(code, "\(name) is a file of the kernel’s own, not one that was stored")
        }
        return status
    }

    /// An open file, and what the system knew of it before.
    package struct Opened: ~Copyable {
        /// The open file.
        package let descriptor: OwnedDescriptor
        /// What the system knew of it.
        package let status: FileStatus

        /// Gives the descriptor away.
        package consuming func take() -> OwnedDescriptor { descriptor }
    }
}
