internal import NshTrust

/// Takes a payload's bytes, cuts them in chunks, and writes them where they go.
///
/// Chunks go from hand to hand: they are gathered here, written on a thread of their own, hashed on another, and on a
/// third the files in them are hashed. One that is alone, or for which there is no thread, is seen to here.
///
/// - Spec: PKG-11 … PKG-13
final class PayloadWriter {
    /// Bytes of a chunk.
    static let chunkSize: Int64 = 1 << 20
    /// Chunks that are gathered, written and hashed at once.
    private static let slots = 5

    private let place: PayloadPlace
    private let headCount: Int64
    private let steps: [ChunkLine.Step]
    private let digests = ChunkDigests()
    private let ring = SlotRing(count: slots, byteCount: Int(chunkSize))
    private var line: ChunkLine?
    private var hasLine = true
    /// The chunk that is gathered, and which part of it is there.
    private var chunk: UnsafeMutableRawBufferPointer
    private var gathered: Range<Int>
    private var files: [PayloadChunk.FilePart] = []
    /// The digests of the chunks, complete behind `finish`.
    private(set) var chunks: [Digest] = []
    /// The bytes so far, those of the head included.
    private(set) var size: Int64

    /// Prepares a payload.
    ///
    /// - Parameters:
    ///   - place: Where it goes.
    ///   - headCount: Bytes at its beginning that are known last, and given to `finish`.
    ///   - fileDigests: What hashes the files that `addToFile` and `endFile` tell of.
    init(to place: PayloadPlace, behind headCount: Int64 = 0, hashing fileDigests: PackedFileDigests? = nil) {
        self.place = place
        self.headCount = headCount
        var steps: [ChunkLine.Step] = [{ try place.write($0.bytes, at: $0.offset) }, digests.take]
        if let fileDigests { steps.append(fileDigests.take) }
        self.steps = steps
        size = headCount
        let start = Int(headCount % Self.chunkSize)
        gathered = start..<start
        chunk = ring.take()
    }

    deinit { line?.stop() }

    // MARK: - Gathering

    /// Where the next bytes go, at least one.
    ///
    /// - Throws: `ioFailure`, `storeFull` for bytes that were taken earlier.
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

    /// Takes bytes.
    ///
    /// - Throws: `ioFailure`, `storeFull`, perhaps for bytes that were taken earlier.
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

    private func add(_ count: Int) {
        gathered = gathered.lowerBound..<(gathered.upperBound + count)
        size += Int64(count)
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
            bytes: UnsafeRawBufferPointer(rebasing: chunk[gathered]), offset: size - Int64(gathered.count),
            lacksHead: gathered.lowerBound > 0, files: files)
    }

    // MARK: - The end

    /// Ends the last chunk, and waits until everything but the head has been written and every file hashed.
    ///
    /// - Throws: `ioFailure`, `storeFull`.
    func finish() throws {
        if !gathered.isEmpty {
            let last = takeChunk()
            if let line { try line.give(last) } else { for step in steps { try step(last) } }
        }
        try line?.finish()
        line = nil
        chunks = digests.digests
    }

    /// Writes the head, and hashes the chunks in which it lies: as they are in the file by now.
    ///
    /// - Parameter head: The bytes whose number was told before.
    /// - Throws: `ioFailure`, `storeFull`.
    func finish(head: [UInt8]) throws {
        precondition(head.count == headCount, "the head has the bytes that were left for it")
        try head.withUnsafeBytes { try place.write($0, at: 0) }
        let count = min((headCount + Self.chunkSize - 1) / Self.chunkSize * Self.chunkSize, size)
        var headChunks: [Digest] = []
        try place.slice(count).readAll(piecesOf: Int(Self.chunkSize)) { headChunks.append(SHA256.hash($0)) }
        chunks = headChunks + chunks
    }
}
