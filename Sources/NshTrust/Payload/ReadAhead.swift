import Synchronization

/// Reads and checks chunks on a thread of its own, a few ahead of their use: one core hashes while the other unpacks.
///
/// A failure takes the place of its chunk: it is thrown when that chunk is asked for, so the bytes before it are judged
/// first.
final class ReadAhead<Input: PackageInput>: ChunkSource, @unchecked Sendable {
    // Sendable because of the hand-over below: `reader` belongs to the thread from `init` until `finish` has joined it;
    // the ring, the conveyor and the flag are made for several threads; the rest is the caller's alone.
    private let reader: ChunkReader<Input>
    private let ring: SlotRing
    private let chunks: Conveyor<Result<UnsafeRawBufferPointer, any Error>>
    private let isStopping = Atomic(false)
    private var thread: HelperThread?
    private var hasEnded = false

    /// Bytes that all slots together may have: one is read, one unpacked, one hashed file by file, and one lies between.
    private static var budget: Int { 4 << 20 }
    /// The most slots.
    private static var slotsMax: Int { 16 }

    /// Starts reading where that brings something and does not need too much memory.
    ///
    /// - Parameters:
    ///   - reader: Before its first chunk; nobody else uses it until `finish` returns.
    ///   - payload: The shape of the payload.
    /// - Returns: Nil for short payloads, large chunks, and inputs that may keep their reader waiting.
    static func started(_ reader: ChunkReader<Input>, payload: PackageHeader.Payload) -> ReadAhead? {
        guard reader.input.allowsReadingAhead, payload.chunks.count > 1 else { return nil }
        guard payload.size >= 512 << 10, payload.chunkSize <= budget / 2 else { return nil }
        let count = min(max(budget / reader.bufferCount, 2), slotsMax)
        let ahead = ReadAhead(reader, slots: count)
        // Without the thread the chunks are read one by one.
        return ahead.start() ? ahead : nil
    }

    private init(_ reader: ChunkReader<Input>, slots count: Int) {
        self.reader = reader
        ring = SlotRing(count: count, byteCount: reader.bufferCount)
        // Each chunk that waits has a slot: the thread is never kept waiting here, where `finish` would not reach it.
        chunks = Conveyor(count: count)
    }

    private func start() -> Bool {
        thread = HelperThread { [unowned self] in readAll() }
        return thread != nil
    }

    /// Runs on the thread until the last chunk, a failure, or `finish`.
    private func readAll() {
        while true {
            let slot = ring.take()
            if isStopping.load(ordering: .acquiring) { return }
            let result = Result { UnsafeRawBufferPointer(rebasing: slot[..<(try reader.read(into: slot))]) }
            chunks.give(result)
            guard case .success(let chunk) = result, !chunk.isEmpty else { return }
        }
    }

    func next() throws -> UnsafeRawBufferPointer? {
        // The end may be asked for again.
        if hasEnded { return nil }
        let chunk = try chunks.take().get()
        hasEnded = chunk.isEmpty
        return hasEnded ? nil : chunk
    }

    var giveBack: @Sendable () -> Void { { [ring] in ring.giveBack() } }

    func finish() {
        isStopping.store(true, ordering: .releasing)
        ring.giveBack()
        thread?.join()
    }
}
