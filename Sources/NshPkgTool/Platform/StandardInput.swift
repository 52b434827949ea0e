import Glibc
import NshTrust

/// A package that comes through standard input.
struct StandardInput: PackageInput {
    /// How often a read that waits looks whether a signal has come, in milliseconds.
    private static let patience: Int32 = 200

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            if Interruption.signal != 0 { throw Trouble(.cancelled, "interrupted") }
            var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, Self.patience)
            guard ready >= 0 || errno == EINTR else {
                throw SystemCall.trouble(errno, "cannot wait for standard input")
            }
            if ready <= 0 { continue }
            let count = Glibc.read(0, buffer.baseAddress, buffer.count)
            // Ctrl-C ends the other end of a pipe too: what stops there is not a package that ends early.
            if count == 0, Interruption.signal != 0 { continue }
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemCall.trouble(errno, "cannot read standard input") }
        }
    }
}
