import CLinux
import Glibc
internal import NshTrust

/// Small files that are read whole.
package enum InputFile {
    /// What was read, and who may read it.
    package struct Content: Sendable {
        /// The bytes of the file.
        package let bytes: [UInt8]
        /// Whether group or others may read or write it.
        package let isOpenToOthers: Bool
        /// The permission bits.
        package let mode: UInt32
    }

    /// Reads a regular file whole.
    ///
    /// - Parameters:
    ///   - path: The file; symbolic links are followed.
    ///   - limit: The most bytes it may have.
    ///   - what: What the file is, for messages: `the certificate`.
    /// - Returns: The bytes, and who may use the file.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`; `limitExceeded` for a longer file.
    package static func read(_ path: String, limit: Int, what: String) throws -> Content {
        let name = "\(what) \(Printable.escaped(path))"
        let descriptor = try open(path, what: name)
        var status = nsh_stat()
        _ = try SystemCall.check("cannot examine \(name)") { nsh_fstat(descriptor.raw, &status) }
        guard status.mode & S_IFMT == S_IFREG else {
            throw Trouble(.notARegularFile, "\(name) is not a regular file")
        }
        guard status.size <= UInt64(limit) else {
            throw Refusal(.limitExceeded, "\(name) has \(status.size) bytes, the limit is \(limit)")
        }
        var bytes = [UInt8](repeating: 0, count: limit < Int.max ? min(Int(status.size) + 1, limit + 1) : 0)
        var filled = 0
        while filled < bytes.count {
            let count = try bytes.withUnsafeMutableBytes {
                try readSome(descriptor.raw, UnsafeMutableRawBufferPointer(rebasing: $0[filled...]), what: name)
            }
            if count == 0 { break }
            filled += count
            if filled == bytes.count, filled <= limit {
                bytes += [UInt8](repeating: 0, count: min(filled, limit + 1 - filled))
            }
        }
        guard filled <= limit else {
            throw Refusal(.limitExceeded, "\(name) has more than \(limit) bytes")
        }
        bytes.removeLast(bytes.count - filled)
        return Content(bytes: bytes, isOpenToOthers: status.mode & 0o077 != 0, mode: status.mode & 0o7777)
    }

    /// Opens a file for reading without waiting for the other end of a pipe.
    ///
    /// - Returns: The open file.
    /// - Throws: `noSuchFile` or `ioFailure`.
    static func open(_ path: String, what: String) throws -> OwnedDescriptor {
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw Trouble(.noSuchFile, "\(what): there is no such file")
        }
        return OwnedDescriptor(
            owning: try SystemCall.check("cannot open \(what)") {
                nsh_openat(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0)
            })
    }

    /// Reads what one call gives, and repeats the call when a signal interrupted it.
    ///
    /// - Returns: The number of bytes, 0 at the end.
    /// - Throws: `ioFailure`.
    static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, what: String) throws -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw SystemCall.trouble(errno, "cannot read \(what)") }
        }
    }
}

extension Passphrase {
    /// Reads a passphrase from a file, a pipe or a terminal that was made silent: its content without one line end.
    ///
    /// - Parameter path: The file, such as `/dev/fd/3`.
    /// - Throws: `noSuchFile` or `ioFailure` when it cannot be read, `badRequest` when it is empty or too long.
    public init(readingFile path: String) throws {
        self = try publicly { try Passphrase(fromFile: path) }
    }

    private init(fromFile path: String) throws {
        let name = "the passphrase file \(Printable.escaped(path))"
        let descriptor = OwnedDescriptor(
            owning: try SystemCall.check("cannot open \(name)") { nsh_openat(AT_FDCWD, path, O_RDONLY | O_NOCTTY, 0) })
        try self.init { buffer in
            var filled = 0
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = try InputFile.readSome(descriptor.raw, rest, what: name)
                if count == 0 { break }
                filled += count
            }
            return filled
        }
    }
}
