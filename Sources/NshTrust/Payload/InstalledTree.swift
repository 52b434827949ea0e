/// Tells whether the files of a package that were written before are still what its header signed.
///
/// - Spec: SUM-2, SUM-7
package enum InstalledTree {
    /// How closely to look.
    package enum Depth: Hashable, Sendable {
        /// `SHA256SUMS` is there and has the signed digest.
        case list
        /// Besides, every listed file is there with its digest, and nothing else is.
        case files
    }

    /// Returns what is wrong with a tree, as a sentence, or nil when it is whole.
    ///
    /// - Parameters:
    ///   - directory: The tree.
    ///   - manifest: The digest of `SHA256SUMS` that the release key signed.
    ///   - depth: How closely to look.
    ///   - ignored: Names at the top of the tree that are not the package's.
    /// - Returns: The first flaw found, or nil.
    /// - Throws: `Trouble` when the system keeps the tree from being looked at.
    package static func flaw(
        in directory: borrowing Directory, manifest: Digest, depth: Depth, ignoring ignored: Set<String> = []
    ) throws(Trouble) -> String? {
        do {
            let list = try readList(directory, manifest: manifest)
            guard depth == .files else { return nil }
            var check = TreeCheck(list, ignoring: ignored)
            try check.visit(directory, path: [])
            try check.finish()
            return nil
        } catch let flaw as TreeFlaw {
            return flaw.text
        } catch let trouble as Trouble {
            // What was there when the directory was listed and is gone or exchanged now is a flaw, too.
            guard [.noSuchFile, .notARegularFile, .storeUnsafe].contains(trouble.code) else { throw trouble }
            return trouble.message
        } catch {
            throw Trouble(.ioFailure, "cannot look at a tree: \(error)")
        }
    }

    private static func readList(_ directory: borrowing Directory, manifest: Digest) throws -> FileList {
        let file = try directory.openFile(FileList.path)
        let size = try FileStatus.of(descriptor: file.raw, directory.shown(FileList.path)).size
        // Before so much is read (LIM-8, SUM-2).
        guard size <= FileList.maxBytes else { throw TreeFlaw("SHA256SUMS has \(size) bytes") }
        var bytes = [UInt8](repeating: 0, count: Int(size) + 1)
        let shown = directory.shown(FileList.path)
        let count = try bytes.withUnsafeMutableBytes { buffer throws(Trouble) in
            try file.read(into: buffer, at: 0, shown)
        }
        bytes.removeLast(bytes.count - count)
        let digest = SHA256.hash(bytes)
        guard digest == manifest else {
            throw TreeFlaw("SHA256SUMS has digest \(digest), the package was signed with \(manifest)")
        }
        do {
            let list = try FileList(parsing: bytes)
            _ = try list.judgePaths()
            return list
        } catch {
            throw TreeFlaw(error.message)
        }
    }
}

/// What makes a tree another one than was signed.
private struct TreeFlaw: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// Compares a tree with its list in one pass: visited so that files come in the order of their paths' bytes, the tree and
/// the list go side by side.
private struct TreeCheck {
    private let list: FileList
    private let ignored: Set<String>
    private var cursor = FileList.Cursor()
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    init(_ list: FileList, ignoring ignored: Set<String>) {
        self.list = list
        self.ignored = ignored
    }

    mutating func visit(_ directory: borrowing Directory, path: [UInt8]) throws {
        guard path.count <= PathRules.pathMaxBytes else {
            throw TreeFlaw("“\(shown(path))” is deeper than any package")
        }
        var names: [(name: String, order: [UInt8], kind: FileStatus.Kind)] = []
        for name in try directory.names() {
            let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
            guard let text = UTF8Sequence.text(bytes) else { throw TreeFlaw("“\(shown(path + bytes))” is not listed") }
            if path.isEmpty, text == FileList.path || ignored.contains(text) { continue }
            guard let kind = try directory.status(of: text)?.kind else { continue }
            // A directory's files follow where its name and a slash would stand.
            names.append((text, kind == .directory ? bytes + [0x2F] : bytes, kind))
        }
        names.sort { $0.order.lexicographicallyPrecedes($1.order) }
        if names.isEmpty, !path.isEmpty { throw TreeFlaw("the directory “\(shown(path))” is empty") }
        for entry in names {
            switch entry.kind {
            case .directory: try visit(try directory.openDirectory(entry.name), path: path + entry.order)
            case .regular: try check(try directory.openFile(entry.name), path: path + entry.order)
            case .symbolicLink, .socket, .other: throw TreeFlaw("“\(shown(path + entry.order))” is not a plain file")
            }
        }
    }

    func finish() throws {
        var cursor = cursor
        if let entry = list.next(&cursor) { throw TreeFlaw("“\(Printable.escaped(list.path(of: entry)))” is missing") }
    }

    private mutating func check(_ file: borrowing OwnedDescriptor, path: [UInt8]) throws {
        guard let entry = list.next(&cursor) else { throw TreeFlaw("“\(shown(path))” is not listed") }
        guard path.withUnsafeBytes({ list.hasPath($0, at: entry) }) else {
            let expected = Printable.escaped(list.path(of: entry))
            throw TreeFlaw("“\(shown(path))” is there where SHA256SUMS has “\(expected)”")
        }
        var hash = SHA256()
        var input = FileInput(descriptor: file.raw, name: shown(path))
        var count = 0
        repeat {
            count = try buffer.withUnsafeMutableBytes { bytes in
                let count = try input.read(into: bytes)
                hash.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return count
            }
        } while count > 0
        let digest = hash.finish()
        guard list.hasDigest(digest, at: entry) else {
            throw TreeFlaw("“\(shown(path))” has digest \(digest), SHA256SUMS says \(list.hex(of: entry))")
        }
    }

    private func shown(_ path: [UInt8]) -> String { Printable.escaped(bytes: path) }
}
