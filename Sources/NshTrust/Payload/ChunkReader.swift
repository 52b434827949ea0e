/// Reads the chunks of a payload and lets none of them through whose digest is not the signed one.
///
/// - Spec: PAY-1, PAY-2
final class ChunkReader<Input: PackageInput> {
    /// What is read, behind the chunks read so far.
    private(set) var input: Input
    private let payload: PackageHeader.Payload
    private var index = 0

    /// Bytes that the longest chunk has.
    var bufferCount: Int { Int(min(payload.chunkSize, payload.size)) }

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - input: The package, at the first byte of its payload.
    ///   - payload: The shape and the digests that the release key signed.
    init(_ input: Input, payload: PackageHeader.Payload) {
        self.input = input
        self.payload = payload
    }

    /// Reads the next chunk and checks its digest.
    ///
    /// - Parameter buffer: Where it goes, `bufferCount` bytes or more. What it holds after a failure is nobody's.
    /// - Returns: The bytes of the chunk; 0 behind the last one.
    /// - Throws: `truncated` when the file ends in the chunk, `payloadCorrupt` when its digest is another, or what the
    ///   input throws.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard index < payload.chunks.count else { return 0 }
        let count = Int(min(payload.chunkSize, payload.size - Int64(index) * payload.chunkSize))
        var hash = SHA256()
        var filled = 0
        while filled < count {
            // A piece at a time: it is hashed while it is still in the processor's cache.
            let piece = buffer[filled..<min(filled + 256 << 10, count)]
            let read = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: piece))
            guard read > 0 else {
                throw Refusal(
                    .truncated, "\(name) has \(count) bytes, the file ends after \(filled) of them")
            }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[filled..<(filled + read)]))
            filled += read
        }
        let digest = hash.finish()
        guard digest == payload.chunks[index] else {
            throw Refusal(
                .payloadCorrupt, "\(name) has digest \(digest), the header says \(payload.chunks[index])")
        }
        index += 1
        return count
    }

    /// Tells whether the file goes on behind the last chunk.
    func hasMore() throws -> Bool { try !input.bytes(upTo: 1).isEmpty }

    private var name: String { "chunk \(index + 1) of \(payload.chunks.count)" }
}

/// Where checked chunks come from.
protocol ChunkSource: AnyObject {
    /// Returns the next chunk, or nil behind the last one.
    ///
    /// The bytes are valid until the chunk is given back. Nothing may be asked after a failure.
    func next() throws -> UnsafeRawBufferPointer?
    /// Gives back the chunk that was handed out first of those that are out; on any thread.
    var giveBack: @Sendable () -> Void { get }
    /// Ends the work; nothing is asked any more, and no chunk is used.
    func finish()
}

/// Reads each chunk when it is asked for, into one buffer: the last one must have been given back.
final class DirectChunks<Input: PackageInput>: ChunkSource {
    private let reader: ChunkReader<Input>
    private let buffer: UnsafeMutableRawBufferPointer

    init(_ reader: ChunkReader<Input>) {
        self.reader = reader
        buffer = .allocate(byteCount: reader.bufferCount, alignment: 4096)
    }

    deinit { buffer.deallocate() }

    func next() throws -> UnsafeRawBufferPointer? {
        let count = try reader.read(into: buffer)
        return count == 0 ? nil : UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    var giveBack: @Sendable () -> Void { {} }

    func finish() {}
}
