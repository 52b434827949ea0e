import FoundationEssentials
import NshTrust
import TestSupport

/// What must hold of the files that came out of a package, asked without the code that let them out.
enum Extracted {
    /// Checks the files of an accepted package against what was signed.
    static func check(_ files: [(path: String, data: [UInt8])], against payload: PackageHeader.Payload) throws {
        guard let list = files.first, list.path == "SHA256SUMS" else {
            throw BrokenProperty("an accepted package does not begin with SHA256SUMS")
        }
        try require(SHA256.hash(list.data) == payload.manifest, "SHA256SUMS is not what was signed")
        let lines = String(decoding: list.data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let expected = files.dropFirst().map { "\(SHA256.hash($0.data).hex)  \($0.path)" } + [""]
        try require(
            lines.elementsEqual(expected) { $0.utf8.elementsEqual($1.utf8) }, "the files are not those of SHA256SUMS")
        try require(payload.files == files.count - 1, "the header counts \(payload.files) files")
        try require(
            payload.unpackedSize == files.reduce(0) { $0 + Int64($1.data.count) },
            "the header says \(payload.unpackedSize) bytes")
        var seen: Set<String> = []
        for file in files {
            try checkPath(file.path)
            // Swift compares by canonical equivalence; every prefix counts, for a file is no directory.
            try require(seen.insert(file.path.lowercased()).inserted, "\(file.path.debugDescription) is there twice")
        }
        for file in files {
            // A mark that joins the character before it makes another character of a slash, too, but no other path.
            var parent = file.path.lowercased().unicodeScalars[...]
            while let slash = parent.lastIndex(of: "/") {
                parent = parent[..<slash]
                try require(!seen.contains(String(parent)), "\(String(parent)) is a file and a directory")
            }
        }
    }

    /// Checks that a path leads nowhere but down, on every system.
    static func checkPath(_ path: String) throws {
        let shown = path.debugDescription
        try require(!path.isEmpty && path.utf8.count <= 1024, "a path has \(path.utf8.count) bytes")
        let bad = path.unicodeScalars.first { scalar in
            scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || "\\:<>\"|?*".unicodeScalars.contains(scalar)
        }
        try require(bad == nil, "the path \(shown) was accepted")
        for name in path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            let isPlain =
                !name.isEmpty && name.last != "." && name.last != " " && !name.starts(with: "._".unicodeScalars)
            try require(isPlain && String(name).utf8.count <= 255, "the path \(shown) was accepted")
            let stem = String(name.prefix { $0 != "." }).lowercased()
            let isPort =
                stem.unicodeScalars.count == 4 && ["com", "lpt"].contains(stem.dropLast())
                && stem.unicodeScalars.last.map { "0123456789¹²³".unicodeScalars.contains($0) } ?? false
            let isDevice = isPort || ["con", "prn", "aux", "nul"].contains(stem)
            try require(!isDevice, "the path \(shown) was accepted")
        }
    }

    /// Extracts a package below a directory of its own, and looks at all that lies there afterwards.
    ///
    /// - Parameters:
    ///   - file: The package's bytes.
    ///   - verdict: What was said of it before.
    ///   - files: The files that came out before; of an accepted package all.
    ///   - payload: What was signed, of an accepted package.
    /// - Throws: `BrokenProperty`.
    static func check(
        _ file: [UInt8], verdict: String, files: [(path: String, data: [UInt8])], payload: PackageHeader.Payload?
    ) throws {
        let outside = try TemporaryDirectory()
        let root = try outside.open()
        let inside = try root.makeDirectory("inside", permissions: 0o700)
        let again = try Bench.verify(file, sink: try DirectorySink(inside)).word
        try require(again == verdict, "in memory it is \(verdict), extracted it is \(again)")
        let found = try outside.contents()
        try require(
            found.allSatisfy { $0 == "inside" || $0.utf8.starts(with: "inside/".utf8) },
            "something lies outside: \(found)")
        for path in found.dropFirst() {
            let kind = try root.status(of: path)?.kind
            try require(
                kind == .regular || kind == .directory, "\(path.debugDescription) is neither file nor directory")
            let mode: UInt32 = kind == .directory ? 0o755 : 0o644
            try require(try outside.permissions(of: path) == mode, "\(path.debugDescription) has another mode")
        }
        for file in files {
            let bytes = try outside.read("inside/\(file.path)")
            try require(bytes == file.data, "\(file.path.debugDescription) is another file on the disk")
        }
        guard let payload else { return }
        let flaw = try InstalledTree.flaw(in: inside, manifest: payload.manifest, depth: .files)
        try require(flaw == nil, "the tree is not whole: \(flaw ?? "")")
    }
}
