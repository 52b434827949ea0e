import CLinux
import Glibc
internal import NshTrust

/// A file that comes into being whole or not at all: written beside its place, then renamed.
///
/// When it goes without having been kept, what was written is removed and an older file stays as it was. A process that
/// is killed leaves what it wrote beside the place, as `.nsh-<16 hex>.tmp`.
package struct OutputFile: ~Copyable {
    /// The place, as the caller named it.
    package let path: String
    private let descriptor: OwnedDescriptor
    private let directory: OwnedDescriptor
    private let name: String
    private let temporaryName: String

    /// Creates the file beside its place.
    ///
    /// - Parameters:
    ///   - path: The place; a regular file there is replaced when this one is kept.
    ///   - mode: Its permissions, before the umask.
    ///   - isExact: Whether they hold whatever the umask.
    /// - Throws: `notARegularFile` when a directory, a device or the like stands there, `noSuchFile` without the
    ///   directory, `storeFull` when there is no room, `ioFailure`.
    package init(at path: String, mode: UInt32 = 0o644, isExact: Bool = false) throws {
        let (parent, name) = try Self.split(path)
        let shown = Printable.escaped(path)
        let directory = OwnedDescriptor(
            owning: try SystemCall.check("cannot open the directory of \(shown)") {
                nsh_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0)
            })
        var status = nsh_stat()
        // A link is not followed: replacing /dev/stdout, which is one, would break the machine.
        let found = nsh_fstatat(directory.raw, name, 0, &status)
        guard found == -ENOENT || (found == 0 && status.mode & S_IFMT == S_IFREG) else {
            if found < 0 { throw SystemCall.trouble(-found, "cannot examine \(shown)") }
            throw Trouble(.notARegularFile, "\(shown) is there and not a regular file; it is not replaced")
        }
        let temporaryName = ".nsh-\(Hex.encode(try Sodium.randomBytes(8))).tmp"
        let directoryNumber = directory.raw
        let created = nsh_openat(directoryNumber, temporaryName, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
        guard created >= 0 else { throw Directory.failed(-created, "cannot create a file beside \(shown)") }
        let descriptor = OwnedDescriptor(owning: created)
        guard !isExact || fchmod(descriptor.raw, mode) == 0 else {
            let number = errno
            unlinkat(directory.raw, temporaryName, 0)
            throw Directory.failed(number, "cannot protect \(shown)")
        }
        self.descriptor = descriptor
        self.directory = directory
        self.path = path
        self.name = name
        self.temporaryName = temporaryName
    }

    deinit { unlinkat(directory.raw, temporaryName, 0) }

    /// The open file, valid for as long as this value lives.
    package var raw: Int32 { descriptor.raw }

    /// Adds bytes at the end of what was written.
    ///
    /// - Throws: `storeFull` when there is no room, `ioFailure`.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws {
        try OutputFile.write(bytes, to: descriptor.raw, what: Printable.escaped(path))
    }

    /// Adds bytes at the end of what was written.
    ///
    /// - Throws: `storeFull` when there is no room, `ioFailure`.
    package borrowing func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write($0) } }

    /// Puts the file in its place, for good: it survives the loss of power.
    ///
    /// - Throws: `storeFull`, `ioFailure`; then nothing has changed, or the message says that the file is in its place and
    ///   may not stay there.
    package consuming func keep() throws {
        try sync()
        guard renameat(directory.raw, temporaryName, directory.raw, name) == 0 else {
            throw Directory.failed(errno, "cannot put \(Printable.escaped(path)) in its place")
        }
        try syncDirectory()
    }

    /// Puts the file in its place when nothing is there; `syncDirectory` makes that survive the loss of power.
    ///
    /// - Throws: `exists`, `storeFull`, `ioFailure`; then nothing has changed.
    borrowing func place() throws {
        try sync()
        var result = nsh_rename_no_replace(directory.raw, temporaryName, directory.raw, name)
        // Some file systems of networks cannot; the second name is as safe, and the first goes with this value.
        if result == -EINVAL {
            result = linkat(directory.raw, temporaryName, directory.raw, name, 0) == 0 ? 0 : -errno
        }
        guard result >= 0 else {
            throw Directory.failed(-result, "cannot put \(Printable.escaped(path)) in its place")
        }
    }

    /// Removes the file from the place that `place` has put it in.
    borrowing func takeAway() { unlinkat(directory.raw, name, 0) }

    /// Waits until the file's name is on the disk.
    ///
    /// - Throws: `ioFailure`.
    borrowing func syncDirectory() throws {
        let state = "is complete and in its place, but may not outlast a loss of power"
        try syncDirectory(orSay: "\(Printable.escaped(path)) \(state): its directory was not synced")
    }

    /// Waits until the names in the file's directory are on the disk.
    ///
    /// - Parameter message: What to say before the reason when that fails.
    /// - Throws: `ioFailure`.
    borrowing func syncDirectory(orSay message: String) throws {
        let result = nsh_fsync(directory.raw)
        guard result >= 0 else { throw SystemCall.trouble(-result, message) }
    }

    private borrowing func sync() throws {
        let result = nsh_fsync(descriptor.raw)
        guard result >= 0 else {
            throw Directory.failed(-result, "cannot write \(Printable.escaped(path))")
        }
    }

    /// Writes a small file whole.
    ///
    /// - Throws: What `init(at:mode:)`, `write(_:)` and `keep()` throw.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try OutputFile(at: path)
        try file.write(bytes)
        try file.keep()
    }

    /// Writes all the bytes to a descriptor: at its own position, which goes on, or at an offset.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64? = nil, what: @autoclosure () -> String
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count =
                if let offset {
                    pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(bytes.count - rest.count))
                } else {
                    Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            if count < 0 {
                if errno == EINTR { continue }
                throw Directory.failed(errno, "cannot write \(what())")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Tells whether something stands at a path, a dangling link included.
    static func isTaken(_ path: String) -> Bool {
        var status = nsh_stat()
        return nsh_fstatat(AT_FDCWD, path, 0, &status) == 0
    }

    /// Parts a path into its directory and its last name.
    ///
    /// - Returns: Both, fit for `openat`.
    /// - Throws: `notARegularFile` for a path that names no file.
    static func split(_ path: String) throws(Trouble) -> (directory: String, name: String) {
        let bytes = Array(path.utf8)
        let slash = bytes.lastIndex(of: 0x2F)
        let name = String(decoding: bytes[(slash.map { $0 + 1 } ?? 0)...], as: UTF8.self)
        guard !name.isEmpty, name != ".", name != "..", !bytes.contains(0) else {
            throw Trouble(.notARegularFile, "“\(Printable.escaped(path))” does not name a file")
        }
        guard let slash else { return (".", name) }
        return (slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self), name)
    }
}
