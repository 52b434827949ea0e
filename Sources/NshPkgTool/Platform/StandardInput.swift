import Glibc
import NshTrust

/// A package that comes through standard input.
struct StandardInput: PackageInput {
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Glibc.read(0, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemCall.trouble(errno, "cannot read standard input") }
            if Interruption.signal != 0 { throw Trouble(.cancelled, "interrupted") }
        }
    }
}
