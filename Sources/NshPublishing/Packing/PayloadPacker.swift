internal import NshTrust

/// Reads the files of a package and packs them.
///
/// Their digests come first in the archive. What is compressed is therefore read twice: once for the digests, once to pack
/// it; a file that has other bytes then is found when the package is verified. What is not compressed has its place before
/// it is read, so it is read once, and the digests are written in front of it.
struct PayloadPacker {
    private let contents: PackageContents
    private let plan: PackagePlan
    private let progress: PackingProgress

    /// Prepares the work.
    init(_ contents: PackageContents, plan: PackagePlan, progress: PackingProgress) {
        self.contents = contents
        self.plan = plan
        self.progress = progress
    }

    /// Packs the files as they are, each byte where it belongs.
    ///
    /// - Parameters:
    ///   - place: Where the payload goes.
    ///   - layout: What lies where in it.
    /// - Returns: The header that describes it.
    /// - Throws: `ioFailure`, also for a file that changed; `storeFull`, `cancelled`.
    func pack(at place: PayloadPlace, as layout: PayloadLayout) throws -> PackageHeader {
        let digests = PackedFileDigests()
        let payload = PayloadWriter(to: place, behind: layout.headCount, hashing: digests)
        try packFiles(into: payload.gatherer)
        var list: [UInt8] = []
        let chunks = try payload.finish {
            list = self.list(digests.digests)
            var head: [UInt8] = []
            head.reserveCapacity(Int(layout.headCount))
            try pack(list, with: TarWriter { head += $0 })
            return head
        }
        return header(of: payload, chunks, list)
    }

    /// Packs and compresses the files into a spool.
    ///
    /// - Parameters:
    ///   - spool: Takes the payload, from its first byte on.
    ///   - level: The zstd level.
    /// - Returns: The header that describes what lies in the spool.
    /// - Throws: `ioFailure`, also for a file that changed; `storeFull`, `cancelled`.
    func pack(into spool: SpoolFile, level: Int) throws -> PackageHeader {
        let progress = progress
        let list = list(try SourceDigests.compute(contents) { try progress.advance(by: $0) })
        let compression = try Compression(level: level, into: PayloadWriter(to: spool.place))
        // One thread reads while another compresses.
        let stream = ChunkGatherer(chunkSize: 256 << 10, slots: 4, [compression.take])
        try pack(list, with: TarWriter(to: stream.write))
        try packFiles(into: stream)
        try stream.finish()
        return header(of: compression.payload, try compression.finish(), list)
    }

    /// What compresses chunks of an archive.
    ///
    /// Sendable: one thread at a time uses it, the last when the others have ended.
    private final class Compression: @unchecked Sendable {
        let payload: PayloadWriter
        private let encoder: ZstdEncoder

        init(level: Int, into payload: PayloadWriter) throws {
            self.payload = payload
            encoder = try ZstdEncoder(level: level, to: payload.gatherer.write)
        }

        func take(_ chunk: PayloadChunk) throws { try encoder.encode(chunk.bytes) }

        func finish() throws -> [Digest] {
            try encoder.finish()
            return try payload.finish()
        }
    }

    private func packFiles(into stream: ChunkGatherer) throws {
        let tar = TarWriter(to: stream.write)
        for file in contents.files {
            try tar.beginFile(file.path, size: file.size)
            try contents.source.read(file, into: stream.room) { piece in
                stream.addToFile(piece)
                try progress.advance(by: piece.count)
            }
            stream.endFile()
            try tar.endFile(size: file.size)
        }
        try tar.finish()
    }

    private func list(_ digests: [Digest]) -> [UInt8] {
        FileList.serialized(zip(contents.files, digests).map { ($0.path, $1) })
    }

    private func pack(_ list: [UInt8], with tar: TarWriter) throws {
        try tar.beginFile(Array(FileList.path.utf8), size: Int64(list.count))
        try list.withUnsafeBytes { try tar.write($0) }
        try tar.endFile(size: Int64(list.count))
    }

    private func header(of payload: PayloadWriter, _ chunks: [Digest], _ list: [UInt8]) -> PackageHeader {
        var header = contents.header(manifest: SHA256.hash(list), plan: plan)
        header.payload.size = payload.size
        header.payload.chunks = chunks
        return header
    }
}
