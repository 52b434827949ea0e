internal import NshTrust

/// Gathers bytes in chunks, and sends each chunk through the hands of a few threads.
///
/// A chunk that is alone, or for which there is no thread, is seen to on the calling one.
final class ChunkGatherer {
    private let steps: [ChunkLine.Step]
    private let ring: SlotRing
    private var line: ChunkLine?
    private var hasLine = true
    /// The chunk that is gathered, and which part of it is there.
    private var chunk: UnsafeMutableRawBufferPointer
    private var gathered: Range<Int>
    private var files: [PayloadChunk.FilePart] = []
    /// Where the next byte lies.
    private(set) var offset: Int64

    /// Prepares the work.
    ///
    /// - Parameters:
    ///   - chunkSize: Bytes of a chunk.
    ///   - slots: Chunks that are in somebody's hands at once, at least 1.
    ///   - start: Where the first byte lies, when others will stand before it.
    ///   - steps: What is done with each chunk.
    init(chunkSize: Int, slots: Int, from start: Int64 = 0, _ steps: [ChunkLine.Step]) {
        self.steps = steps
        ring = SlotRing(count: slots, byteCount: chunkSize)
        offset = start
        let first = Int(start % Int64(chunkSize))
        gathered = first..<first
        chunk = ring.take()
    }

    deinit { line?.stop() }

    /// Where the next bytes go, at least one.
    ///
    /// - Throws: What a step has thrown for bytes that were taken earlier.
    func room() throws -> UnsafeMutableRawBufferPointer {
        if gathered.upperBound == chunk.count { try passOn() }
        return UnsafeMutableRawBufferPointer(rebasing: chunk[gathered.upperBound...])
    }

    /// Takes bytes of a file that were put at the beginning of the room.
    func addToFile(_ bytes: UnsafeRawBufferPointer) {
        files.append(.bytes(bytes))
        add(bytes.count)
    }

    /// Ends a file.
    func endFile() { files.append(.end) }

    /// Takes bytes that belong to no file.
    ///
    /// - Throws: What a step has thrown, perhaps for bytes that were taken earlier.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let room = try room()
            let count = min(room.count, rest.count)
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            add(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Ends the last chunk, and waits until all of them have been through all hands.
    ///
    /// - Throws: What a step has thrown.
    func finish() throws {
        if !gathered.isEmpty {
            let last = takeChunk()
            if let line { try line.give(last) } else { for step in steps { try step(last) } }
        }
        try line?.finish()
        line = nil
    }

    private func add(_ count: Int) {
        gathered = gathered.lowerBound..<(gathered.upperBound + count)
        offset += Int64(count)
    }

    private func passOn() throws {
        let whole = takeChunk()
        if line == nil, hasLine { line = ChunkLine(steps, ring) }
        hasLine = line != nil
        if let line {
            try line.give(whole)
            chunk = ring.take()
        } else {
            for step in steps { try step(whole) }
        }
    }

    private func takeChunk() -> PayloadChunk {
        defer { (gathered, files) = (0..<0, []) }
        return PayloadChunk(
            bytes: UnsafeRawBufferPointer(rebasing: chunk[gathered]), offset: offset - Int64(gathered.count),
            lacksHead: gathered.lowerBound > 0, files: files)
    }
}
