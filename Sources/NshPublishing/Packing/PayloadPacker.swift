internal import NshTrust

/// Reads the files of a package twice: once for their digests, which come first in the archive, once to pack them.
///
/// A file that is not the same both times ends the work.
struct PayloadPacker {
    private let contents: PackageContents
    private let plan: PackagePlan
    private let observer: PackagingObserver
    private let progress: PackingProgress

    /// Prepares the work.
    init(_ contents: PackageContents, plan: PackagePlan, observer: PackagingObserver, progress: PackingProgress) {
        self.contents = contents
        self.plan = plan
        self.observer = observer
        self.progress = progress
    }

    /// Packs the files into a spool.
    ///
    /// - Returns: The header that describes what lies in the spool.
    /// - Throws: `ioFailure`, also for a file that changed; `cancelled`, `limitExceeded`.
    func pack(into spool: SpoolFile) throws -> PackageHeader {
        var memory = [UInt8](repeating: 0, count: PackageContents.bufferCount)
        return try memory.withUnsafeMutableBytes { buffer in
            let digests = try contents.files.map { try digest(of: $0, through: buffer) }
            let list = FileList.serialized(zip(contents.files, digests).map { ($0.path, $1) })
            var header = contents.header(list: list, plan: plan)
            try plan.judge(header)
            _ = try FileList.judged(
                list, digest: header.payload.manifest, header: header, content: plan.certificate.content,
                limits: plan.limits)
            let payload = PayloadWriter(to: spool)
            try pack(list, digests, into: payload, through: buffer)
            payload.finish()
            header.payload.size = payload.size
            header.payload.chunks = payload.chunks
            return header
        }
    }

    private func digest(of file: SourceFile, through buffer: UnsafeMutableRawBufferPointer) throws -> Digest {
        var hash = SHA256()
        try contents.source.read(file, through: buffer) { piece in
            hash.update(piece)
            try advance(piece.count)
        }
        return hash.finish()
    }

    private func pack(
        _ list: [UInt8], _ digests: [Digest], into payload: PayloadWriter, through buffer: UnsafeMutableRawBufferPointer
    ) throws {
        let encoder = try plan.level.map { try ZstdEncoder(level: $0, to: payload.write) }
        let tar = TarWriter(to: encoder.map { $0.encode } ?? payload.write)
        try tar.beginFile(Array(FileList.path.utf8), size: Int64(list.count))
        try list.withUnsafeBytes { try tar.write($0) }
        try tar.endFile(size: Int64(list.count))
        for (file, digest) in zip(contents.files, digests) {
            var hash = SHA256()
            try tar.beginFile(file.path, size: file.size)
            try contents.source.read(file, through: buffer) { piece in
                hash.update(piece)
                try tar.write(piece)
                try advance(piece.count)
            }
            try tar.endFile(size: file.size)
            guard hash.finish() == digest else { throw SourceReading.changed(file) }
        }
        try tar.finish()
        try encoder?.finish()
    }

    private func advance(_ count: Int) throws {
        if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
        progress.advance(by: Int64(count))
    }
}

/// Counts the bytes of all steps and tells the observer.
final class PackingProgress: Sendable {
    private let observer: PackagingObserver
    private let total: Int64
    private let done = Locked<Int64>(0)

    /// Starts counting.
    ///
    /// - Parameters:
    ///   - total: The bytes of all steps.
    ///   - observer: Who is told.
    init(total: Int64, observer: PackagingObserver) {
        self.total = total
        self.observer = observer
    }

    /// Counts more bytes, never above the total.
    func advance(by count: Int64) {
        let total = total
        let now = done.withLock { done in
            done = min(done + count, total)
            return done
        }
        observer.progress(now, total)
    }

    /// Returns a counter for the last step, which reports its own bytes and fills what is left of the total.
    ///
    /// - Parameter stepTotal: The bytes that the step will have reported at its end.
    /// - Returns: The counter; takes the bytes done so far.
    func remainder(_ stepTotal: Int64) -> @Sendable (Int64) -> Void {
        let before = done.withLock { $0 }
        let (left, total, observer) = (total - before, total, observer)
        return { count in
            let part = Double(min(count, stepTotal)) / Double(max(stepTotal, 1))
            observer.progress(before + Int64(part * Double(left)), total)
        }
    }
}
