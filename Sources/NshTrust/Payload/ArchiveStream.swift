/// The uncompressed archive of a package, front to back, out of checked chunks only.
///
/// What fails is thrown when the bytes that should stand there are asked for: the failure at the lowest offset wins.
///
/// - Spec: PAY-1 … PAY-6, STO-14
final class ArchiveStream {
    /// Gives back the piece that was handed out first of those that are out; on any thread.
    let giveBack: @Sendable () -> Void
    /// Called when a piece has been handed out whole; sees to it that it is given back when nobody uses it any more.
    var whenHandedOut: () throws -> Void

    private let nextPiece: () throws -> UnsafeRawBufferPointer?
    private let monitor: Monitor
    private var current = UnsafeRawBufferPointer(start: nil, count: 0)
    private var holdsPiece = false
    private var scratch: [UInt8] = []
    private var hasEnded = false

    /// Makes the stream.
    ///
    /// - Parameters:
    ///   - chunks: The payload.
    ///   - compression: How the payload is packed.
    ///   - isShared: Whether pieces are used on another thread while the next ones are asked for.
    ///   - monitor: Asked once a chunk, and once a decoded block.
    ///   - taken: Told the bytes of each chunk.
    /// - Throws: `ioFailure` when there is no memory for a decoder.
    init(
        _ chunks: any ChunkSource, compression: PackageHeader.Compression, isShared: Bool, monitor: Monitor,
        taken: @escaping (Int) -> Void
    ) throws(Trouble) {
        self.monitor = monitor
        let nextChunk: () throws -> UnsafeRawBufferPointer? = {
            // Here, too: a decoder may go through many chunks before it has a byte to hand out.
            try monitor.check()
            let chunk = try chunks.next()
            if let chunk { taken(chunk.count) }
            return chunk
        }
        switch compression {
        case .none:
            nextPiece = nextChunk
            giveBack = chunks.giveBack
        case .zstd:
            let giveChunkBack = chunks.giveBack
            var holdsChunk = false
            let decoder = try ZstdDecoder(outputs: isShared ? Self.outputsShared : 1) {
                if holdsChunk { giveChunkBack() }
                let chunk = try nextChunk()
                holdsChunk = chunk != nil
                return chunk
            }
            nextPiece = decoder.next
            giveBack = decoder.giveBack
        }
        whenHandedOut = giveBack
    }

    /// Decoded blocks that may be out at once, of 128 KiB each: enough to let the threads drift apart a little.
    private static let outputsShared = 12

    /// Returns the next bytes, as many as lie together; empty at the end of the stream.
    ///
    /// - Parameter count: The most bytes wanted, 1 or more.
    /// - Returns: Bytes that are valid until the next call, or until their piece is given back.
    /// - Throws: What the chunks, the decoder or the monitor throw.
    func piece(upTo count: Int) throws -> UnsafeRawBufferPointer {
        try refill()
        let piece = UnsafeRawBufferPointer(rebasing: current[..<min(count, current.count)])
        current = UnsafeRawBufferPointer(rebasing: current[piece.count...])
        return piece
    }

    /// Hands exactly `count` bytes in one piece to the body.
    ///
    /// - Parameters:
    ///   - count: A few; what does not lie together is copied.
    ///   - body: Uses the bytes.
    /// - Returns: What the body returns, or nil when the stream ends before.
    /// - Throws: What the body throws, and what `piece` does.
    func exactly<Result>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        if current.count >= count { return try body(try piece(upTo: count)) }
        scratch.removeAll(keepingCapacity: true)
        while scratch.count < count {
            let piece = try piece(upTo: count - scratch.count)
            if piece.isEmpty { return nil }
            scratch += piece
        }
        return try scratch.withUnsafeBytes(body)
    }

    private func refill() throws {
        while current.isEmpty, !hasEnded {
            if holdsPiece {
                holdsPiece = false
                try whenHandedOut()
            }
            try monitor.check()
            if let next = try nextPiece() {
                current = next
                holdsPiece = true
            } else {
                hasEnded = true
            }
        }
    }
}
