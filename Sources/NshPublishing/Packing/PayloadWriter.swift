internal import NshTrust

/// Takes a payload's bytes, cuts them in chunks, and writes them where they go.
///
/// Chunks go from hand to hand: they are gathered by the caller, written on a thread of their own, hashed on another, and
/// on a third the files in them are hashed.
///
/// - Spec: PKG-11 … PKG-13
struct PayloadWriter {
    /// Bytes of a chunk.
    static let chunkSize: Int64 = 1 << 20
    /// Chunks that are gathered, written and hashed at once.
    private static let slots = 5

    /// Takes the bytes behind the head.
    let gatherer: ChunkGatherer
    private let place: PayloadPlace
    private let headCount: Int64
    private let digests: ChunkDigests

    /// Prepares a payload.
    ///
    /// - Parameters:
    ///   - place: Where it goes.
    ///   - headCount: Bytes at its beginning that are known last, and given to `finish`.
    ///   - fileDigests: What hashes the files that the gatherer is told of.
    init(to place: PayloadPlace, behind headCount: Int64 = 0, hashing fileDigests: PackedFileDigests? = nil) {
        let digests = ChunkDigests()
        var steps: [ChunkLine.Step] = [{ try place.write($0.bytes, at: $0.offset) }, digests.take]
        if let fileDigests { steps.append(fileDigests.take) }
        gatherer = ChunkGatherer(chunkSize: Int(Self.chunkSize), slots: Self.slots, from: headCount, steps)
        (self.place, self.headCount, self.digests) = (place, headCount, digests)
    }

    /// The bytes so far, those of the head included.
    var size: Int64 { gatherer.offset }

    /// Waits until everything has been written, and then writes the head.
    ///
    /// - Parameter makeHead: Makes the bytes whose number was told before, of what is known by now.
    /// - Returns: The digests of all chunks. Those in which the head lies are hashed as they are in the file by now.
    /// - Throws: `ioFailure`, also when the head has another number of bytes; `storeFull`; what `makeHead` throws.
    func finish(head makeHead: () throws -> [UInt8] = { [] }) throws -> [Digest] {
        try gatherer.finish()
        let head = try makeHead()
        guard head.count == headCount else {
            throw Trouble(.ioFailure, "SHA256SUMS has \(head.count) bytes, \(headCount) were left for it")
        }
        try head.withUnsafeBytes { try place.write($0, at: 0) }
        let count = min((headCount + Self.chunkSize - 1) / Self.chunkSize * Self.chunkSize, size)
        var headChunks: [Digest] = []
        try place.slice(count).readAll(piecesOf: Int(Self.chunkSize)) { headChunks.append(SHA256.hash($0)) }
        return headChunks + digests.digests
    }
}
