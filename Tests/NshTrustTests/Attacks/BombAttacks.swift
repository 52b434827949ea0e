import NshTrust
import TestSupport
import Testing

/// Little that becomes much: frames that decompress without end, counts without bound.
@Suite struct BombAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    /// A frame whose blocks each stand for 128 KiB of one byte.
    private static func frame(of blocks: Int, byte: UInt8, behind start: [UInt8] = []) -> [UInt8] {
        var frame = ZstdFrame(storing: start)
        let run = ZstdFrame.Block(kind: 1, size: 128 << 10, content: [byte])
        frame.blocks += Array(repeating: run, count: blocks)
        return frame.encoded
    }

    @Test(.attack("I1"), .rules("PAY-3", "TAR-14", "SUM-8", "LIM-5", "LIM-12"))
    func aBombStopsAtTheSizeThatWasSigned() throws {
        // 4 bytes for each 128 KiB: 100,000 of them would be 13 GB.
        let blocks = 100_000
        let clock = ContinuousClock()
        let archive = PackageBuilder().archive
        var package = PackageBuilder()
        // Zeros behind the end of the archive.
        package.packing = .custom { Self.frame(of: blocks, byte: 0, behind: $0) }
        let took = try clock.measure { try host.mustRefuse(package, .payloadCorrupt) }
        // A member that is larger than was signed.
        var member = TarMember("assets/logo.svg")
        member.size = 1 << 33 - 1
        let start = Array(archive.prefix(1024)) + PackageBuilder().archive.dropFirst(1024).prefix(1024) + member.block
        package.packing = .custom { _ in Self.frame(of: blocks, byte: 0x61, behind: Array(start)) }
        let tookMore = try clock.measure { try host.mustRefuse(package, .manifestMismatch) }
        #expect(took + tookMore < .seconds(60), "the rest of the frame was not decompressed")
        package.packing = .custom { _ in Self.frame(of: blocks, byte: 0x61) }
        try host.mustRefuse(package, .payloadCorrupt)
    }

    @Test(.attack("I1"), .rules("LIM-5", "LIM-8", "LIM-9", "LIM-10")) func whatIsSignedHasLimitsToo() throws {
        var package = PackageBuilder()
        package.editHeader = { $0.payload.unpackedSize = 4 << 30 + 1 }
        try host.mustRefuse(package, .limitExceeded)
        package = PackageBuilder()
        package.editHeader = { $0.payload.unpackedSize = 4 << 30 }
        package.editMembers = { $0[0].size = 16 << 20 + 1 }
        try host.mustRefuse(package, .limitExceeded)
        package.editMembers = { $0[1].size = 1 << 20 + 1 }
        try host.mustRefuse(package, .limitExceeded)
        package = PackageBuilder()
        package.packing = .custom { archive in
            var frame = ZstdFrame(storing: archive)
            frame.window = 0xA0
            return frame.encoded
        }
        try host.mustRefuse(package, .limitExceeded)
    }

    @Test(.attack("I1"), .rules("SUM-13")) func whatIsCompressedInsideStaysCompressed() throws {
        var package = PackageBuilder()
        let inner = Self.frame(of: 100_000, byte: 0)
        package.files["assets/bomb.zst"] = inner
        package.packing = .zstd
        let opened = try host.open(package)
        #expect(opened.report.unpackedSize.map { $0 < 1 << 20 } == true)
        #expect(try host.directory.read("state/\(try tree())/assets/bomb.zst") == inner)
    }

    private func tree() throws -> String {
        try #require(try host.core.store.read { try $0.installedPackages(after: nil, apps: 1000) }.first).tree
    }

    @Test(.attack("I7"), .rules("LIM-3", "LIM-4", "SUM-5")) func countsAreBoundedBeforeAFileIsMade() throws {
        var package = PackageBuilder()
        package.editHeader = { $0.payload.files = 100_001 }
        try host.mustRefuse(package, .limitExceeded)
        let small = try AttackHost {
            $0.limits.files = 10
            $0.limits.directories = 5
        }
        package = PackageBuilder()
        for number in 0..<8 { package.files["assets/a\(number)"] = [] }
        try small.mustRefuse(package, .limitExceeded)
        package = PackageBuilder()
        for number in 0..<5 { package.files["assets/\(number)/x"] = [] }
        try small.mustRefuse(package, .limitExceeded)
        // More members than were signed.
        package = PackageBuilder()
        package.editMembers = { members in
            members += (0..<20_000).map { TarMember("assets/many/\($0)") }
        }
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(.attack("I7"), .rules("PTH-9", "SUM-4")) func manyNamesWithOneBeginningCostNoMoreThanTheyAre() throws {
        let beginning = "assets/" + String(repeating: "deep/", count: 20) + String(repeating: "n", count: 200)
        func judge(_ count: Int) throws -> Duration {
            var package = PackageBuilder()
            for number in 0..<count { package.files["\(beginning)\(number)"] = [] }
            let file = package.build()
            return try ContinuousClock().measure { try PackageBuilder.verify(file) }
        }
        _ = try judge(100)
        let few = try judge(1000)
        let many = try judge(8000)
        #expect(many < few * 40, "8 times as many names took \(many), before \(few)")
    }
}
