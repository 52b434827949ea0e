import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct PayloadWriterTests {
    private static let chunk = Int(PayloadWriter.chunkSize)
    private let scratch = Scratch()

    private static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 7919 >> 5) }
    }

    private static func digests(ofChunksOf bytes: [UInt8]) -> [Digest] {
        stride(from: 0, to: bytes.count, by: chunk).map { SHA256.hash(Array(bytes[$0..<min($0 + chunk, bytes.count)])) }
    }

    private static func written(in place: PayloadPlace, _ count: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try place.slice(count).readAll { bytes += $0 }
        return bytes
    }

    @Test(
        .rules("PKG-13"),
        arguments: [1, 512, chunk - 1, chunk, chunk + 1, 2 * chunk + 7],
        [1, chunk - 512, chunk, chunk + 5, 6 * chunk + 9])
    func hashesEachChunkWhereverTheHeadEnds(headCount: Int, rest: Int) throws {
        let (head, files) = (Self.bytes(headCount, seed: 1), Self.bytes(rest, seed: 2))
        let spool = try SpoolFile(beside: scratch.file("out"))
        let hashes = PackedFileDigests()
        let writer = PayloadWriter(to: spool.place, behind: Int64(headCount), hashing: hashes)
        var at = 0
        while at < rest {
            let room = try writer.gatherer.room()
            let piece = files[at...].prefix(room.count)
            room.copyBytes(from: piece)
            writer.gatherer.addToFile(UnsafeRawBufferPointer(rebasing: room[..<piece.count]))
            at += piece.count
        }
        writer.gatherer.endFile()
        writer.gatherer.endFile()
        let chunks = try writer.finish { head }
        #expect(writer.size == Int64(headCount + rest))
        #expect(try Self.written(in: spool.place, writer.size) == head + files)
        #expect(chunks == Self.digests(ofChunksOf: head + files))
        #expect(hashes.digests == [SHA256.hash(files), SHA256.hash([])])
    }

    @Test(.rules("PKG-13"), arguments: [1, chunk - 1, chunk, chunk + 1, 9 * chunk, 9 * chunk + 1])
    func hashesEachChunkWithoutAHead(count: Int) throws {
        let bytes = Self.bytes(count, seed: 3)
        let spool = try SpoolFile(beside: scratch.file("out"))
        let writer = PayloadWriter(to: spool.place)
        for start in stride(from: 0, to: count, by: 70_001) {
            try bytes[start..<min(start + 70_001, count)].withUnsafeBytes { try writer.gatherer.write($0) }
        }
        try writer.gatherer.finish()
        let chunks = try writer.finish()
        #expect(try Self.written(in: spool.place, writer.size) == bytes)
        #expect(chunks == Self.digests(ofChunksOf: bytes))
    }

    @Test(arguments: [1, 20]) func saysThatItCouldNotWrite(chunks: Int) throws {
        let place = PayloadPlace(descriptor: -1, start: 0, what: "nothing")
        let writer = PayloadWriter(to: place)
        let bytes = Self.bytes(Self.chunk, seed: 4)
        expectTrouble(.ioFailure) {
            for _ in 0..<chunks { try bytes.withUnsafeBytes { try writer.gatherer.write($0) } }
            try writer.gatherer.finish()
        }
    }

    // MARK: - What stops the work

    @Test func aCopyOnTheCallersThreadCanBeCancelled() throws {
        let (from, to) = (try SpoolFile(beside: scratch.file("a")), try SpoolFile(beside: scratch.file("b")))
        try [UInt8](repeating: 1, count: 1000).withUnsafeBytes { try from.append($0) }
        var observer = PackagingObserver()
        observer.isCancelled = { true }
        expectTrouble(.cancelled) {
            _ = try PayloadCopy(of: from.place.slice(1000), to: to.place, observer: observer)
        }
    }

    /// A file that cannot be read, and one that never ends.
    private final class Source: FileSource {
        func read(
            _ file: SourceFile, into room: () throws -> UnsafeMutableRawBufferPointer,
            _ body: (UnsafeRawBufferPointer) throws -> Void
        ) throws {
            switch file.content {
            case .bytes(let bytes): try SourceReading.pieces(of: file, bytes, into: room, body)
            case .spool: throw SourceReading.changed(file)
            case .tree: while true { try body(UnsafeRawBufferPointer(rebasing: try room()[..<1])) }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func aFileThatFailsStopsTheReadingOfTheOthers() throws {
        var inventory = SourceInventory(filesMax: 10)
        try inventory.add(SourceFile(path: Array("a".utf8), size: 1 << 30, content: .spool(0)))
        try inventory.add(SourceFile(path: Array("b".utf8), size: 1 << 30, content: .tree("b", changedAt: 0)))
        let app = Array(PublishingBench.app["app.json"]!.utf8)
        try inventory.add(SourceFile(path: AppDocument.path, size: Int64(app.count), content: .bytes(app)))
        let contents = try PackageContents(
            inventory, from: Source(), options: PackageOptions(), observer: PackagingObserver())
        expectTrouble(.ioFailure) { _ = try SourceDigests.compute(contents) { _ in } }
    }
}
