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
}
