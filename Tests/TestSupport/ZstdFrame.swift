import CZstd

/// A zstd frame that a test puts together itself, block by block, or lets libzstd compress.
public struct ZstdFrame: Sendable {
    /// One block of a frame.
    public struct Block: Sendable {
        /// 0 stored, 1 one byte repeated, 2 compressed, 3 reserved.
        public var kind: UInt32
        /// The size that the block header states.
        public var size: Int
        /// The bytes behind the block header.
        public var content: [UInt8]

        /// Makes a block.
        public init(kind: UInt32, size: Int, content: [UInt8]) {
            self.kind = kind
            self.size = size
            self.content = content
        }

        /// Makes a stored block.
        public static func stored(_ content: [UInt8]) -> Block { Block(kind: 0, size: content.count, content: content) }
        /// A block of the type that no decoder may take.
        public static let reserved = Block(kind: 3, size: 0, content: [])
    }

    /// The blocks.
    public var blocks: [Block]
    /// The window descriptor; nil makes a single segment, which needs a content size.
    public var window: UInt8? = 0x38
    /// The content size, written in eight bytes; nil leaves it out.
    public var contentSize: UInt64?
    /// The dictionary's number, written in four bytes; nil leaves it out.
    public var dictionary: UInt32?
    /// The content checksum; nil leaves it out.
    public var checksum: UInt32?
    /// Whether the reserved bit of the frame header is set.
    public var reservedBit = false
    /// Whether the last block says so.
    public var ends = true

    /// Makes a frame of stored blocks.
    ///
    /// - Parameters:
    ///   - data: What it holds.
    ///   - step: Bytes a block, at most 131072.
    public init(storing data: [UInt8], step: Int = 65536) {
        blocks = stride(from: 0, to: max(data.count, 1), by: step).map { start in
            .stored(Array(data[start..<min(start + step, data.count)]))
        }
    }

    /// Makes a frame of the given blocks.
    public init(_ blocks: [Block]) { self.blocks = blocks }

    /// The frame's bytes.
    public var encoded: [UInt8] {
        var descriptor: UInt8 = (window == nil ? 0x20 : 0) | (checksum == nil ? 0 : 4) | (reservedBit ? 8 : 0)
        descriptor |= (dictionary == nil ? 0 : 3) | (contentSize == nil ? 0 : 0xC0)
        var bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, descriptor]
        if let window { bytes.append(window) }
        if let dictionary { bytes += littleEndian(UInt64(dictionary), count: 4) }
        if let contentSize { bytes += littleEndian(contentSize, count: 8) }
        for (index, block) in blocks.enumerated() {
            let isLast = ends && index == blocks.count - 1
            bytes += littleEndian(UInt64(UInt32(block.size) << 3 | block.kind << 1 | (isLast ? 1 : 0)), count: 3)
            bytes += block.content
        }
        if let checksum { bytes += littleEndian(UInt64(checksum), count: 4) }
        return bytes
    }

    /// Returns the data as libzstd compresses it.
    public static func compressed(_ data: [UInt8], level: Int32 = 3) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(data.count)) { buffer, count in
            count = ZSTD_compress(buffer.baseAddress, buffer.count, data, data.count, level)
            precondition(ZSTD_isError(count) == 0, "libzstd compresses any bytes into a buffer of its bound")
        }
    }

    private func littleEndian(_ number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(number >> (8 * UInt64($0)) & 0xFF) }
    }
}
