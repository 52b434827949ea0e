import CZstd

/// Decodes the one zstd frame of a payload, block by block.
///
/// libzstd is handed a block at a time, because its streaming call forgets what it decoded in the call that fails: so
/// everything before a damaged block is judged first, and no member hides behind one.
///
/// - Spec: PAY-3 … PAY-6
final class ZstdDecoder {
    private enum Stage {
        case frameHeader
        case blockHeader
        case block(left: Int, isLast: Bool)
        case checksum
        case end
    }

    private let nextChunk: () throws -> UnsafeRawBufferPointer?
    private let stream: OpaquePointer
    private let outputs: SlotRing
    /// An output that was taken and is not filled yet.
    private var output: UnsafeMutableRawBufferPointer?
    /// What is left of the current chunk.
    private var chunk = UnsafeRawBufferPointer(start: nil, count: 0)
    private var stage = Stage.frameHeader
    private var header: ZstdFrameHeader?
    /// Bytes of content so far.
    private var produced: UInt64 = 0

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - outputs: How many decoded pieces may be out at once.
    ///   - nextChunk: Returns the next checked chunk, valid until the next call, or nil behind the last.
    /// - Throws: `ioFailure` when there is no memory for a decoder.
    init(outputs: Int, _ nextChunk: @escaping () throws -> UnsafeRawBufferPointer?) throws(Trouble) {
        guard let stream = ZSTD_createDStream() else { throw Trouble(.ioFailure, "no memory for a zstd decoder") }
        self.stream = stream
        self.nextChunk = nextChunk
        // A whole block fits, so no call leaves a part of one inside the decoder.
        self.outputs = SlotRing(count: outputs, byteCount: Int(ZstdFrameHeader.blockMaxBytes) + 64)
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 23)
    }

    deinit { ZSTD_freeDStream(stream) }

    /// Gives back the piece that was handed out first of those that are out; on any thread.
    var giveBack: @Sendable () -> Void { { [outputs] in outputs.giveBack() } }

    /// Returns the next decoded bytes, or nil behind the end of the frame, which must be the end of the payload.
    ///
    /// - Returns: 1 … 131072 bytes, valid until they are given back; waits while too many are out.
    /// - Throws: `payloadCorrupt`, `limitExceeded`, or what `nextChunk` throws.
    func next() throws -> UnsafeRawBufferPointer? {
        while true {
            switch stage {
            case .frameHeader: try readFrameHeader()
            case .blockHeader: try readBlockHeader()
            case .block(let left, let isLast):
                let produced = try readBlock(left: left, isLast: isLast)
                if !produced.isEmpty { return produced }
            case .checksum:
                try feed(try gather(4))
                stage = .end
            case .end:
                guard try fillChunk() == false else {
                    throw ZstdFrameHeader.corrupt("something stands behind the zstd frame")
                }
                return nil
            }
        }
    }

    private func readFrameHeader() throws {
        var bytes = try gather(ZstdFrameHeader.fixedCount)
        let count = try ZstdFrameHeader.count(startingWith: bytes)
        bytes += try gather(count - bytes.count)
        let header = try ZstdFrameHeader(parsing: bytes)
        self.header = header
        try feed(header.forDecoder)
        stage = .blockHeader
    }

    private func readBlockHeader() throws {
        guard let header else { return }
        let bytes = try gather(ZstdBlockHeader.count)
        let block = try ZstdBlockHeader(parsing: bytes, maximum: header.blockMax)
        try feed(bytes)
        stage = .block(left: block.contentCount, isLast: block.isLast)
    }

    private func readBlock(left: Int, isLast: Bool) throws -> UnsafeRawBufferPointer {
        guard left > 0 else {
            if isLast { try endContent() } else { stage = .blockHeader }
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        guard try fillChunk() else { throw Self.cut }
        let count = min(left, chunk.count)
        let part = UnsafeRawBufferPointer(rebasing: chunk[..<count])
        chunk = UnsafeRawBufferPointer(rebasing: chunk[count...])
        stage = .block(left: left - count, isLast: isLast)
        let output = output ?? outputs.take()
        let content = try decode(part, into: output)
        self.output = content.isEmpty ? output : nil
        guard let header, content.count <= header.blockMax else {
            throw ZstdFrameHeader.corrupt("a block of the zstd frame holds more than the frame allows")
        }
        produced += UInt64(content.count)
        return content
    }

    /// Compares the content's size with the one that the frame states, behind the last block.
    private func endContent() throws(Refusal) {
        if let stated = header?.contentSize, stated != produced {
            throw ZstdFrameHeader.corrupt("the zstd frame holds \(produced) bytes and states \(stated)")
        }
        stage = header?.hasChecksum == true ? .checksum : .end
    }

    /// Hands bytes to libzstd from which nothing comes.
    private func feed(_ bytes: [UInt8]) throws {
        let nowhere = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        _ = try bytes.withUnsafeBytes { try decode($0, into: nowhere) }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Refusal) -> UnsafeRawBufferPointer {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var produced = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(stream, &produced, &input)
        // A block that fails is not taken, and one that is not taken has failed.
        guard ZSTD_isError(result) == 0 && input.pos == input.size else {
            let why = ZSTD_isError(result) == 0 ? "a block was not taken" : String(cString: ZSTD_getErrorName(result))
            throw ZstdFrameHeader.corrupt("the zstd frame is damaged: \(why)")
        }
        return UnsafeRawBufferPointer(rebasing: output[..<produced.pos])
    }

    /// Makes sure that the current chunk has bytes; false at the end of the payload.
    private func fillChunk() throws -> Bool {
        while chunk.isEmpty {
            guard let next = try nextChunk() else { return false }
            chunk = next
        }
        return true
    }

    private func gather(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard try fillChunk() else { throw Self.cut }
            let part = chunk.prefix(count - bytes.count)
            bytes += part
            chunk = UnsafeRawBufferPointer(rebasing: chunk[part.endIndex...])
        }
        return bytes
    }

    private static let cut = ZstdFrameHeader.corrupt("the zstd frame does not end")
}
