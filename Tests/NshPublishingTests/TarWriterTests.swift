import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct TarWriterTests {
    /// Reads a file's header blocks with the readers' own gate.
    private func read(_ header: [UInt8]) throws -> (path: [UInt8], size: Int64, blocks: Int) {
        var gate = TarGate()
        var at = 0
        while true {
            let announcement = try header[at..<(at + 512)].withUnsafeBytes { try gate.announce($0) }
            at += 512
            switch announcement {
            case .zeros: throw Refusal(.payloadCorrupt, "zeros")
            case .pax(let count):
                try header[at..<(at + count)].withUnsafeBytes { try gate.takePax($0) }
                #expect(header[(at + count)..<((at + count + 511) / 512 * 512)].allSatisfy { $0 == 0 })
                at += (count + 511) / 512 * 512
            case .file(let size):
                #expect(at == header.count)
                return (gate.path, size, at / 512)
            }
        }
    }

    private static func component(_ count: Int) -> String { String(repeating: "c", count: count) }

    @Test(
        .rules("TAR-9", "TAR-12"),
        arguments: [
            ([1], 1), ([100], 1), ([101], 3), ([255], 3), ([155, 100], 1), ([156, 100], 3), ([155, 101], 3),
            ([70, 70, 70], 1), (Array(repeating: 31, count: 32), 5),
        ] as [([Int], Int)])
    func writesAPathWhereItFits(components: [Int], blocks: Int) throws {
        let path = components.map(Self.component).joined(separator: "/")
        let found = try read(TarWriter.header(of: Array(path.utf8), size: 5))
        #expect(String(decoding: found.path, as: UTF8.self) == path)
        #expect(found.size == 5)
        #expect(found.blocks == blocks)
    }

    @Test(.rules("TAR-3", "TAR-11"), arguments: [0, 1, 511, 512, 8 << 30 - 1, 8 << 30, 1 << 53] as [Int64])
    func writesASizeWhereItFits(size: Int64) throws {
        let found = try read(TarWriter.header(of: Array("a".utf8), size: size))
        #expect(found.size == size)
        #expect(found.blocks == (size < 8 << 30 ? 1 : 3))
    }

    @Test(.rules("TAR-9"), arguments: [101, 988, 989, 990, 991, 992, 1024]) func countsItsPaxRecordsRight(count: Int)
        throws
    {
        // Around 990 the digits of the length change the length.
        let path = Array(String(repeating: "c", count: count).utf8)
        #expect(try read(TarWriter.header(of: path, size: 0)).path == path)
    }

    @Test(.rules("TAR-13", "TAR-14")) func padsFilesAndEndsTheArchive() throws {
        var bytes: [UInt8] = []
        let collected = Collector()
        let tar = TarWriter { collected.bytes += $0 }
        try tar.beginFile(Array("a".utf8), size: 3)
        try [1, 2, 3].withUnsafeBytes { try tar.write(UnsafeRawBufferPointer(rebasing: $0[..<3])) }
        try tar.endFile(size: 3)
        try tar.beginFile(Array("b".utf8), size: 0)
        try tar.endFile(size: 0)
        try tar.finish()
        bytes = collected.bytes
        #expect(bytes.count == 512 * 5)
        #expect(bytes[(512 * 3)...].allSatisfy { $0 == 0 })
        #expect(bytes[515..<1024].allSatisfy { $0 == 0 })
    }
}

private final class Collector {
    var bytes: [UInt8] = []
}

@Suite struct ZstdEncoderTests {
    private func frame(_ pieces: [[UInt8]], level: Int) throws -> [UInt8] {
        let collected = Collector()
        let encoder = try ZstdEncoder(level: level) { collected.bytes += $0 }
        for piece in pieces { try piece.withUnsafeBytes { try encoder.encode($0) } }
        try encoder.finish()
        return collected.bytes
    }

    @Test(.rules("LIM-10", "PAY-4"), arguments: 1...19) func boundsTheWindow(level: Int) throws {
        let frame = try frame([[UInt8](repeating: 1, count: 100_000)], level: level)
        #expect(frame.prefix(4) == [0x28, 0xB5, 0x2F, 0xFD])
        // No single segment, no checksum, no dictionary, no content size.
        #expect(frame[4] == 0)
        let window = 1 << (10 + Int(frame[5] >> 3))
        #expect(window <= 4 << 20)
    }

    @Test(.rules("PKG-17")) func theSamePiecesGiveTheSameFrame() throws {
        let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 * 7919 >> 5) }
        let pieces = stride(from: 0, to: bytes.count, by: 1 << 20).map { at in
            Array(bytes[at..<min(at + (1 << 20), bytes.count)])
        }
        #expect(try frame(pieces, level: 9) == frame(pieces, level: 9))
    }

    @Test(arguments: [0, -1, 20, 22]) func refusesOtherLevels(level: Int) {
        expectTrouble(.badRequest) { _ = try frame([], level: level) }
    }
}
