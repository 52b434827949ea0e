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
        let tar = TarWriter(to: payload.write)
        for file in contents.files {
            try tar.beginFile(file.path, size: file.size)
            try contents.source.read(file, into: payload.room) { piece in
                payload.addToFile(piece)
                try progress.advance(by: piece.count)
            }
            payload.endFile()
            try tar.endFile(size: file.size)
        }
        try tar.finish()
        try payload.finish()
        let list = list(digests.digests)
        var head: [UInt8] = []
        head.reserveCapacity(Int(layout.headCount))
        try pack(list, with: TarWriter { head += $0 })
        try payload.finish(head: head)
        return header(of: payload, list)
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
        let payload = PayloadWriter(to: spool.place)
        let encoder = try ZstdEncoder(level: level, to: payload.write)
        let tar = TarWriter(to: encoder.encode)
        try pack(list, with: tar)
        var memory = [UInt8](repeating: 0, count: PackageContents.bufferCount)
        try memory.withUnsafeMutableBytes { buffer in
            for file in contents.files {
                try tar.beginFile(file.path, size: file.size)
                try contents.source.read(file, into: { buffer }) { piece in
                    try tar.write(piece)
                    try progress.advance(by: piece.count)
                }
                try tar.endFile(size: file.size)
            }
        }
        try tar.finish()
        try encoder.finish()
        try payload.finish()
        return header(of: payload, list)
    }

    private func list(_ digests: [Digest]) -> [UInt8] {
        FileList.serialized(zip(contents.files, digests).map { ($0.path, $1) })
    }

    private func pack(_ list: [UInt8], with tar: TarWriter) throws {
        try tar.beginFile(Array(FileList.path.utf8), size: Int64(list.count))
        try list.withUnsafeBytes { try tar.write($0) }
        try tar.endFile(size: Int64(list.count))
    }

    private func header(of payload: PayloadWriter, _ list: [UInt8]) -> PackageHeader {
        var header = contents.header(manifest: SHA256.hash(list), plan: plan)
        header.payload.size = payload.size
        header.payload.chunks = payload.chunks
        return header
    }
}
