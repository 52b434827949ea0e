import NshTrust
import TestSupport
import Testing

@Suite struct TarGateTests {
    /// Lets a fresh gate judge the member's header block.
    private static func announce(_ member: TarMember) throws -> TarGate.Announcement {
        var gate = TarGate()
        return try member.block.withUnsafeBytes { try gate.announce($0) }
    }

    private static func code(_ member: TarMember) throws -> RefusalCode? {
        try refusalCode { try announce(member) }
    }

    private static func code(_ edit: (inout TarMember) -> Void) throws -> RefusalCode? {
        var member = TarMember("assets/a.txt", [1, 2, 3])
        edit(&member)
        return try code(member)
    }

    /// Lets a gate judge pax data and the file behind it; returns the file's path and size.
    private static func file(
        pax: [UInt8], _ member: TarMember = TarMember("name", [1])
    ) throws -> (path: [UInt8], size: Int64) {
        var gate = TarGate()
        _ = try TarMember.pax(pax).block.withUnsafeBytes { try gate.announce($0) }
        try pax.withUnsafeBytes { try gate.takePax($0) }
        guard case .file(let size) = try member.block.withUnsafeBytes({ try gate.announce($0) }) else {
            throw Trouble(.ioFailure, "no file")
        }
        return (gate.path, size)
    }

    @Test(.rules("TAR-15")) func refusesACutBlock() throws {
        let block = Array(TarMember("name", [1]).block.dropLast())
        var gate = TarGate()
        #expect(try refusalCode { try block.withUnsafeBytes { try gate.announce($0) } } == .payloadCorrupt)
    }

    @Test(.rules("TAR-12")) func announcesAFileWithItsPathAndSize() throws {
        var gate = TarGate()
        var member = TarMember("logo.svg", [1, 2, 3])
        member.prefix = Array("assets/images".utf8)
        #expect(try member.block.withUnsafeBytes { try gate.announce($0) } == .file(size: 3))
        #expect(gate.path == Array("assets/images/logo.svg".utf8))
        member.name = [UInt8](repeating: 0x61, count: 100)
        member.prefix = []
        #expect(try member.block.withUnsafeBytes { try gate.announce($0) } == .file(size: 3))
        #expect(gate.path == member.name)
    }

    @Test(.rules("TAR-1")) func refusesAWrongChecksum() throws {
        let right = Int(TarMember("a").block[148..<154].reduce(0) { $0 << 3 | Int($1 - 0x30) })
        #expect(try Self.code(TarMember("a")) == nil)
        for wrong in [right + 1, right - 1, 0] {
            #expect(
                try Self.code {
                    $0.name = [0x61]; $0.data = []; $0.checksum = TarMember.octal(wrong, digits: 6)
                } == .payloadCorrupt)
        }
    }

    @Test(.rules("TAR-2"), arguments: [(257, "ustar  \0"), (257, "\0\0\0\0\0\0\0\0"), (263, "01"), (262, " ")])
    func refusesAnotherMagicOrVersion(_ offset: Int, _ text: String) throws {
        #expect(try Self.code { $0.fields[offset] = Array(text.utf8) } == .payloadCorrupt)
    }

    @Test(
        .rules("TAR-3"),
        arguments: [
            ("00000000003\0", true), ("          3 ", true), ("000000000003", true), ("3           ", true),
            ("3\0\0\0\0\0\0\0\0\0\0\0", true), ("  3 \0 \0    ", true), ("            ", false),
            ("\0\0\0\0\0\0\0\0\0\0\0\0", false), ("00000000008\0", false), ("-0000000003\0", false),
            ("0000 000003\0", false), ("0000003\00001", false), ("\0000000003\0", false), ("0x000000003\0", false),
            ("3\n          ", false),
        ])
    func readsSizesInOctal(_ field: String, _ isRight: Bool) throws {
        let code = try Self.code { $0.fields[124] = Array(field.utf8) }
        #expect(code == (isRight ? nil : .payloadCorrupt))
    }

    @Test(.rules("TAR-3")) func refusesBinarySizes() throws {
        #expect(try Self.code { $0.fields[124] = [0x80] + [UInt8](repeating: 0, count: 11) } == .payloadCorrupt)
        #expect(try Self.code { $0.fields[124] = [UInt8](repeating: 0xFF, count: 12) } == .payloadCorrupt)
    }

    @Test(.rules("TAR-4"), arguments: Array("\u{0}1234567gLKSDXVNMA"))
    func refusesEveryOtherType(_ kind: Character) throws {
        #expect(try Self.code { $0.kind = kind.asciiValue ?? 0 } == .unsafeMember)
    }

    @Test(.rules("TAR-4")) func refusesEveryByteButTwoAsAType() throws {
        for kind in UInt8.min...UInt8.max where kind != 0x30 && kind != 0x78 {
            #expect(try Self.code { $0.kind = kind } == .unsafeMember)
        }
    }

    @Test(.rules("TAR-5")) func refusesALinkName() throws {
        #expect(try Self.code { $0.fields[157] = [0x61] } == .unsafeMember)
        #expect(
            try Self.code {
                $0.kind = 0x78; $0.fields[157] = [0x61]
            } == .unsafeMember)
    }

    @Test(
        .rules("TAR-6"),
        arguments: [("0000010\0", false), ("0000001\0", false), ("        ", true), ("\0\0\0\0\0\0\0\0", true)])
    func refusesDeviceNumbers(_ field: String, _ isRight: Bool) throws {
        for offset in [329, 337] {
            #expect(try Self.code { $0.fields[offset] = Array(field.utf8) } == (isRight ? nil : .unsafeMember))
        }
    }

    @Test(.rules("TAR-7"), arguments: [50, 99, 158, 256, 346, 499]) func refusesBytesBehindANUL(_ offset: Int) throws {
        #expect(try Self.code { $0.fields[offset] = [0x61] } == .payloadCorrupt)
        #expect(
            try Self.code {
                $0.kind = 0x78; $0.fields[offset] = [0x61]
            } == .payloadCorrupt)
    }

    @Test(.rules("TAR-8")) func refusesAPaxHeaderForNothing() throws {
        var gate = TarGate()
        let pax = TarMember.pax().block
        #expect(try pax.withUnsafeBytes { try gate.announce($0) } == .pax(count: 0))
        #expect(try refusalCode { try pax.withUnsafeBytes { try gate.announce($0) } } == .payloadCorrupt)
        let zeros = [UInt8](repeating: 0, count: 512)
        #expect(try refusalCode { try zeros.withUnsafeBytes { try gate.announce($0) } } == .payloadCorrupt)
    }

    @Test(.rules("TAR-8")) func appliesAPaxHeaderToOneFileOnly() throws {
        var gate = TarGate()
        let record = TarMember.record("path", "x")
        _ = try TarMember.pax(record).block.withUnsafeBytes { try gate.announce($0) }
        try record.withUnsafeBytes { try gate.takePax($0) }
        let file = TarMember("name").block
        _ = try file.withUnsafeBytes { try gate.announce($0) }
        #expect(gate.path == [0x78])
        _ = try file.withUnsafeBytes { try gate.announce($0) }
        #expect(gate.path == Array("name".utf8))
    }

    @Test(.rules("TAR-9", "TAR-12")) func takesThePaxPath() throws {
        #expect(try Self.file(pax: []).path == Array("name".utf8))
        #expect(try Self.file(pax: TarMember.record("path", "a/b=c\nd")).path == Array("a/b=c\nd".utf8))
        #expect(try Self.file(pax: TarMember.record("path", "")).path == [])
    }

    @Test(
        .rules("TAR-9", "TAR-10"),
        arguments: [
            "13 path=abcd\n ", "12 path=abcd\n", "14 path=abcd\n", "013 path=abcd\n", " path=abcd\n", "+13 path=abcd\n",
            "13 path=abcd ", "13 path abcd\n", "13 path=abcd\n\0", "13 pathabcd\n", "5 a=\n", "12", "13 ", "0 ",
            "13 path=abcd\n13 path=abcd\n", "20 mtime=1764470000\n", "13 comment=x\n", "16 linkpath=abc\n",
            "12345678901 path=abcd\n", "7 path=", "9 =abcde\n", "13 PATH=abcd\n", "2 \n", "3 \n",
            "1 path=a\n", "9xpath=a\n",
        ])
    func refusesOtherRecords(_ records: String) throws {
        #expect(try refusalCode { try Self.file(pax: Array(records.utf8)) } == .payloadCorrupt)
    }

    @Test(.rules("LIM-11")) func boundsAPaxHeader() throws {
        #expect(try Self.announce(TarMember.pax([UInt8](repeating: 0, count: 2048))) == .pax(count: 2048))
        #expect(try Self.code(TarMember.pax([UInt8](repeating: 0, count: 2049))) == .payloadCorrupt)
    }

    @Test(
        .rules("TAR-11"),
        arguments: [
            ("8589934592", true), ("9999999999999999", true), ("8589934591", false), ("1", false), ("0", false),
            ("08589934592", false), ("10000000000000000", false), ("+8589934592", false), ("", false),
            ("8589934592 ", false), ("0x200000000", false),
        ])
    func takesAPaxSizeOf8GiBAndMore(_ digits: String, _ isRight: Bool) throws {
        let pax = TarMember.record("size", digits)
        if isRight {
            #expect(try Self.file(pax: pax).size == Int64(digits))
        } else {
            #expect(try refusalCode { try Self.file(pax: pax) } == .payloadCorrupt)
        }
    }

    @Test(.rules("TAR-14")) func seesABlockOfZeros() throws {
        var gate = TarGate()
        var block = [UInt8](repeating: 0, count: 512)
        #expect(try block.withUnsafeBytes { try gate.announce($0) } == .zeros)
        block[511] = 1
        #expect(try refusalCode { try block.withUnsafeBytes { try gate.announce($0) } } == .payloadCorrupt)
    }

    @Test(.rules("TAR-16")) func leavesTheRestAlone() throws {
        let code = try Self.code {
            $0.fields = [
                100: Array("4777777\0".utf8), 108: [0x80, 0xFF], 116: Array("zzz".utf8), 136: Array("-1".utf8),
                265: Array("root\0\u{7F}".utf8), 297: Array("wheel".utf8), 500: [1, 2, 3],
            ]
        }
        #expect(code == nil)
    }

    @Test(.rules("TAR-17")) func judgesABlockInOrder() throws {
        // Each member breaks what it is refused for, and what is judged later.
        #expect(
            try Self.code {
                $0.kind = 0x32; $0.checksum = Array("0000000\0".utf8)
            } == .payloadCorrupt)
        #expect(
            try Self.code {
                $0.kind = 0x32; $0.fields[257] = [0x55]
            } == .payloadCorrupt)
        #expect(
            try Self.code {
                $0.kind = 0x32; $0.fields[124] = Array("zz\0".utf8)
            } == .payloadCorrupt)
        #expect(
            try Self.code {
                $0.kind = 0x32; $0.fields[50] = [0x61]
            } == .unsafeMember)
        #expect(try Self.code { $0.fields = [158: [0x61], 329: [0x31]] } == .payloadCorrupt)
        #expect(try Self.code { $0.fields = [50: [0x61], 329: [0x31]] } == .unsafeMember)
        var link = TarMember("name", kind: "2")
        link.data = [1]
        #expect(try refusalCode { try Self.file(pax: TarMember.record("size", "5"), link) } == .unsafeMember)
    }
}
