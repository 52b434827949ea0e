/// The bytes of a package, front to back, each handed out once: what is checked is what is used.
package protocol PackageInput: SendableMetatype {
    /// Reads the next bytes.
    ///
    /// - Parameter buffer: Where they go; never empty.
    /// - Returns: How many bytes were read, 1 … `buffer.count`, or 0 at the end.
    /// - Throws: `Trouble` (`ioFailure`) when they cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int

    /// Whether a thread of its own may read a few chunks ahead: only where a read never waits for a peer.
    var allowsReadingAhead: Bool { get }
}

extension PackageInput {
    /// By default the bytes are read when they are needed.
    package var allowsReadingAhead: Bool { false }

    /// Reads until the buffer is full or the input ends, and returns how many bytes were read.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Reads to the end and drops what it reads.
    ///
    /// - Parameter monitor: Stops it.
    /// - Returns: How many bytes that were.
    /// - Throws: What reading throws, and `cancelled`.
    /// - Spec: STO-14
    package mutating func drain(_ monitor: Monitor) throws -> Int64 {
        var drained: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try read(into: buffer), count > 0 {
            drained += Int64(count)
            try monitor.check()
        }
        return drained
    }

    /// Reads at most `count` bytes; fewer only at the end.
    package mutating func bytes(upTo count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try bytes.withUnsafeMutableBytes { try fill($0) }
        bytes.removeLast(count - filled)
        return bytes
    }
}

/// Lets a long verification be watched and stopped.
///
/// - Spec: STO-14
package struct Monitor: Sendable {
    /// Whether the caller has given up; asked at least once a chunk.
    package let isCancelled: @Sendable () -> Bool
    /// Told the bytes of the package done so far and in all.
    package let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void

    /// Makes a monitor; by default nobody watches and nobody stops.
    package init(
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) {
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// Throws `cancelled` when the caller has given up.
    package func check() throws(Trouble) {
        if isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
    }
}

/// What receives the files of a payload, in the order of `SHA256SUMS`, itself first.
///
/// Bytes are handed on as soon as their chunk's digest holds; whether they are the files' bytes is known when the payload
/// is accepted. A sink must be able to drop everything when it is refused.
package protocol PayloadSink: AnyObject {
    /// Starts a file; its path, valid during the call, has been judged.
    func beginFile(_ path: UnsafeRawBufferPointer, size: Int64) throws
    /// Adds bytes to the file.
    func write(_ bytes: UnsafeRawBufferPointer) throws
    /// Ends the file, which has come whole.
    func endFile() throws
}
