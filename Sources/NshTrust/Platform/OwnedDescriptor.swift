import CLinux
import Glibc

/// An open file descriptor with one owner, closed when the owner goes.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, valid for as long as this value lives.
    package let raw: Int32

    /// Takes over a descriptor that nobody else closes.
    package init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}

/// What the kernel's error numbers mean to us.
package enum SystemCall {
    /// Makes the trouble of an error number.
    ///
    /// - Parameters:
    ///   - number: The errno.
    ///   - what: What was tried, with the object: `cannot open x.nshpkg`.
    /// - Returns: The trouble; its code is `noSuchFile`, `exists` or `ioFailure`.
    package static func trouble(_ number: Int32, _ what: String) -> Trouble {
        var buffer = [CChar](repeating: 0, count: 256)
        let known = strerror_r(number, &buffer, buffer.count) == 0
        let letters = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let text = known ? String(decoding: letters, as: UTF8.self) : "error \(number)"
        let code: TroubleCode =
            switch number {
            case ENOENT: .noSuchFile
            case EEXIST: .exists
            default: .ioFailure
            }
        return Trouble(code, "\(what): \(text)")
    }

    /// Returns the call's result, or throws its error; repeats the call when a signal interrupted it.
    ///
    /// - Parameters:
    ///   - what: What is tried, with the object.
    ///   - call: A call that returns a negated errno when it fails, like those of CLinux.
    /// - Returns: What the call returned.
    /// - Throws: The trouble of its error number.
    package static func check(_ what: @autoclosure () -> String, _ call: () -> Int32) throws(Trouble) -> Int32 {
        while true {
            let result = call()
            if result >= 0 { return result }
            if result != -EINTR { throw trouble(-result, what()) }
        }
    }
}
