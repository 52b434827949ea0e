import CLinux
import Glibc
internal import NshTrust

/// A directory that is published; nothing is ever written in it.
final class TreeSource: FileSource {
    private let root: Directory
    /// The directory's path without links.
    let path: String

    /// Opens the directory.
    ///
    /// - Parameter path: The directory, or a link to it.
    /// - Throws: `noSuchFile`, `ioFailure`.
    init(_ path: String) throws {
        guard let resolved = Self.resolve(path) else {
            throw SystemCall.trouble(errno, "cannot open directory \(Printable.escaped(path))")
        }
        root = try Directory.open(resolved)
        self.path = resolved
    }

    /// Returns a path without links, or nil, with `errno` set, when it leads nowhere.
    static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Tells whether a path without links lies in the directory, or is it.
    func contains(_ resolved: String) -> Bool { resolved == path || relative(resolved) != nil }

    private func relative(_ resolved: String) -> String? {
        let base = path == "/" ? "/" : path + "/"
        guard resolved.utf8.starts(with: base.utf8), resolved.utf8.count > base.utf8.count else { return nil }
        return String(decoding: Array(resolved.utf8.dropFirst(base.utf8.count)), as: UTF8.self)
    }

    func read(
        _ file: SourceFile, into room: () throws -> UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        switch file.content {
        case .bytes(let bytes): try SourceReading.pieces(of: file, bytes, into: room, body)
        case .spool: throw Trouble(.ioFailure, "\(file.shown) is not in the directory")
        case .tree(let relative, let changedAt):
            let result = nsh_open_beneath(root.raw, relative, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
            if result == -ENOENT || result == -ELOOP || result == -ENOTDIR { throw SourceReading.changed(file) }
            guard result >= 0 else { throw SystemCall.trouble(-result, "cannot open \(file.shown)") }
            let descriptor = OwnedDescriptor(owning: result)
            let status = try FileStatus.of(descriptor: descriptor.raw, file.shown)
            guard status.kind == .regular, status.size == UInt64(file.size), status.changedAt == changedAt
            else { throw SourceReading.changed(file) }
            try SourceReading.pieces(
                of: file, into: room,
                fill: { piece, at in try descriptor.read(into: piece, at: at, file.shown) }, body)
            // What was read is what the file held at one time only if nothing wrote to it meanwhile.
            guard try FileStatus.of(descriptor: descriptor.raw, file.shown).changedAt == changedAt else {
                throw SourceReading.changed(file)
            }
        }
    }

    // MARK: - Finding files

    /// Finds everything in the directory.
    ///
    /// - Parameters:
    ///   - options: What happens to links and strays, and how many files there may be.
    ///   - observer: May stop the search.
    /// - Returns: Files, problems and empty directories, in the order of their paths at each level.
    /// - Throws: `limitExceeded`, `ioFailure`, `cancelled`.
    func inventory(_ options: PackageOptions, observer: PackagingObserver) throws -> SourceInventory {
        var search = Search(options: options, observer: observer)
        try find(in: root, at: Place(), search: &search)
        return search.inventory
    }

    private struct Search {
        let options: PackageOptions
        let observer: PackagingObserver
        var inventory: SourceInventory

        init(options: PackageOptions, observer: PackagingObserver) {
            self.options = options
            self.observer = observer
            inventory = SourceInventory(filesMax: options.limits.files)
        }
    }

    /// Where a search stands: in the package and, behind links, in the directory.
    private struct Place {
        /// The path in the package, empty at the top.
        var packed: [UInt8] = []
        /// The path below the directory, empty at the top.
        var source = ""
        /// The paths below the directory of all directories above this place.
        var above: [String] = []

        func entering(_ packed: [UInt8], source: String) -> Place {
            Place(packed: packed, source: source, above: above + [self.source])
        }
    }

    /// Levels that are searched; a path may have half as many.
    private static let levelsMax = 2 * PathRules.componentsMax

    private func find(in directory: borrowing Directory, at place: Place, search: inout Search) throws {
        if search.observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
        let names = try directory.names().map { $0.dropLast().map { UInt8(bitPattern: $0) } }
        if names.isEmpty, !place.packed.isEmpty { search.inventory.emptyDirectories.append(place.packed) }
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let packed = place.packed.isEmpty ? name : place.packed + [0x2F] + name
            if search.options.strayFiles == .refused, let problem = SourceInventory.strayProblem(of: name) {
                try search.inventory.add(.unsafePath, packed, problem)
                continue
            }
            guard let text = UTF8Sequence.text(name) else {
                try search.inventory.add(.unsafePath, packed, "is not UTF-8")
                continue
            }
            let source = place.source.isEmpty ? text : place.source + "/" + text
            guard let status = try directory.status(of: text) else { continue }
            switch status.kind {
            case .regular: try addFile(packed, source, status.size, status.changedAt, &search)
            case .directory:
                let inner = try directory.openDirectory(text)
                try enter(inner, place.entering(packed, source: source), &search)
            case .symbolicLink where search.options.symbolicLinks == .followed:
                try follow(packed, source, from: place, &search)
            case .symbolicLink:
                try search.inventory.add(
                    .unsafeMember, packed,
                    "is a symbolic link; --follow-links packs what it leads to, when that lies inside")
            case .socket, .other:
                try search.inventory.add(.unsafeMember, packed, "is neither a file nor a directory")
            }
        }
    }

    private func enter(_ directory: borrowing Directory, _ place: Place, _ search: inout Search) throws {
        guard place.above.count < Self.levelsMax else {
            return try search.inventory.add(.unsafePath, place.packed, "lies too deep")
        }
        try find(in: directory, at: place, search: &search)
    }

    private func addFile(
        _ packed: [UInt8], _ source: String, _ size: UInt64, _ changedAt: Int64, _ search: inout Search
    ) throws {
        guard let size = Int64(exactly: size) else {
            throw Refusal(.limitExceeded, "\(Printable.escaped(bytes: packed)) has \(size) bytes")
        }
        try search.inventory.add(SourceFile(path: packed, size: size, content: .tree(source, changedAt: changedAt)))
    }

    private func follow(_ packed: [UInt8], _ source: String, from place: Place, _ search: inout Search) throws {
        guard let resolved = Self.resolve(path + "/" + source) else {
            return try search.inventory.add(.unsafeMember, packed, "is a symbolic link that leads nowhere")
        }
        guard contains(resolved) else {
            return try search.inventory.add(.unsafeMember, packed, "is a symbolic link that leads out of the directory")
        }
        let target = relative(resolved) ?? ""
        var status = nsh_stat()
        _ = try SystemCall.check("cannot look at \(Printable.escaped(resolved))") {
            nsh_fstatat(AT_FDCWD, resolved, 0, &status)
        }
        switch status.mode & S_IFMT {
        case S_IFREG: try addFile(packed, target, status.size, status.changed_nanoseconds, &search)
        case S_IFDIR:
            guard target != place.source, !place.above.contains(target),
                let inner = try target.isEmpty ? nil : root.directory(beneath: target)
            else {
                return try search.inventory.add(
                    .unsafeMember, packed, "is a symbolic link that leads back to a directory above it")
            }
            try enter(inner, place.entering(packed, source: target), &search)
        default: try search.inventory.add(.unsafeMember, packed, "is a symbolic link to neither a file nor a directory")
        }
    }
}
