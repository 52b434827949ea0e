internal import NshTrust

/// Takes a payload's bytes, cuts them in chunks, and keeps them until the header in front of them can be written.
///
/// - Spec: PKG-11 … PKG-13
final class PayloadWriter {
    /// Bytes of a chunk.
    static let chunkSize: Int64 = 1 << 20

    private let spool: SpoolFile
    private var hash = SHA256()
    private var inChunk: Int64 = 0
    private(set) var chunks: [Digest] = []

    /// Prepares a payload that goes to the spool.
    init(to spool: SpoolFile) { self.spool = spool }

    /// The bytes so far.
    var size: Int64 { spool.count }

    /// Takes bytes.
    ///
    /// - Throws: `ioFailure`.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try spool.append(bytes)
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(Int(min(Self.chunkSize - inChunk, Int64(rest.count))))
            hash.update(UnsafeRawBufferPointer(rebasing: piece))
            inChunk += Int64(piece.count)
            if inChunk == Self.chunkSize { endChunk() }
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.endIndex...])
        }
    }

    /// Ends the last chunk.
    func finish() { if inChunk > 0 { endChunk() } }

    private func endChunk() {
        chunks.append(hash.finish())
        inChunk = 0
    }
}
