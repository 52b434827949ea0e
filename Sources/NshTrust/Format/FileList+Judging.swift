extension FileList {
    /// Reads the list of a package and judges it by the header that the release key signed.
    ///
    /// The order is that of the specification: digest, form and order and count, paths, number of directories,
    /// required files, content.
    ///
    /// - Parameters:
    ///   - bytes: The content of `SHA256SUMS`, whose size was judged before it was read.
    ///   - digest: SHA-256 of the bytes.
    ///   - header: The signed header.
    ///   - content: The kinds of code that the certificate allows.
    ///   - limits: The bounds of the host.
    /// - Returns: The list, and the number of directories above its files.
    /// - Throws: `limitExceeded`, `manifestMismatch`, `unsafePath` or `contentNotCertified`.
    /// - Spec: SUM-14
    package static func judged(
        _ bytes: [UInt8], digest: Digest, header: PackageHeader, content: Set<Certificate.Content>, limits: Limits
    ) throws(Refusal) -> (list: FileList, directories: Int) {
        guard digest == header.payload.manifest else {
            throw Refusal(
                .manifestMismatch, "SHA256SUMS has digest \(digest), the header says \(header.payload.manifest)")
        }
        let list = try FileList(parsing: bytes)
        guard list.count == header.payload.files else {
            throw Refusal(
                .manifestMismatch, "SHA256SUMS lists \(list.count) files, the header says \(header.payload.files)")
        }
        let found = try list.judgePaths()
        guard found.directories <= limits.directories else {
            throw Refusal(
                .limitExceeded,
                "the files lie in \(found.directories) directories, the limit is \(limits.directories)")
        }
        try judgeRequired(found.known, header: header, content: content)
        return (list, found.directories)
    }

    /// The files whose names mean something to the format.
    package enum KnownFile: String, CaseIterable {
        case app = "app.json"
        case capabilities = "capabilities.json"
        case source = "bundle.js"
        case bytecode = "bundle.nshc"
        case olderBytecode = "bundle.qbc"

        /// Bytes of the longest of them.
        static let countMax = 17

        /// Recognises a path, compared byte for byte; nil for every other one.
        init?(_ path: ArraySlice<UInt8>) {
            guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path) }) else { return nil }
            self = known
        }
    }

    /// Judges each path by itself and all of them together.
    ///
    /// - Parameter namesPerPass: How many names are held at once to find two that are one.
    /// - Returns: The number of directories above the files, and which known files are listed.
    /// - Throws: `unsafePath`.
    /// - Complexity: O(bytes); memory is bounded whatever the list holds.
    /// - Spec: PTH-1 … PTH-10
    package func judgePaths(
        namesPerPass: Int = 1 << 18
    ) throws(Refusal) -> (directories: Int, known: Set<KnownFile>) {
        var known: Set<KnownFile> = []
        var directories = 0
        var before = 0..<0
        var cursor = Cursor()
        while let entry = next(&cursor) {
            let problem = bytes.withUnsafeBytes { bytes -> String? in
                let path = UnsafeRawBufferPointer(rebasing: bytes[entry.path])
                directories += Self.newDirectories(of: entry.path, after: before, in: bytes).count
                return PathRules.problem(of: path)
            }
            if let problem {
                let shown = Printable.escaped(bytes: bytes[entry.path])
                throw Refusal(.unsafePath, "SHA256SUMS lists the path “\(shown)”, which \(problem)")
            }
            if entry.path.count <= KnownFile.countMax, let file = KnownFile(bytes[entry.path]) { known.insert(file) }
            before = entry.path
        }
        try judgeCollisions(directories: directories, namesPerPass: namesPerPass)
        return (directories, known)
    }

    /// The slashes of a path that end a directory which the path before it does not lie in.
    ///
    /// Paths in the order of their bytes keep what lies in one directory together, so each directory is new once.
    static func newDirectories(
        of path: Range<Int>, after before: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) -> [Int] {
        var shared = 0
        let common = min(path.count, before.count)
        while shared < common, bytes[path.lowerBound + shared] == bytes[before.lowerBound + shared] { shared += 1 }
        var slashes: [Int] = []
        for at in (path.lowerBound + shared)..<path.upperBound where bytes[at] == 0x2F { slashes.append(at) }
        return slashes
    }

    /// - Spec: SUM-9 … SUM-12, SUM-14
    private static func judgeRequired(
        _ known: Set<KnownFile>, header: PackageHeader, content: Set<Certificate.Content>
    ) throws(Refusal) {
        guard known.contains(.app) else { throw Refusal(.manifestMismatch, "SHA256SUMS does not list app.json") }
        guard known.contains(.capabilities) == (header.capabilities != nil) else {
            let listed = known.contains(.capabilities)
            throw Refusal(
                .manifestMismatch,
                listed
                    ? "SHA256SUMS lists capabilities.json, the header has no capabilities"
                    : "SHA256SUMS does not list capabilities.json, the header has capabilities")
        }
        let bytecode = known.contains(.bytecode) || known.contains(.olderBytecode)
        guard known.contains(.source) || bytecode else {
            throw Refusal(.manifestMismatch, "SHA256SUMS lists none of bundle.js, bundle.nshc and bundle.qbc")
        }
        if known.contains(.source), !content.contains(.source) {
            throw Refusal(.contentNotCertified, "the package holds bundle.js, its certificate allows no source")
        }
        if bytecode, !content.contains(.bytecode) {
            throw Refusal(.contentNotCertified, "the package holds bytecode, its certificate allows none")
        }
    }
}
