internal import NshTrust

/// Takes a payload's bytes, cuts them in chunks, and keeps them until the header in front of them can be written.
///
/// Chunks go from hand to hand: they are gathered here, written on a thread of their own and hashed on another. One that
/// is alone, or for which there is no thread, is written and hashed here.
///
/// - Spec: PKG-11 … PKG-13
final class PayloadWriter {
    /// Bytes of a chunk.
    static let chunkSize: Int64 = 1 << 20
    /// Chunks that are gathered, written and hashed at once.
    private static let slots = 4

    private let spool: SpoolFile
    private let ring = SlotRing(count: slots, byteCount: Int(chunkSize))
    private var chunk: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var line: Line?
    private var hasLine = true
    /// The digests of the chunks, complete behind `finish`.
    private(set) var chunks: [Digest] = []
    /// The bytes so far.
    private(set) var size: Int64 = 0

    /// Prepares a payload that goes to the spool.
    init(to spool: SpoolFile) {
        self.spool = spool
        chunk = ring.take()
    }

    deinit { line?.stop() }

    /// Takes bytes.
    ///
    /// - Throws: `ioFailure`, `storeFull`, perhaps for bytes that were taken earlier.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            if filled == chunk.count { try passOn() }
            let count = min(chunk.count - filled, rest.count)
            let target = UnsafeMutableRawBufferPointer(rebasing: chunk[filled..<(filled + count)])
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            filled += count
            size += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Ends the last chunk, and waits until everything has been written.
    ///
    /// - Throws: `ioFailure`, `storeFull`.
    func finish() throws {
        let last = UnsafeRawBufferPointer(rebasing: chunk[..<filled])
        guard let line else { return try keep(last) }
        line.give(last)
        self.line = nil
        chunks = try line.finish()
    }

    private func passOn() throws {
        if line == nil, hasLine { line = Line(to: spool, ring) }
        hasLine = line != nil
        if let line {
            line.give(UnsafeRawBufferPointer(chunk))
            try line.check()
            chunk = ring.take()
        } else {
            try keep(UnsafeRawBufferPointer(chunk))
        }
        filled = 0
    }

    private func keep(_ chunk: UnsafeRawBufferPointer) throws {
        guard !chunk.isEmpty else { return }
        try spool.append(chunk)
        chunks.append(SHA256.hash(chunk))
    }
}

/// The threads that write and hash chunks; an empty chunk ends them.
private final class Line {
    private let toWrite: Conveyor<UnsafeRawBufferPointer>
    private let failure: Locked<(any Error)?>
    private let digests: Locked<[Digest]>
    private let threads: [HelperThread]
    private var isRunning = true

    /// Starts the threads; nil when there are none to be had.
    init?(to spool: SpoolFile, _ ring: SlotRing) {
        let toWrite = Conveyor<UnsafeRawBufferPointer>(count: ring.count)
        let toHash = Conveyor<UnsafeRawBufferPointer>(count: ring.count)
        let failure = Locked<(any Error)?>(nil)
        let digests = Locked<[Digest]>([])
        let hashing = HelperThread {
            while case let chunk = toHash.take(), !chunk.isEmpty {
                let digest = SHA256.hash(chunk)
                digests.withLock { $0.append(digest) }
                ring.giveBack()
            }
        }
        guard let hashing else { return nil }
        let writing = HelperThread {
            while true {
                let chunk = toWrite.take()
                do {
                    if failure.withLock({ $0 == nil }) { try spool.append(chunk) }
                } catch {
                    failure.withLock { $0 = error }
                }
                toHash.give(chunk)
                if chunk.isEmpty { return }
            }
        }
        guard let writing else {
            toHash.give(Self.end)
            return nil
        }
        (self.toWrite, self.failure, self.digests) = (toWrite, failure, digests)
        threads = [writing, hashing]
    }

    private static var end: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    func give(_ chunk: UnsafeRawBufferPointer) { if !chunk.isEmpty { toWrite.give(chunk) } }

    /// Throws what has failed so far.
    func check() throws { if let error = failure.withLock({ $0 }) { throw error } }

    /// Ends the threads once they have done all that they were given.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        toWrite.give(Self.end)
        for thread in threads { thread.join() }
    }

    func finish() throws -> [Digest] {
        stop()
        try check()
        return digests.withLock { $0 }
    }
}
