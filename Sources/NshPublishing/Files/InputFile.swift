import CLinux
import Glibc
internal import NshTrust

/// Small files that are read whole.
package enum InputFile {
    /// Reads a regular file whole.
    ///
    /// - Parameters:
    ///   - path: The file; symbolic links are followed.
    ///   - limit: The most bytes it may have.
    ///   - what: What the file is, for messages: `the certificate`.
    /// - Returns: The bytes.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`; `limitExceeded` for a longer file.
    package static func read(_ path: String, limit: Int, what: String) throws -> [UInt8] {
        let name = "\(what) \(Printable.escaped(path))"
        let file = try PlainFile.open(path, name: name)
        let status = file.status
        let descriptor = file.take()
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
        return bytes
    }

    /// A file that was read into locked memory.
    struct LockedContent: ~Copyable {
        /// Where the bytes of the file are, from the start.
        let memory: SecretMemory
        /// How many there are.
        let count: Int
        /// The permission bits.
        let mode: UInt32
    }

    /// Reads a regular file whole into locked memory, without another copy.
    ///
    /// - Parameters:
    ///   - path: The file; symbolic links are followed.
    ///   - limit: The most bytes it may have.
    ///   - name: What to call it in messages, escaped.
    /// - Returns: The bytes, and who may use the file.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`; `limitExceeded` for a longer file.
    static func readLocked(_ path: String, limit: Int, name: String) throws -> LockedContent {
        let file = try PlainFile.open(path, name: name)
        let mode = file.status.permissions
        let descriptor = file.take()
        var filled = 0
        let memory = try SecretMemory(count: limit + 1) { filled = try descriptor.read(into: $0, at: 0, name) }
        guard filled <= limit else { throw Refusal(.limitExceeded, "\(name) has more than \(limit) bytes") }
        return LockedContent(memory: memory, count: filled, mode: mode)
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
