import NshTrust
import TestSupport
import Testing

@Suite struct ZstdFrameTests {
    /// Refuses a package whose payload is what the function makes of the archive.
    private static func code(
        _ edit: (inout PackageBuilder) -> Void = { _ in }, pack: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws -> RefusalCode? {
        var package = PackageBuilder()
        package.packing = .custom(pack)
        edit(&package)
        return try package.refusal()
    }

    /// Refuses a package whose frame of stored blocks is edited.
    private static func code(_ edit: @escaping @Sendable (inout ZstdFrame) -> Void) throws -> RefusalCode? {
        try code(pack: { archive in
            var frame = ZstdFrame(storing: archive)
            edit(&frame)
            return frame.encoded
        })
    }

    private static let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]

    @Test(.rules("PAY-3", "PAY-5")) func acceptsTheFormsOfOneFrame() throws {
        #expect(try Self.code { _ in } == nil)
        #expect(try Self.code { $0.contentSize = UInt64($0.blocks.reduce(0) { $0 + $1.size }) } == nil)
        #expect(
            try Self.code {
                $0.contentSize = UInt64($0.blocks.reduce(0) { $0 + $1.size })
                $0.window = nil
            } == nil)
        #expect(try Self.code { $0.blocks.append(.stored([])) } == nil)
        #expect(try Self.code { $0.blocks.insert(.stored([]), at: 0) } == nil)
        #expect(try Self.code(pack: { ZstdFrame(storing: $0, step: 7).encoded }) == nil)
        for level: Int32 in [1, 9, 19] {
            #expect(try Self.code(pack: { ZstdFrame.compressed($0, level: level) }) == nil)
        }
    }

    @Test(.rules("PAY-5", "PAY-6")) func refusesABlockThatHoldsMoreThanTheFrameAtItsFirstByte() throws {
        // What the block decodes to begins with a member that would be refused for itself.
        func code(stating difference: Int) throws -> RefusalCode? {
            try Self.code({ $0.editMembers = { $0[0].kind = 0x32 } }) { archive in
                let whole = ZstdFrame.compressed(archive)
                let isSingle = whole[4] & 0x20 != 0
                let start = 5 + (isSingle ? 0 : 1) + [isSingle ? 1 : 0, 2, 4, 8][Int(whole[4] >> 6)]
                let content = Array(whole[(start + 3)...])
                var frame = ZstdFrame([ZstdFrame.Block(kind: 2, size: content.count, content: content)])
                frame.window = nil
                frame.contentSize = UInt64(archive.count + difference)
                return frame.encoded
            }
        }
        #expect(try code(stating: 0) == .unsafeMember)
        #expect(try code(stating: -1) == .payloadCorrupt)
    }

    @Test(.rules("PAY-5")) func refusesADamagedBlockBehindTheArchive() throws {
        let code = try Self.code { frame in
            frame.blocks.append(ZstdFrame.Block(kind: 2, size: 3, content: [0xFF, 0xFF, 0xFF]))
        }
        #expect(code == .payloadCorrupt)
    }

    @Test(.rules("PAY-5")) func decodesRuns() throws {
        let code = try Self.code { frame in
            frame.blocks += (0..<8).map { _ in ZstdFrame.Block(kind: 1, size: 131_072, content: [0]) }
        }
        #expect(code == nil)
    }

    @Test(.rules("PAY-3")) func refusesAnythingBesideTheFrame() throws {
        let packs: [@Sendable ([UInt8]) -> [UInt8]] = [
            { $0 },
            { ZstdFrame(storing: $0).encoded + [0] },
            { Self.skippable + ZstdFrame(storing: $0).encoded },
            { ZstdFrame(storing: $0).encoded + Self.skippable },
            { ZstdFrame(storing: $0).encoded + ZstdFrame(storing: []).encoded },
            { ZstdFrame(storing: Array($0[..<1024])).encoded + ZstdFrame(storing: Array($0[1024...])).encoded },
            { [0x27] + ZstdFrame(storing: $0).encoded.dropFirst() },
            { _ in Self.skippable },
            { _ in [0x28] },
        ]
        for pack in packs { #expect(try Self.code(pack: pack) == .payloadCorrupt) }
    }

    @Test(.rules("PAY-3", "PAY-2")) func looksForBytesBehindTheFrameInTheNextChunk() throws {
        let pack: @Sendable ([UInt8]) -> [UInt8] = { archive in
            let frame = ZstdFrame(storing: archive)
            let fill = 65536 - frame.encoded.count - 8
            var padded = ZstdFrame(storing: archive + [UInt8](repeating: 0, count: fill))
            padded.window = 0x38
            return padded.encoded + [UInt8](repeating: 7, count: 65536 - padded.encoded.count + 10)
        }
        #expect(try Self.code(pack: pack) == .payloadCorrupt)
    }

    @Test(.rules("PAY-4")) func refusesADictionary() throws {
        #expect(try Self.code { $0.dictionary = 7 } == .payloadCorrupt)
        #expect(try Self.code { $0.dictionary = 1 << 24 } == .payloadCorrupt)
    }

    @Test(.rules("PAY-5")) func refusesADamagedFrame() throws {
        #expect(try Self.code { $0.reservedBit = true } == .payloadCorrupt)
        #expect(try Self.code { $0.blocks.append(.reserved) } == .payloadCorrupt)
        #expect(try Self.code { $0.ends = false } == .payloadCorrupt)
        #expect(try Self.code { $0.checksum = 12345 } == .payloadCorrupt)
        for difference in [-1, 1] {
            let code = try Self.code {
                $0.contentSize = UInt64($0.blocks.reduce(0) { $0 + $1.size } + difference)
            }
            #expect(code == .payloadCorrupt)
        }
        #expect(try Self.code { $0.blocks[0].kind = 2 } == .payloadCorrupt)
        #expect(try Self.code(pack: { ZstdFrame.compressed($0).dropLast() }) == .payloadCorrupt)
        #expect(try Self.code(pack: { Array(ZstdFrame.compressed($0).prefix(5)) }) == .payloadCorrupt)
        #expect(try Self.code { $0.blocks[0] = .init(kind: 1, size: 131_073, content: [0]) } == .payloadCorrupt)
    }

    @Test(
        .rules("LIM-10"),
        arguments: [
            (UInt8(0x68), true), (0x69, false), (0x70, false), (0xFF, false), (0x00, true),
        ])
    func boundsTheWindow(_ window: UInt8, _ isRight: Bool) throws {
        let code = try Self.code {
            $0.window = window
            if window == 0 { $0 = Self.small($0) }
        }
        #expect(code == (isRight ? nil : .limitExceeded))
    }

    /// The same frame in blocks of 1 KiB, as a window of that size needs it.
    private static func small(_ frame: ZstdFrame) -> ZstdFrame {
        var small = ZstdFrame(storing: frame.blocks.flatMap(\.content), step: 1024)
        small.window = 0
        return small
    }

    @Test(.rules("LIM-10")) func boundsTheContentOfASingleSegment() throws {
        func code(_ size: UInt64) throws -> RefusalCode? {
            try Self.code {
                $0.window = nil
                $0.contentSize = size
            }
        }
        #expect(try code(8 << 20) == .payloadCorrupt)
        #expect(try code(8 << 20 + 1) == .limitExceeded)
        #expect(try code(.max) == .limitExceeded)
    }

    @Test(.rules("PAY-6", "POL-13"), arguments: [0x32, 0x78] as [UInt8])
    func judgesWhatStandsBeforeADamagedBlock(_ kind: UInt8) throws {
        // The block behind the bad member is damaged in a way that only decoding finds.
        let edits: [@Sendable (inout ZstdFrame) -> Void] = [
            { $0.blocks.append(.reserved) },
            { $0.blocks.append(.init(kind: 2, size: 3, content: [1, 2, 3])) },
            { $0.blocks.append(.init(kind: 1, size: 131_073, content: [0])) },
            // What only the end of the frame shows does not hide what the last block holds.
            { $0.contentSize = UInt64($0.blocks.reduce(0) { $0 + $1.size } + 1) },
            { $0.contentSize = UInt64($0.blocks.reduce(0) { $0 + $1.size } - 1) },
            { $0.checksum = 12345 },
        ]
        for edit in edits {
            var package = PackageBuilder()
            package.editMembers = { $0.insert(TarMember("link", kind: "2"), at: 1) }
            package.packing = .custom { archive in
                var frame = ZstdFrame(storing: archive)
                edit(&frame)
                return frame.encoded
            }
            #expect(try package.refusal() == .unsafeMember)
        }
    }

    @Test(.rules("PAY-5"), arguments: [1, 300, 1023, 1025, 70_000])
    func readsASingleSegmentOfAnySize(_ size: Int) throws {
        let noise = Noise.bytes(size)
        let code = try Self.code({ $0.files["noise"] = noise }) { archive in
            var frame = ZstdFrame(storing: archive)
            frame.window = nil
            frame.contentSize = UInt64(archive.count)
            return frame.encoded
        }
        #expect(code == nil)
    }

    @Test(.rules("PAY-6")) func aDamagedBlockFailsWhereItsBytesWouldStand() throws {
        let code = try Self.code({ $0.editMembers = { $0.insert(TarMember("link", kind: "2"), at: 1) } }) { archive in
            ZstdFrame([.init(kind: 2, size: 3, content: [1, 2, 3])] + ZstdFrame(storing: archive).blocks).encoded
        }
        #expect(code == .payloadCorrupt)
    }

    @Test(.rules("PAY-1", "PAY-3"), arguments: [1, 65535, 65536, 65537, 130_000])
    func readsFramesThatCrossChunks(_ at: Int) throws {
        var package = PackageBuilder()
        package.packing = .zstd
        package.files["noise"] = Noise.bytes(200_000)
        #expect(try package.refusal() == nil)
        package.damagePayload = { $0[at] ^= 1 }
        #expect(try package.refusal() == .payloadCorrupt)
    }
}
