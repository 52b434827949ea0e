import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

/// Databases that are cut, emptied, exchanged or locked, and stores that many use at once.
@Suite struct StoreAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    private var database: String { host.state + "/trust.sqlite" }

    @Test(.attack("K8", "C7"), .rules("STO-5")) func aDamagedDatabaseIsNeverAFreshOne() throws {
        try host.open(PackageBuilder(build: 7))
        let good = try host.directory.read("state/trust.sqlite")
        for damage in ["empty", "half", "one page", "text", "zeros"] {
            var bytes = good
            switch damage {
            case "empty": bytes = []
            case "half": bytes = Array(good.prefix(good.count / 2 / 4096 * 4096))
            case "one page": bytes = Array(good.prefix(4096))
            case "text": bytes = Array("this is no database\n".utf8)
            default: bytes = [UInt8](repeating: 0, count: good.count)
            }
            try host.directory.write("state/trust.sqlite", bytes)
            chmod(database, 0o600)
            let code = AttackHost.code {
                let again = try host.again()
                _ = try again.open(PackageBuilder(build: 6))
            }
            #expect(code == .storeCorrupt, "\(damage)")
            #expect(try host.directory.read("state/trust.sqlite") == bytes, "\(damage): left as it was")
        }
    }

    @Test(.attack("K8"), .rules("STO-5")) func aPageThatIsWipedLosesNoFloor() throws {
        try host.open(PackageBuilder(build: 7))
        let good = try host.directory.read("state/trust.sqlite")
        var corrupt = 0
        for page in 0..<good.count / 4096 {
            for filler in [[UInt8](repeating: 0, count: 4096), Noise.bytes(4096, seed: UInt64(page + 1))] {
                var bytes = good
                bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: filler)
                try host.directory.write("state/trust.sqlite", bytes)
                chmod(database, 0o600)
                let code = AttackHost.code {
                    let again = try host.again()
                    _ = try again.open(PackageBuilder(build: 6))
                }
                #expect(code == .storeCorrupt || code == .rolledBack, "page \(page): \(code?.rawValue ?? "accepted")")
                if code == .storeCorrupt { corrupt += 1 }
            }
        }
        #expect(corrupt > 2)
    }

    @Test(.attack("K8"), .rules("STO-5", "STO-7"), arguments: [1, 512, 4096, 100_000])
    func aStrangersJournalUndoesNothing(_ count: Int) throws {
        try host.open(PackageBuilder(build: 7))
        try host.directory.write("state/trust.sqlite-journal", Noise.bytes(count))
        chmod(database + "-journal", 0o600)
        let again = try host.again()
        #expect(try again.build() == 7)
        try again.mustRefuse(PackageBuilder(build: 6), .rolledBack)
    }

    @Test(.attack("C23"), .rules("POL-17")) func aStoreThatCannotBeWrittenStillVerifies() throws {
        try host.open(PackageBuilder(build: 7))
        let before = try host.contents
        let reader = try host.again(access: .readOnly)
        let file = try host.write(PackageBuilder(build: 8).build())
        #expect(try reader.core.verify(path: file).info?.build == 8)
        #expect(AttackHost.code { try reader.open(file: file) } == .ioFailure)
        #expect(AttackHost.code { try reader.apply(ListBuilder()) } == .ioFailure)
        #expect(try host.contents == before)
    }

    @Test(.attack("K5"), .rules("STO-10"), arguments: ["trust.sqlite", "trust.sqlite-journal"])
    func theDatabaseIsNoPackage(_ name: String) throws {
        try host.open(PackageBuilder(build: 7))
        let path = host.state + "/" + name
        let other = host.directory.path + "/other.nshpkg"
        #expect(link(path, other) == 0)
        host.directory.link("link.nshpkg", to: path)
        for path in [path, other, host.directory.path + "/link.nshpkg"] {
            #expect(AttackHost.code { try host.core.verify(path: path) } == .notARegularFile)
            #expect(AttackHost.code { try host.open(file: path) } == .notARegularFile)
        }
        #expect(unlink(other) == 0)
        #expect(try host.build() == 7)
    }

    @Test(.attack("K2", "K1"), .rules("STO-1", "STO-8", "POL-18")) func ofManyAcceptsAtOnceTheGreatestStays()
        async throws
    {
        let builds = (0..<24).map { $0 * 7 % 24 + 1 }
        let files = try builds.map { try host.write(PackageBuilder(build: Int64($0)).build()) }
        let pool = WorkerPool(maximumThreads: 8)
        let others = try (0..<8).map { _ in try host.again() }
        let codes = try await withThrowingTaskGroup(of: NshError.Code?.self) { group in
            for (index, file) in files.enumerated() {
                group.addTask {
                    try await pool.runBlocking { _ in AttackHost.code { try others[index % 8].open(file: file) } }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == nil || $0 == .rolledBack }, "nobody was told to come back later")
        #expect(try host.build() == 24)
    }

    @Test(.attack("K9"), .rules("POL-20", "STO-1"), arguments: ["bundle.js", "SHA256SUMS", "assets/logo.svg", "tree"])
    func filesThatAreEmptyAfterACrashAreWrittenAgain(_ name: String) throws {
        let package = PackageBuilder(build: 7)
        let tree = try host.open(package).directory.path
        if name == "tree" {
            try FileManager.default.removeItem(atPath: tree)
        } else {
            chmod("\(tree)/\(name)", 0o644)
            #expect(truncate("\(tree)/\(name)", 0) == 0)
        }
        let again = try host.again { $0.treeCheck = .everyFile }
        let opened = try again.open(package)
        #expect(opened.directory.path == tree)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: tree + "/bundle.js"))
        #expect(Array(bytes) == package.files["bundle.js"])
    }
}
