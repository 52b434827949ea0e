internal import NshTrust

/// The files of a package, judged by their names and in the order in which they are packed, and what the header says of
/// the app.
struct PackageContents {
    /// Where the files' bytes come from.
    let source: any FileSource
    /// The files in the order of their paths' bytes; `SHA256SUMS` is not among them.
    let files: [SourceFile]
    /// What the app is.
    let app: PackageHeader.App
    /// What the app may ask for; nil for nothing.
    let capabilities: JSONObject?
    /// Bytes of all files.
    let size: Int64

    /// Takes an inventory, sees to `app.json` and `capabilities.json`, and judges every name.
    ///
    /// - Parameters:
    ///   - inventory: What was found.
    ///   - source: Where it was found.
    ///   - options: What replaces members of `app.json`; the limits.
    ///   - observer: Told of every problem and of empty directories.
    /// - Throws: A refusal that names the first problem when there are any; what is wrong with either document.
    init(
        _ inventory: SourceInventory, from source: any FileSource, options: PackageOptions, observer: PackagingObserver
    ) throws {
        try Self.report(inventory, to: observer)
        var files = inventory.files
        let app = try AppDocument(
            source: try Self.document(AppDocument.path, among: files, of: source), options: options)
        files.removeAll { $0.path == AppDocument.path }
        files.append(SourceFile(path: AppDocument.path, size: Int64(app.bytes.count), content: .bytes(app.bytes)))
        var capabilities: JSONObject?
        if let bytes = try Self.document(AppDocument.capabilitiesPath, among: files, of: source) {
            capabilities = try AppDocument.capabilities(bytes)
            files.removeAll { $0.path == AppDocument.capabilitiesPath }
            files.append(
                SourceFile(path: AppDocument.capabilitiesPath, size: Int64(bytes.count), content: .bytes(bytes)))
        }
        files.sort { $0.path.lexicographicallyPrecedes($1.path) }
        let size = files.reduce(into: Int64(0)) { sum, file in
            let (added, overflow) = sum.addingReportingOverflow(file.size)
            sum = overflow ? Int64.max : added
        }
        guard size <= options.limits.unpackedBytes else {
            throw Refusal(
                .limitExceeded,
                "the files have \(size) bytes together, a package holds \(options.limits.unpackedBytes)")
        }
        self.source = source
        self.files = files
        self.app = app.app
        self.capabilities = capabilities
        self.size = size
    }

    /// Bytes of `SHA256SUMS`.
    var listSize: Int64 { files.reduce(0) { $0 + Int64(FileList.lineCount(of: $1.path)) } }

    /// The header that the files will have, but for what only packing tells.
    ///
    /// - Parameters:
    ///   - manifest: The digest of `SHA256SUMS`.
    ///   - plan: What else the header says.
    /// - Returns: A header whose payload has one chunk and one byte.
    func header(manifest: Digest, plan: PackagePlan) -> PackageHeader {
        PackageHeader(
            app: app, capabilities: capabilities,
            payload: PackageHeader.Payload(
                chunkSize: PayloadWriter.chunkSize, chunks: [.zero], compression: plan.compression,
                files: Int64(files.count), manifest: manifest, size: 1, unpackedSize: size + listSize),
            minimumRuntime: plan.minimumRuntime, signedAt: plan.time, annotations: plan.annotations)
    }

    /// Refuses what a reader would refuse, before the files have been read.
    ///
    /// - Throws: `limitExceeded`, `manifestMismatch`, `unsafePath`, `contentNotCertified`, `malformed`.
    func judge(by plan: PackagePlan) throws(Refusal) {
        let list = FileList.serialized(files.map { ($0.path, .zero) })
        let header = header(manifest: SHA256.hash(list), plan: plan)
        try plan.judge(header)
        _ = try FileList.judged(
            list, digest: header.payload.manifest, header: header, content: plan.certificate.content,
            limits: plan.limits)
    }

    private static func report(_ inventory: SourceInventory, to observer: PackagingObserver) throws {
        for directory in inventory.emptyDirectories {
            let shown = Printable.escaped(bytes: directory, limit: 1024)
            observer.remark(.note("\(shown) is empty; a package holds files only, so it will not be there"))
        }
        var problems = inventory.problems
        for file in inventory.files {
            guard let problem = PathRules.problem(of: file.path) else { continue }
            problems.append(SourceProblem(path: file.path, code: .unsafePath, problem: problem))
        }
        problems.sort { $0.path.lexicographicallyPrecedes($1.path) }
        guard let first = problems.first else { return }
        for problem in problems {
            observer.remark(.problem(path: problem.shown, code: problem.code.rawValue, message: problem.problem))
        }
        let others = problems.count == 1 ? "" : "; \(problems.count - 1) more cannot be packed either"
        throw Refusal(first.code, "“\(first.shown)” \(first.problem)\(others)")
    }

    private static func document(
        _ path: [UInt8], among files: [SourceFile], of source: any FileSource
    ) throws -> [UInt8]? {
        guard let file = files.first(where: { $0.path == path }) else { return nil }
        guard file.size <= AppDocument.maxBytes else {
            throw Refusal(
                .limitExceeded, "\(file.shown) has \(file.size) bytes, the limit is \(AppDocument.maxBytes)")
        }
        var buffer = [UInt8](repeating: 0, count: max(Int(file.size), 1))
        var bytes: [UInt8] = []
        try buffer.withUnsafeMutableBytes { buffer in
            try source.read(file, into: { buffer }) { bytes += $0 }
        }
        return bytes
    }
}
