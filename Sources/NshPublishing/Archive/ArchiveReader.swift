import CArchive
import Glibc
internal import NshTrust

/// Reads an archive that is published: a tar, plain or compressed, or a zip.
///
/// Nothing of it is unpacked under a name of its own: the bytes of all files go one after another into a spool without a
/// name, and the names are judged like those of any package. So no name in an archive can reach anything.
struct ArchiveReader {
    private static let blockCount = 1 << 18

    // Kinds of files as an archive's entries have them; the C macros are casts that Swift does not import.
    private static let (regular, directory, link, kinds): (mode_t, mode_t, mode_t, mode_t) = (
        0o100000, 0o040000, 0o120000, 0o170000
    )

    private let path: String
    private let options: PackageOptions
    private let observer: PackagingObserver
    private let spool: SpoolFile
    private var inventory: SourceInventory
    /// Where each file's bytes are.
    private var files: [[UInt8]: (start: Int64, size: Int64)] = [:]
    /// Links to resolve when all files are known: where they are, and to what they lead.
    private var links: [(path: [UInt8], target: [UInt8])] = []
    private var directories: [[UInt8]] = []
    /// Strays that were named already: of a whole directory of them the directory is.
    private var strays: Set<[UInt8]> = []

    /// Reads an archive whole.
    ///
    /// - Parameters:
    ///   - path: The archive.
    ///   - spool: Takes the bytes of its files.
    ///   - options: What happens to links and strays, and how large everything may be.
    ///   - observer: May stop the work.
    /// - Returns: Files, problems and empty directories.
    /// - Throws: `unsupportedFormat` when it is no archive that is read here or is damaged, `limitExceeded`,
    ///   `ioFailure`, `cancelled`.
    static func inventory(
        of path: String, spool: SpoolFile, options: PackageOptions, observer: PackagingObserver
    ) throws -> SourceInventory {
        var reader = ArchiveReader(path: path, options: options, observer: observer, spool: spool)
        try inUTF8 { try reader.readAll() }
        try reader.resolveLinks()
        reader.findEmptyDirectories()
        return reader.inventory
    }

    private init(path: String, options: PackageOptions, observer: PackagingObserver, spool: SpoolFile) {
        self.path = path
        self.options = options
        self.observer = observer
        self.spool = spool
        inventory = SourceInventory(filesMax: options.limits.files)
    }

    /// Runs the body in a locale whose letters are UTF-8: without it, libarchive gives no names but ASCII ones.
    private static func inUTF8(_ body: () throws -> Void) throws {
        guard let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else {
            throw SystemCall.trouble(errno, "cannot read archives: no locale C.UTF-8")
        }
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        try body()
    }

    // MARK: - Entries

    private mutating func readAll() throws {
        guard let archive = archive_read_new() else { throw Trouble(.ioFailure, "no memory to read an archive") }
        defer { archive_read_free(archive) }
        archive_read_support_format_tar(archive)
        archive_read_support_format_zip(archive)
        archive_read_support_filter_gzip(archive)
        archive_read_support_filter_bzip2(archive)
        archive_read_support_filter_xz(archive)
        archive_read_support_filter_zstd(archive)
        guard archive_read_open_filename(archive, path, Self.blockCount) == ARCHIVE_OK else {
            throw failure(archive, "is no archive that is read here (tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip)")
        }
        var buffer = [UInt8](repeating: 0, count: Self.blockCount)
        while true {
            var entry: OpaquePointer?
            let result = archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF { return }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry else {
                throw failure(archive, "is no archive that is read here (tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip)")
            }
            if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
            try take(entry, of: archive, &buffer)
        }
    }

    private mutating func take(_ entry: OpaquePointer, of archive: OpaquePointer, _ buffer: inout [UInt8]) throws {
        guard let name = archive_entry_pathname(entry) else {
            throw failure(archive, "has an entry whose name cannot be read")
        }
        let path = Self.normalized(Self.bytes(name))
        let kind = archive_entry_filetype(entry) & Self.kinds
        if path.isEmpty, kind == Self.directory { return }
        if options.strayFiles == .refused, let (stray, problem) = Self.stray(path.prefix(PathRules.pathMaxBytes)) {
            return strays.insert(stray).inserted ? try inventory.add(.unsafePath, stray, problem) : ()
        }
        guard path.count <= PathRules.pathMaxBytes else {
            let shown = Array(path.prefix(PathRules.pathMaxBytes))
            return try inventory.add(.unsafePath, shown, "is longer than \(PathRules.pathMaxBytes) bytes")
        }
        if let target = archive_entry_hardlink(entry) {
            return try addLink(path, to: Self.normalized(Self.bytes(target)), "is a hard link to another entry")
        }
        switch kind {
        case Self.directory: try addDirectory(path)
        case Self.regular: try spoolFile(path, of: archive, &buffer)
        case Self.link:
            guard let target = archive_entry_symlink(entry), let resolved = Self.resolve(Self.bytes(target), from: path)
            else {
                return try inventory.add(.unsafeMember, path, "is a symbolic link that leads out of the archive")
            }
            try addLink(path, to: resolved, "is a symbolic link")
        default: try inventory.add(.unsafeMember, path, "is neither a file nor a directory")
        }
    }

    private mutating func addDirectory(_ path: [UInt8]) throws {
        guard directories.count < options.limits.directories else {
            throw Refusal(.limitExceeded, "the archive has more than \(options.limits.directories) directories")
        }
        directories.append(path)
    }

    private mutating func addLink(_ path: [UInt8], to target: [UInt8], _ what: String) throws {
        guard options.symbolicLinks == .followed else {
            return try inventory.add(
                .unsafeMember, path, "\(what); --follow-links packs what it leads to, when that lies inside")
        }
        guard links.count < options.limits.files else {
            throw Refusal(.limitExceeded, "the archive has more than \(options.limits.files) links")
        }
        links.append((path, target))
    }

    private mutating func spoolFile(_ path: [UInt8], of archive: OpaquePointer, _ buffer: inout [UInt8]) throws {
        let start = spool.count
        while true {
            let count = buffer.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
            if count == 0 { break }
            guard count > 0 else { throw failure(archive, "is damaged at “\(Printable.escaped(bytes: path))”") }
            try buffer.withUnsafeBytes { try spool.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            guard spool.count <= options.limits.unpackedBytes else {
                throw Refusal(
                    .limitExceeded,
                    "the archive unpacks to more than \(options.limits.unpackedBytes) bytes; a package holds no more")
            }
            if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
        }
        guard files.updateValue((start, spool.count - start), forKey: path) == nil else {
            return try inventory.add(.unsafePath, path, "stands in the archive twice")
        }
        try inventory.add(SourceFile(path: path, size: spool.count - start, content: .spool(start)))
    }

    private func failure(_ archive: OpaquePointer, _ problem: String) -> any Error {
        let reason = archive_error_string(archive).map { Printable.escaped(String(cString: $0)) } ?? "it ends too early"
        return Refusal(.unsupportedFormat, "\(Printable.escaped(path)) \(problem): \(reason)")
    }

    // MARK: - Links and directories

    private mutating func resolveLinks() throws {
        let targets = Dictionary(links.map { ($0.path, $0.target) }, uniquingKeysWith: { first, _ in first })
        for link in links {
            var target = link.target
            var hops = 0
            while files[target] == nil, let next = targets[target], hops < 16 {
                target = next
                hops += 1
            }
            guard let (start, size) = files[target] else {
                try inventory.add(.unsafeMember, link.path, "is a link to what is no file of the archive")
                continue
            }
            if files[link.path] != nil {
                try inventory.add(.unsafePath, link.path, "stands in the archive twice")
                continue
            }
            try inventory.add(SourceFile(path: link.path, size: size, content: .spool(start)))
        }
    }

    private mutating func findEmptyDirectories() {
        var full: Set<[UInt8]> = []
        for path in inventory.files.map(\.path) + inventory.problems.map(\.path) + directories {
            for (at, byte) in path.enumerated() where byte == 0x2F { full.insert(Array(path[..<at])) }
        }
        inventory.emptyDirectories = Array(Set(directories).subtracting(full))
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: - Names

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// Takes `./` off the front and slashes off the end, which say nothing; whatever else is odd stays and is refused.
    private static func normalized(_ path: [UInt8]) -> [UInt8] {
        var path = path[...]
        while path.starts(with: [0x2E, 0x2F]) { path = path.dropFirst(2) }
        while path.count > 1, path.last == 0x2F { path = path.dropLast() }
        return path == [0x2E] ? [] : Array(path)
    }

    /// Finds the first component that some program left behind, and what is wrong with it.
    private static func stray(_ path: ArraySlice<UInt8>) -> (path: [UInt8], problem: String)? {
        for component in path.split(separator: 0x2F) {
            guard let problem = SourceInventory.strayProblem(of: component) else { continue }
            return (Array(path[..<component.endIndex]), problem)
        }
        return nil
    }

    /// Resolves a link's target to a path of the archive; nil when it leads out.
    private static func resolve(_ target: [UInt8], from path: [UInt8]) -> [UInt8]? {
        guard target.first != 0x2F, !target.isEmpty else { return nil }
        var components = path.split(separator: 0x2F).dropLast().map { Array($0) }
        for component in target.split(separator: 0x2F) {
            switch Array(component) {
            case [0x2E]: continue
            case [0x2E, 0x2E]:
                if components.popLast() == nil { return nil }
            case let name: components.append(name)
            }
        }
        return Array(components.joined(separator: [0x2F]))
    }
}
