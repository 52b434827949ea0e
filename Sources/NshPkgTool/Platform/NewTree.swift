import Glibc
import NshTrust

/// A directory that comes into being whole or not at all: filled beside its place, then renamed.
///
/// A process that is killed leaves what it wrote beside the place, as `.nsh-<16 hex>.tmp`.
struct NewTree: ~Copyable {
    private let parent: Directory
    private let directory: Directory
    private let name: String
    private let temporaryName: String
    private let shown: String

    /// Makes the directory beside its place.
    ///
    /// - Parameter path: Where it goes; nothing may be there.
    /// - Throws: `Trouble`: `exists`, `noSuchFile` without the directory above, `ioFailure`.
    init(at path: String) throws(Trouble) {
        // As bytes: to Swift a slash and a mark that follows it are one character, to the system they are not.
        var trimmed = Array(path.utf8)
        while trimmed.count > 1, trimmed.last == 0x2F { trimmed.removeLast() }
        let slash = trimmed.lastIndex(of: 0x2F)
        let name = String(decoding: trimmed[(slash.map { $0 + 1 } ?? 0)...], as: UTF8.self)
        let above = slash.map { $0 == 0 ? "/" : String(decoding: trimmed[..<$0], as: UTF8.self) } ?? "."
        let shown = Terminal.safe(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw Trouble(.exists, "\(shown) is there already") }
        // With "/." the path may lead through a link.
        let parent = try Directory.open(above + "/.")
        guard try parent.status(of: name) == nil else { throw Trouble(.exists, "\(shown) is there already") }
        var generator = SystemRandomNumberGenerator()
        let temporaryName =
            ".nsh-\(Hex.encode((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })).tmp"
        let directory = try Self.make(temporaryName, in: parent)
        self.parent = parent
        self.directory = directory
        self.temporaryName = temporaryName
        self.name = name
        self.shown = shown
    }

    private static func make(_ name: String, in parent: borrowing Directory) throws(Trouble) -> Directory {
        do {
            return try parent.makeDirectory(name, permissions: 0o755)
        } catch {
            // It may have been made and not be fit for use; when it cannot be removed either, the first error counts.
            do { try parent.removeTree(name) } catch {}
            throw error
        }
    }

    deinit {
        // There is nothing under that name when the tree was kept; where it cannot be removed, nobody is left to tell.
        do { try parent.removeTree(temporaryName) } catch {}
    }

    /// What writes a package’s files into it.
    ///
    /// - Throws: `Trouble` when the directory cannot be worked in.
    func makeSink() throws -> DirectorySink { try DirectorySink(directory) }

    /// Puts the directory in its place, for good.
    ///
    /// - Throws: `Trouble`: `exists` when something has taken the place, `ioFailure`; then nothing has changed, or the
    ///   message says that the directory is in its place and may not stay there.
    borrowing func keep() throws(Trouble) {
        try directory.syncFileSystem()
        guard try parent.rename(temporaryName, to: parent, as: name) else {
            throw Trouble(.exists, "\(shown) appeared meanwhile")
        }
        do {
            try parent.sync()
        } catch {
            throw Trouble(
                error.code,
                "\(shown) is complete and in its place, but may not outlast a loss of power: \(error.message)")
        }
    }
}
