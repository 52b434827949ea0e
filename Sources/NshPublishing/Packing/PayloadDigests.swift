internal import NshTrust

/// The digests of the chunks of a payload.
///
/// Sendable: one thread at a time adds to it, and what reads it comes after that thread has ended.
final class ChunkDigests: @unchecked Sendable {
    /// The digests so far.
    private(set) var digests: [Digest] = []

    /// Adds a chunk's digest, unless its first bytes are still to come.
    func take(_ chunk: PayloadChunk) {
        if !chunk.lacksHead { digests.append(SHA256.hash(chunk.bytes)) }
    }
}

/// The digests of files, computed while the chunks that hold them are on their way.
///
/// Sendable: one thread at a time adds to it, and what reads it comes after that thread has ended.
final class PackedFileDigests: @unchecked Sendable {
    private var hash = SHA256()
    /// The digests of the files that are over.
    private(set) var digests: [Digest] = []

    /// Adds the files that lie in a chunk.
    func take(_ chunk: PayloadChunk) {
        for part in chunk.files {
            switch part {
            case .bytes(let bytes): hash.update(bytes)
            case .end: digests.append(hash.finish())
            }
        }
    }
}
