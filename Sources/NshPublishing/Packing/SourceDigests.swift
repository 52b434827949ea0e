internal import NshTrust
import Synchronization

/// The digests of files that are to be packed, computed on several threads.
///
/// Sendable: each thread takes the number of a file that no other one has, and writes the digest at that place alone.
final class SourceDigests: @unchecked Sendable {
    private let contents: PackageContents
    private let advance: @Sendable (Int) throws -> Void
    private let digests: UnsafeMutableBufferPointer<Digest>
    private let next = Atomic(0)
    private let failure = Locked<(at: Int, error: any Error)?>(nil)
    private let hasFailed = Atomic(false)

    /// Bytes, of a file or of several, for which another thread is worth its start.
    private static let worthwhileBytes: Int64 = 1 << 20
    /// The most threads: more wait for memory.
    private static let threadsMax = 4
    private static let bufferCount = 256 << 10

    /// Reads all files of a package.
    ///
    /// - Parameters:
    ///   - contents: The files.
    ///   - advance: Told how many bytes have been read, on any thread; what it throws stops the work.
    /// - Returns: Their digests, in their order.
    /// - Throws: `ioFailure` for the first file that has changed or cannot be read; what `advance` throws.
    static func compute(_ contents: PackageContents, advance: @escaping @Sendable (Int) throws -> Void) throws
        -> [Digest]
    {
        let work = SourceDigests(contents, advance)
        let others = min(Processors.count, threadsMax, contents.files.count) - 1
        let threads =
            contents.size < worthwhileBytes ? [] : (0..<max(others, 0)).compactMap { _ in HelperThread(work.run) }
        work.run()
        for thread in threads { thread.join() }
        if let failure = work.failure.withLock({ $0 }) { throw failure.error }
        return Array(work.digests)
    }

    private init(_ contents: PackageContents, _ advance: @escaping @Sendable (Int) throws -> Void) {
        self.contents = contents
        self.advance = advance
        digests = .allocate(capacity: contents.files.count)
        digests.initialize(repeating: .zero)
    }

    deinit {
        digests.deinitialize()
        digests.deallocate()
    }

    /// What ends the reading of a file because another one has failed.
    private struct Stopped: Error {}

    /// Computes one digest after another until none is left or something has failed.
    @Sendable private func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferCount, alignment: 4096)
        defer { buffer.deallocate() }
        while !hasFailed.load(ordering: .relaxed) {
            let at = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard at < digests.count else { return }
            do {
                digests[at] = try digest(of: contents.files[at], through: buffer)
            } catch is Stopped {
                return
            } catch {
                // Of several files that fail the first is named; the others are not read to their ends for that.
                hasFailed.store(true, ordering: .relaxed)
                failure.withLock { if at < $0?.at ?? .max { $0 = (at, error) } }
            }
        }
    }

    private func digest(of file: SourceFile, through buffer: UnsafeMutableRawBufferPointer) throws -> Digest {
        var hash = SHA256()
        try contents.source.read(file, into: { buffer }) { piece in
            if hasFailed.load(ordering: .relaxed) { throw Stopped() }
            hash.update(piece)
            try advance(piece.count)
        }
        return hash.finish()
    }
}
