internal import NshTrust

/// Reads the files of a package twice: once for their digests, which come first in the archive, once to pack them.
///
/// The digests are not computed a second time: a file that has other bytes then is found when the package is verified.
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

    /// Packs the files into a spool.
    ///
    /// - Returns: The header that describes what lies in the spool.
    /// - Throws: `ioFailure`, also for a file that changed; `cancelled`, `limitExceeded`.
    func pack(into spool: SpoolFile) throws -> PackageHeader {
        var memory = [UInt8](repeating: 0, count: PackageContents.bufferCount)
        return try memory.withUnsafeMutableBytes { buffer in
            let progress = progress
            let digests = try SourceDigests.compute(contents) { try progress.advance(by: $0) }
            let list = FileList.serialized(zip(contents.files, digests).map { ($0.path, $1) })
            var header = contents.header(list: list, plan: plan)
            try plan.judge(header)
            _ = try FileList.judged(
                list, digest: header.payload.manifest, header: header, content: plan.certificate.content,
                limits: plan.limits)
            let payload = PayloadWriter(to: spool)
            try pack(list, into: payload, through: buffer)
            try payload.finish()
            header.payload.size = payload.size
            header.payload.chunks = payload.chunks
            return header
        }
    }

    private func pack(
        _ list: [UInt8], into payload: PayloadWriter, through buffer: UnsafeMutableRawBufferPointer
    ) throws {
        let encoder = try plan.level.map { try ZstdEncoder(level: $0, to: payload.write) }
        let tar = TarWriter(to: encoder.map { $0.encode } ?? payload.write)
        try tar.beginFile(Array(FileList.path.utf8), size: Int64(list.count))
        try list.withUnsafeBytes { try tar.write($0) }
        try tar.endFile(size: Int64(list.count))
        for file in contents.files {
            try tar.beginFile(file.path, size: file.size)
            try contents.source.read(file, through: buffer) { piece in
                try tar.write(piece)
                try progress.advance(by: piece.count)
            }
            try tar.endFile(size: file.size)
        }
        try tar.finish()
        try encoder?.finish()
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

    /// Counts more bytes, never above the total; on any thread, and the observer is told by one at a time.
    ///
    /// - Throws: `cancelled`.
    func advance(by count: Int) throws {
        if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
        let (total, observer) = (total, observer)
        done.withLock { done in
            done = min(done + Int64(count), total)
            observer.progress(done, total)
        }
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
