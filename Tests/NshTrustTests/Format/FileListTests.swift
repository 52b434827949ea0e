import NshTrust
import TestSupport
import Testing

@Suite struct FileListTests {
    private static let digest = SHA256.hash([])

    /// Lines for the paths, in the order given.
    private static func lines(_ paths: [String]) -> [UInt8] {
        paths.flatMap { Array("\(digest.hex)  \($0)\n".utf8) }
    }

    /// Judges a list that the header describes rightly but for what `edit` changes.
    private static func code(
        _ bytes: [UInt8], content: Set<Certificate.Content> = [.source, .bytecode], limits: Limits = Limits(),
        _ edit: (inout PackageHeader) -> Void = { _ in }
    ) throws -> RefusalCode? {
        var header = try PackageBuilder.chain(of: PackageBuilder().build()).header
        header.payload.manifest = SHA256.hash(bytes)
        header.payload.files = Int64(bytes.count { $0 == 0x0A })
        edit(&header)
        return try refusalCode {
            try FileList.judged(
                bytes, digest: SHA256.hash(bytes), header: header, content: content, limits: limits)
        }
    }

    /// Judges paths together with those that must be there.
    private static func code(paths: [String], limits: Limits = Limits()) throws -> RefusalCode? {
        let all = (paths + ["app.json", "bundle.js"]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return try code(lines(all), limits: limits)
    }

    private static let good = lines(["app.json", "bundle.js"])

    @Test func readsWhatItWrites() throws {
        let files = [(Array("b".utf8), SHA256.hash([1])), (Array("a/b".utf8), SHA256.hash([2]))]
        let list = try FileList(parsing: FileList.serialized(files))
        var cursor = FileList.Cursor()
        let first = try #require(list.next(&cursor))
        let second = try #require(list.next(&cursor))
        #expect(list.count == 2 && list.next(&cursor) == nil)
        #expect(list.path(of: first) == "a/b" && list.path(of: second) == "b")
        #expect(list.hasDigest(SHA256.hash([2]), at: first) && !list.hasDigest(SHA256.hash([2]), at: second))
        #expect(list.hex(of: first) == SHA256.hash([2]).hex)
    }

    @Test func acceptsAGoodList() throws { #expect(try Self.code(Self.good) == nil) }

    @Test(.rules("SUM-2")) func refusesAListOfAnotherDigest() throws {
        #expect(try Self.code(Self.good) { $0.payload.manifest = Self.digest } == .manifestMismatch)
    }

    @Test(
        .rules("SUM-3"),
        arguments: [
            "{H}  a", "{H} a\n", "{H}  \n", "{H}\n", "\n", "{H} *a\n", "{h}  a\n", "{H}\ta\n", "\u{FEFF}{H}  a\n",
            "{H}0  a\n", "{H}  a\n\n",
        ])
    func refusesALineOfAnotherForm(_ text: String) throws {
        let line = text.split(separator: "{H}", omittingEmptySubsequences: false).joined(separator: Self.digest.hex)
            .split(separator: "{h}", omittingEmptySubsequences: false).joined(separator: Self.digest.hex.uppercased())
        #expect(try Self.code(Array(line.utf8) + Self.good) == .manifestMismatch)
    }

    @Test(.rules("SUM-3"), arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func refusesAPathThatIsNotUTF8(_ path: [UInt8]) throws {
        let bytes = Self.good + Array("\(Self.digest.hex)  z".utf8) + path + [0x0A]
        #expect(try Self.code(bytes) == .manifestMismatch)
    }

    @Test(.rules("SUM-4"), arguments: [["bundle.js", "app.json"], ["app.json", "app.json", "bundle.js"]])
    func refusesPathsOutOfOrder(_ paths: [String]) throws {
        #expect(try Self.code(Self.lines(paths)) == .manifestMismatch)
    }

    @Test(.rules("SUM-4")) func ordersByBytesNotByComponents() throws {
        #expect(try Self.code(Self.lines(["a-b", "a.b", "a/b", "app.json", "bundle.js", "é"])) == nil)
    }

    @Test(.rules("SUM-5"), arguments: [1, 3]) func refusesAnotherNumberOfFiles(_ files: Int64) throws {
        #expect(try Self.code(Self.good) { $0.payload.files = files } == .manifestMismatch)
    }

    @Test(
        .rules("PTH-9"),
        arguments: [
            ["README.md", "readme.md"], ["straße", "STRASSE"], ["Dir/a", "dir/b"], ["é", "É"], ["ŉ", "ʼn"],
            ["a/B/c", "a/b/d"], ["sha256sums"], ["SHA256sums"], ["σ", "ς"], ["x/SHA256", "X/y"],
        ])
    func refusesNamesThatDifferByCaseOnly(_ paths: [String]) throws {
        #expect(try Self.code(paths: paths) == .unsafePath)
    }

    @Test(.rules("PTH-9", "PTH-10", "SUM-1"), arguments: [["SHA256SUMS"], ["SHA256SUMS/x"], ["Sha256Sums/x"]])
    func refusesTheNameOfTheListItself(_ paths: [String]) throws {
        #expect(try Self.code(paths: paths) == .unsafePath)
    }

    @Test(.rules("PTH-10"), arguments: [["a", "a/b"], ["a", "a-b", "a/b"], ["x/y", "x/y/z"], ["app.json/x"]])
    func refusesAFileThatIsAlsoADirectory(_ paths: [String]) throws {
        #expect(try Self.code(paths: paths) == .unsafePath)
    }

    @Test(
        .rules("PTH-9"),
        arguments: [
            ["a/b", "a/c", "ab", "b/a"], ["file.js", "ﬁle2.js"], ["SHA256SUMS.txt", "a/SHA256SUMS"], ["i", "ı"],
        ])
    func acceptsNamesThatOnlyLookAlike(_ paths: [String]) throws {
        #expect(try Self.code(paths: paths) == nil)
    }

    @Test(.rules("PTH-1", "SUM-14")) func judgesEachListedPath() throws {
        #expect(try Self.code(paths: ["../x"]) == .unsafePath)
    }

    @Test(.rules("LIM-4")) func countsDirectoriesOnce() throws {
        var limits = Limits()
        limits.directories = 4
        let four = ["a/b/c/1", "a/b/c/2", "a/b/3", "a-/4"]
        #expect(try Self.code(paths: four, limits: limits) == nil)
        #expect(try Self.code(paths: four + ["z/5"], limits: limits) == .limitExceeded)
    }

    @Test(.rules("LIM-8")) func boundsTheList() throws {
        let long = [UInt8](repeating: 0x61, count: FileList.maxBytes + 1)
        #expect(try refusalCode { try FileList(parsing: long) } == .limitExceeded)
        #expect(try refusalCode { try FileList(parsing: long.dropLast()) } == .manifestMismatch)
    }

    @Test(.rules("SUM-9")) func asksForAppJSON() throws {
        #expect(try Self.code(Self.lines(["app.jsom", "bundle.js"])) == .manifestMismatch)
    }

    @Test(.rules("SUM-10")) func asksForCapabilitiesExactlyWhenTheHeaderHasThem() throws {
        let with = Self.lines(["app.json", "bundle.js", "capabilities.json"])
        #expect(try Self.code(with) == .manifestMismatch)
        #expect(try Self.code(with) { $0.capabilities = [:] } == nil)
        #expect(try Self.code(Self.good) { $0.capabilities = [:] } == .manifestMismatch)
    }

    @Test(.rules("SUM-11", "SUM-13")) func asksForABundle() throws {
        #expect(try Self.code(Self.lines(["app.json", "bundle.js.map"])) == .manifestMismatch)
        #expect(try Self.code(Self.lines(["app.json", "assets/bundle.js"])) == .manifestMismatch)
        #expect(try Self.code(Self.lines(["app.json", "bundle.nshc"])) == nil)
        #expect(try Self.code(Self.lines(["app.json", "bundle.qbc"])) == nil)
    }

    @Test(
        .rules("SUM-12"),
        arguments: [
            ("bundle.js", Certificate.Content.bytecode), ("bundle.nshc", .source), ("bundle.qbc", .source),
        ])
    func asksTheCertificateAboutTheKindOfCode(_ bundle: String, _ allowed: Certificate.Content) throws {
        let list = Self.lines(["app.json", bundle])
        let other = Set(Certificate.Content.allCases).subtracting([allowed])
        #expect(try Self.code(list, content: [allowed]) == .contentNotCertified)
        #expect(try Self.code(list, content: other) == nil)
    }

    @Test(.rules("SUM-14")) func judgesInTheOrderOfTheSpecification() throws {
        var limits = Limits()
        limits.directories = 0
        // Each list breaks the rule it is refused for and every later one.
        let unordered = Self.lines(["d/b", "../a"])
        #expect(try Self.code(unordered, limits: limits) { $0.payload.manifest = Self.digest } == .manifestMismatch)
        #expect(try Self.code(unordered, limits: limits) == .manifestMismatch)
        #expect(try Self.code(Self.lines(["../a", "d/b"]), limits: limits) == .unsafePath)
        #expect(try Self.code(Self.lines(["D/b", "d/b"]), limits: limits) == .unsafePath)
        #expect(try Self.code(Self.lines(["d/b"]), limits: limits) == .limitExceeded)
        #expect(try Self.code(Self.lines(["bundle.js"]), content: []) == .manifestMismatch)
        #expect(try Self.code(Self.good, content: []) == .contentNotCertified)
    }

    @Test(.rules("PTH-9"), arguments: [64, 100, 10_000]) func findsACollisionAmongManyNames(_ namesPerPass: Int) throws
    {
        func code(_ paths: [String]) throws -> RefusalCode? {
            let sorted = paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let list = try FileList(parsing: Self.lines(sorted))
            return try refusalCode { try list.judgePaths(namesPerPass: namesPerPass) }
        }
        let many = (0..<1500).map { "d\($0 / 2)/\($0)" }
        #expect(try code(many + ["zz/b"]) == nil)
        #expect(try code(many + ["Zz/a", "zz/b"]) == .unsafePath)
        #expect(try code(many + ["D700/x"]) == .unsafePath)
        #expect(try code(many + ["d3"]) == .unsafePath)
    }
}
