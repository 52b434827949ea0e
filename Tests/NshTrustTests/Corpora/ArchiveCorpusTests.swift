import NshTrust
import TestSupport
import Testing

/// Archives and names that other readers were fooled by, inside signed packages.
@Suite(.enabled(if: SharedCorpora.isAvailable, "no shared test data")) struct ArchiveCorpusTests {
    /// A line of `paths.txt`.
    struct Name: Sendable, CustomTestStringConvertible {
        let id: String
        let isDirectory: Bool
        let group: String
        let isRefused: Bool
        let bytes: [UInt8]
        var testDescription: String { id }

        /// What the corpus leaves to the project: `./a.txt` is refused; letters that only look like others, `~` and `%`
        /// are plain letters.
        private static let refusedByPolicy: Set<String> = ["P023"]
        /// The ligature of P082 is a letter of its own, which full case folding takes apart: it may stand alone only.
        var collides: Bool { isRefused || id == "P082" }

        init?(_ line: Substring) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count >= 6, !line.hasPrefix("#") else { return nil }
            id = String(fields[0])
            isDirectory = fields[1] == "d"
            group = String(fields[2])
            isRefused = fields[3] == "refuse" || fields[3] == "policy" && Self.refusedByPolicy.contains(id)
            guard let bytes = Hex.decode(fields[5].utf8, count: fields[5].utf8.count / 2) else { return nil }
            self.bytes = bytes
        }
    }

    static let names: [Name] = {
        guard let text = try? SharedCorpora.bytes("corpora/paths.txt") else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap(Name.init)
    }()

    static let archives = SharedCorpora.names(in: "corpora/archives")

    @Test func theCorpusIsThere() {
        #expect(Self.names.count > 90 && Self.archives.count > 60)
    }

    @Test(.rules("PTH-1", "PTH-2", "PTH-3", "PTH-4", "PTH-5", "PTH-7", "TAR-4"), arguments: names)
    func judgesAMemberOfTheName(_ name: Name) throws {
        var package = PackageBuilder()
        package.editMembers = { members in
            let member = TarMember("placeholder", kind: name.isDirectory ? "5" : "0")
            members.insert(contentsOf: [.pax(TarMember.record("path", name.bytes)), member], at: 1)
        }
        // A name that is harmless by itself is still not the one that the list has next.
        let isAlone = name.group == "-" && name.isRefused
        let problem = PathRules.problem(of: name.bytes)
        let expected: RefusalCode =
            if name.bytes.count > 2000 {
                .payloadCorrupt  // no pax header holds it
            } else if name.isDirectory {
                .unsafeMember
            } else {
                problem != nil ? .unsafePath : .manifestMismatch
            }
        #expect(try package.refusal() == expected)
        if !name.isDirectory, isAlone { #expect(problem != nil) }
        if !name.isRefused, !name.isDirectory { #expect(problem == nil) }
    }

    @Test(.rules("PTH-9", "PTH-10", "SUM-3", "SUM-4")) func judgesListedNamesInTheirGroups() throws {
        let files = Self.names.filter { !$0.isDirectory }
        var groups = Dictionary(grouping: files.filter { $0.group != "-" }, by: \.group)
        for name in files where name.group == "-" { groups[name.id] = [name] }
        for (group, names) in groups {
            let paths = (names.map(\.bytes) + [Array("app.json".utf8), Array("bundle.js".utf8)])
                .sorted { $0.lexicographicallyPrecedes($1) }
            let digest = Array(SHA256.hash([]).hex.utf8)
            let lines: [UInt8] = paths.flatMap { path -> [UInt8] in digest + [0x20, 0x20] + path + [0x0A] }
            var package = PackageBuilder()
            package.editSums = { $0 = lines }
            let code = try package.refusal()
            if names.contains(where: \.collides) {
                // A name with a line feed, that is empty, not UTF-8 or there twice does not even make a list.
                #expect(code == .unsafePath || code == .manifestMismatch, "\(group)")
                #expect(try refusalCode { try FileList(parsing: lines).judgePaths() } != nil, "\(group)")
            } else {
                #expect(try refusalCode { try FileList(parsing: lines).judgePaths() } == nil, "\(group)")
            }
        }
    }

    private static let codes: Set<RefusalCode> = [.payloadCorrupt, .unsafeMember, .unsafePath, .manifestMismatch]

    @Test(.rules("TAR-1", "TAR-2", "TAR-4", "TAR-14", "SUM-1"), arguments: archives)
    func refusesAnArchiveAsAWholePayload(_ name: String) throws {
        let archive = try SharedCorpora.bytes("corpora/archives/\(name)")
        for packing in [PackageBuilder.Packing.none, .storedFrame, .custom({ $0 })] {
            var package = PackageBuilder()
            package.packing = packing
            package.editArchive = { $0 = archive }
            let code = try #require(try package.refusal())
            #expect(Self.codes.contains(code))
        }
    }

    @Test(.rules("TAR-4", "TAR-8", "TAR-9", "SUM-6"), arguments: archives)
    func refusesAnArchiveBehindTheRequiredMembers(_ name: String) throws {
        let archive = try SharedCorpora.bytes("corpora/archives/\(name)")
        var package = PackageBuilder()
        package.end = archive
        package.editHeader = { $0.payload.unpackedSize += 1 << 20 }
        let code = try #require(try package.refusal())
        #expect(Self.codes.contains(code))
    }
}
