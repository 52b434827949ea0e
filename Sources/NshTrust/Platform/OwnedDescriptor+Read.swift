import Glibc

extension OwnedDescriptor {
    /// Reads at most `buffer.count` bytes from an offset; fewer only at the end of the file.
    ///
    /// - Parameters:
    ///   - buffer: Where the bytes go.
    ///   - offset: Where they start in the file.
    ///   - what: The file, for messages.
    /// - Returns: How many were read.
    /// - Throws: `ioFailure`.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ what: @autoclosure () -> String
    ) throws(Trouble) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = pread(raw, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
            if count == 0 { break }
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                throw SystemCall.trouble(errno, "cannot read \(what())")
            }
        }
        return filled
    }

    /// Reads the whole file.
    ///
    /// - Parameters:
    ///   - limit: The most bytes it may have.
    ///   - what: The file, for messages.
    /// - Returns: Its bytes.
    /// - Throws: `limitExceeded` when it has more, `ioFailure`.
    package func contents(limit: Int, _ what: @autoclosure () -> String) throws -> [UInt8] {
        let status = try FileStatus.of(descriptor: raw, what())
        guard status.size <= limit else {
            throw Refusal(.limitExceeded, "\(what()) has \(status.size) bytes, the limit is \(limit)")
        }
        // One more than it had, to notice that it has grown.
        var bytes = [UInt8](repeating: 0, count: Int(status.size) + 1)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: 0, what()) }
        guard count < bytes.count else { throw Trouble(.ioFailure, "\(what()) grew while it was read") }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
