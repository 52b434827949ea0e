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
    private var levels: [(name: String, descriptor: Int32)] = []
    /// The current file's path up to its last slash, without it.
    private var directoryPath = ""
    private var file: Int32 = -1
    private var path = ""
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
    package func begin(_ path: String) throws(Trouble) {
        self.path = path
        let bytes = path.utf8
        var name = path
        if let slash = bytes.lastIndex(of: 0x2F) {
            try enter(path[..<slash])
            name = String(path[bytes.index(after: slash)...])
        } else {
            leave(downTo: 0)
            directoryPath = ""
        }
        let parent = levels.last?.descriptor ?? root.raw
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
    private func enter(_ wanted: Substring) throws(Trouble) {
        if wanted.utf8.elementsEqual(directoryPath.utf8) { return }
        let names = wanted.utf8.split(separator: 0x2F).map { String(Substring($0)) }
        var shared = 0
        while shared < min(names.count, levels.count), names[shared].utf8.elementsEqual(levels[shared].name.utf8) {
            shared += 1
        }
        leave(downTo: shared)
        for name in names[shared...] {
            let parent = levels.last?.descriptor ?? root.raw
            guard mkdirat(parent, name, mode_t(directoryModes.wanted)) == 0 else {
                throw failed(errno, "make the directory of")
            }
            let result = nsh_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
            guard result >= 0 else { throw failed(-result, "open the directory of") }
            levels.append((name, result))
            try directoryModes.ensure(on: result) { number in failed(number, "set the mode of the directory of") }
        }
        directoryPath = String(wanted)
    }

    private func leave(downTo count: Int) {
        while levels.count > count { close(levels.removeLast().descriptor) }
    }

    private func failed(_ number: Int32, _ what: String) -> Trouble {
        let place = Printable.escaped("\(rootPath)/\(path)")
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
