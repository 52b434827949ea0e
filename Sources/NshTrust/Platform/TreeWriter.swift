import CLinux
import Glibc

/// Writes files beneath an open directory and makes the directories that they need.
///
/// Everything is reached through descriptors, one name at a time, and made anew: nothing that is there already is
/// followed, opened or replaced. Files have mode 0644, directories 0755, whatever the process's mask; owner and times are
/// what the system gives a new file. Nothing is synced.
package final class TreeWriter {
    private let root: OwnedDescriptor
    private let rootPath: String
    /// The directories above the current file, outermost first: a path has at most 32 components.
    private var levels: [(end: Int, descriptor: Int32)] = []
    /// The path of the innermost of them, and a slash; empty at the top, and `end` is where a level's own slash stands.
    private var directory: [UInt8] = []
    private var file: Int32 = -1
    /// The path of the file, for messages.
    private var path: [UInt8] = []
    /// A name as C has it, used again and again.
    private var name: [CChar] = []
    private var fileModes = Modes(wanted: 0o644)
    private var directoryModes = Modes(wanted: 0o755)

    /// Makes a writer.
    ///
    /// - Parameter directory: Where the files go. They come in the order of their paths' bytes, so that no directory is
    ///   asked for twice.
    /// - Throws: `ioFailure` when the process has no descriptor left.
    package init(into directory: borrowing Directory) throws(Trouble) {
        let original = directory.raw
        rootPath = directory.path
        root = OwnedDescriptor(
            owning: try SystemCall.check("cannot write into \(Printable.escaped(directory.path))") {
                let copy = fcntl(original, F_DUPFD_CLOEXEC, 0)
                return copy < 0 ? -errno : copy
            })
    }

    deinit {
        if file >= 0 { close(file) }
        for level in levels { close(level.descriptor) }
    }

    /// Creates a file.
    ///
    /// - Parameter path: Relative, judged by `PathRules`; its directories are made when they are not there yet.
    /// - Throws: `storeFull` when there is no room, `ioFailure` for everything else the system says.
    package func begin(_ path: UnsafeRawBufferPointer) throws(Trouble) {
        self.path.removeAll(keepingCapacity: true)
        self.path += path
        let nameStart = path.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
        let parentPath = UnsafeRawBufferPointer(rebasing: path[..<nameStart])
        if !Self.areEqual(parentPath, directory) { try enter(parentPath) }
        setName(UnsafeRawBufferPointer(rebasing: path[nameStart...]))
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let result = nsh_openat(parent, name, flags, fileModes.wanted)
        guard result >= 0 else { throw failed(-result, "create") }
        file = result
        try fileModes.ensure(on: result) { number in failed(number, "set the mode of") }
    }

    /// Adds bytes to the file.
    ///
    /// - Throws: `storeFull` when there is no room, `ioFailure` for everything else the system says.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(Trouble) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(file, rest.baseAddress, rest.count)
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw failed(errno, "write")
            }
        }
    }

    /// Closes the file: the last chance to hear that it could not be written.
    ///
    /// - Throws: `storeFull` when there is no room, `ioFailure` for everything else the system says.
    package func end() throws(Trouble) {
        let closed = file
        file = -1
        // Interrupted or not, Linux has closed it.
        guard close(closed) == 0 || errno == EINTR else { throw failed(errno, "finish writing") }
    }

    /// Opens or makes the directories of a path, of which those it shares with the last path are open.
    ///
    /// - Parameter wanted: The path of a directory and a slash, or nothing.
    /// - Throws: `storeFull` when there is no room, `ioFailure` for everything else the system says.
    private func enter(_ wanted: UnsafeRawBufferPointer) throws(Trouble) {
        var shared = 0
        while shared < min(wanted.count, directory.count), wanted[shared] == directory[shared] { shared += 1 }
        leave(downTo: levels.count(where: { $0.end < shared }))
        directory.removeLast(directory.count - (levels.last.map { $0.end + 1 } ?? 0))
        while directory.count < wanted.count {
            let rest = wanted[directory.count...]
            guard let end = rest.firstIndex(of: 0x2F) else { return }
            setName(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            let parent = parent
            guard mkdirat(parent, name, mode_t(directoryModes.wanted)) == 0 else {
                throw failed(errno, "make the directory of")
            }
            let result = nsh_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
            guard result >= 0 else { throw failed(-result, "open the directory of") }
            levels.append((end, result))
            directory += rest[...end]
            try directoryModes.ensure(on: result) { number in failed(number, "set the mode of the directory of") }
        }
    }

    /// Where the current file lies.
    private var parent: Int32 { levels.last?.descriptor ?? root.raw }

    private func setName(_ bytes: UnsafeRawBufferPointer) {
        name.removeAll(keepingCapacity: true)
        for byte in bytes { name.append(CChar(bitPattern: byte)) }
        name.append(0)
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var differences: UInt8 = 0
        for (at, byte) in right.enumerated() { differences |= byte ^ left[at] }
        return differences == 0
    }

    private func leave(downTo count: Int) {
        while levels.count > count { close(levels.removeLast().descriptor) }
    }

    private func failed(_ number: Int32, _ what: String) -> Trouble {
        let place = Printable.escaped("\(rootPath)/\(String(decoding: path, as: UTF8.self))")
        if number == EEXIST {
            return Trouble(.ioFailure, "cannot \(what) \(place): somebody else has put something there")
        }
        return Directory.failed(number, "cannot \(what) \(place)")
    }
}

/// Sees that what is made has the wanted mode although the process's mask takes bits away.
///
/// A mask can be read only by changing it, for all threads. So the first file made is looked at, and where bits are
/// missing the mode of every file is set; else none costs another system call. A mask that the host changes while a
/// package is written is its own affair.
private struct Modes {
    let wanted: UInt32
    private var mustSet: Bool?

    init(wanted: UInt32) { self.wanted = wanted }

    mutating func ensure(on descriptor: Int32, _ failed: (Int32) -> Trouble) throws(Trouble) {
        if mustSet == nil {
            var status = nsh_stat()
            let result = nsh_fstat(descriptor, &status)
            guard result >= 0 else { throw failed(-result) }
            mustSet = status.mode & 0o777 != wanted
        }
        guard mustSet == true else { return }
        guard fchmod(descriptor, wanted) == 0 else { throw failed(errno) }
    }
}
