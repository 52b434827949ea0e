import Glibc

/// A package that lies in a regular file, read by offset so that the descriptor's own position stays where it is.
///
/// Nothing is mapped: a file that is cut or changed while it is read gives other bytes, which the digests refuse, and
/// never a signal.
///
/// - Spec: STO-14
package struct FileInput: PackageInput {
    private let descriptor: Int32
    private let name: String
    private var offset: Int64
    private var owner: PackageFile?

    /// Makes an input.
    ///
    /// - Parameters:
    ///   - descriptor: An open file; the caller keeps it open for as long as the input is used.
    ///   - name: What to call it in messages; untrusted text in it has been escaped.
    ///   - offset: Where to start, in bytes.
    package init(descriptor: Int32, name: String, offset: Int64 = 0) {
        self.descriptor = descriptor
        self.name = name
        self.offset = offset
    }

    /// Makes an input of a whole package file, which stays open for as long as the input lives.
    package init(_ file: PackageFile) {
        self.init(descriptor: file.descriptor.raw, name: file.name)
        owner = file
    }

    /// Regular files never keep a reader waiting, so they may be read ahead.
    package var allowsReadingAhead: Bool { true }

    /// Reads the next bytes.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 {
                offset += Int64(count)
                return count
            }
            if errno != EINTR { throw SystemCall.trouble(errno, "cannot read \(name)") }
        }
    }
}
