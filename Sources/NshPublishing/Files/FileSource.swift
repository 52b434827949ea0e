import CLinux
import Glibc
internal import NshTrust

/// Hands out the bytes of files to be packed, as often as they are needed.
///
/// Any number of threads may read at once, each through a buffer of its own.
protocol FileSource: AnyObject, Sendable {
    /// Reads a file from its beginning.
    ///
    /// - Parameters:
    ///   - file: One of the source's own.
    ///   - room: Where the next piece goes; each piece but the last fills it.
    ///   - body: Takes the pieces.
    /// - Throws: `ioFailure` when the file has other than `file.size` bytes by now, has changed otherwise since it was
    ///   found, or cannot be read; what `room` and `body` throw.
    func read(
        _ file: SourceFile, into room: () throws -> UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// What goes for files of every source.
enum SourceReading {
    /// Makes the trouble of a file that is not what it was.
    static func changed(_ file: SourceFile) -> Trouble {
        Trouble(.ioFailure, "\(file.shown) changed while it was being packed; publish again when nothing writes there")
    }

    /// Makes the trouble of a file that had other bytes when it was packed, as the verification found.
    static func changed(_ refusal: Refusal) -> Trouble {
        Trouble(
            .ioFailure,
            "\(refusal.message); a file changed while it was being packed; publish again when nothing writes there")
    }

    /// Reads `file.size` bytes.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - room: Where the next piece goes.
    ///   - fill: Fills a buffer from an offset in the file; gives less only at the end of it.
    ///   - body: Takes the pieces.
    /// - Throws: `ioFailure` when the file is shorter by now; what `room`, `fill` and `body` throw.
    static func pieces(
        of file: SourceFile, into room: () throws -> UnsafeMutableRawBufferPointer,
        fill: (UnsafeMutableRawBufferPointer, Int64) throws -> Int,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var at: Int64 = 0
        while at < file.size {
            let buffer = try room()
            let wanted = Int(min(Int64(buffer.count), file.size - at))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard try fill(piece, at) == wanted else { throw changed(file) }
            try body(UnsafeRawBufferPointer(piece))
            at += Int64(wanted)
        }
    }

    /// Reads a file that is held in memory.
    ///
    /// - Throws: What `room` and `body` throw.
    static func pieces(
        of file: SourceFile, _ bytes: [UInt8], into room: () throws -> UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            try pieces(
                of: file, into: room,
                fill: { piece, at in
                    let rest = bytes[Int(at)...].prefix(piece.count)
                    piece.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
                    return rest.count
                }, body)
        }
    }
}

/// A part of an open file, which may be larger or smaller by now.
struct FileSlice {
    /// The open file; its owner keeps it open.
    let descriptor: Int32
    /// Where the part starts.
    let start: Int64
    /// The bytes of the part.
    let count: Int64
    /// What to call the file in messages.
    let name: String

    /// Room for reading: large enough for few calls, small enough to be nothing.
    private static let pieceCount = 1 << 20

    /// Reads all of it, in pieces of so many bytes and what is left over.
    ///
    /// - Throws: `ioFailure`, also when the file is shorter by now; what `body` throws.
    func readAll(
        piecesOf pieceCount: Int = Self.pieceCount, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var input = FileInput(descriptor: descriptor, name: name, offset: start)
        var memory = [UInt8](repeating: 0, count: Int(max(0, min(Int64(pieceCount), count))))
        try memory.withUnsafeMutableBytes { buffer in
            var left = count
            while left > 0 {
                let wanted = Int(min(left, Int64(buffer.count)))
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
                guard try input.fill(piece) == wanted else {
                    throw Trouble(.ioFailure, "\(name) became shorter while it was being read")
                }
                try body(UnsafeRawBufferPointer(piece))
                left -= Int64(wanted)
            }
        }
    }
}

/// A file without a name that holds bytes until they are put together; it is gone when the process is.
final class SpoolFile: FileSource, @unchecked Sendable {
    // Sendable because one thread at a time appends, and what reads comes after it has ended.
    private let descriptor: OwnedDescriptor
    private let what: String
    /// The bytes in it.
    private(set) var count: Int64 = 0

    /// Creates a spool on the file system of a place.
    ///
    /// - Parameter path: A file beside which there is room.
    /// - Throws: `ioFailure`, `noSuchFile` without the directory.
    init(beside path: String) throws {
        let (directory, _) = try OutputFile.split(path)
        what = "a temporary file beside \(Printable.escaped(path))"
        let unnamed = nsh_openat(AT_FDCWD, directory, O_RDWR | nsh_o_tmpfile(), 0o600)
        if unnamed >= 0 {
            descriptor = OwnedDescriptor(owning: unnamed)
            return
        }
        // Not every file system makes files without a name.
        let name = "\(directory)/.nsh-\(Hex.encode(try Sodium.randomBytes(8))).tmp"
        descriptor = OwnedDescriptor(
            owning: try SystemCall.check("cannot create a file beside \(Printable.escaped(path))") {
                nsh_openat(AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
            })
        unlink(name)
    }

    /// Adds bytes.
    ///
    /// - Throws: `ioFailure`.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try OutputFile.write(bytes, to: descriptor.raw, what: what)
        count += Int64(bytes.count)
    }

    /// Where a payload goes that this spool is to hold, from its first byte on.
    var place: PayloadPlace { PayloadPlace(descriptor: descriptor.raw, start: 0, what: what) }

    func read(
        _ file: SourceFile, into room: () throws -> UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        switch file.content {
        case .bytes(let bytes): try SourceReading.pieces(of: file, bytes, into: room, body)
        case .tree: throw Trouble(.ioFailure, "\(file.shown) is not in the archive")
        case .spool(let start):
            try SourceReading.pieces(
                of: file, into: room,
                fill: { piece, at in try descriptor.read(into: piece, at: start + at, what) }, body)
        }
    }
}
