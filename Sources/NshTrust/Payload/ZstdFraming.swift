/// The header of a zstd frame, read before the decoder sees it.
///
/// - Spec: PAY-3, PAY-4, PAY-5, LIM-10
struct ZstdFrameHeader {
    /// The largest window that a decoder must keep, in bytes.
    static let windowMaxBytes: UInt64 = 8 << 20
    /// Bytes that tell how long the whole header is: the magic and the descriptor.
    static let fixedCount = 5
    /// Bytes of the longest block.
    static let blockMaxBytes: UInt64 = 128 << 10

    /// Bytes of the window.
    let window: UInt64
    /// Whether a checksum of the content stands behind the last block.
    let hasChecksum: Bool
    /// Bytes of the content, when the header states them.
    let contentSize: UInt64?
    /// A header of the same frame that states no content size, for the decoder: libzstd compares a stated size within the
    /// last block and then keeps back what that block holds, which is to be judged first.
    let forDecoder: [UInt8]

    /// The most bytes of a block, encoded or decoded.
    var blockMax: Int { Int(min(window, Self.blockMaxBytes)) }

    /// Returns the length of the header that starts with these bytes.
    ///
    /// - Parameter start: The first `fixedCount` bytes.
    /// - Returns: Its length in bytes, these included.
    /// - Throws: `payloadCorrupt` when they start no frame.
    static func count(startingWith start: [UInt8]) throws(Refusal) -> Int {
        guard start[..<4].elementsEqual([0x28, 0xB5, 0x2F, 0xFD]) else {
            throw corrupt("the payload does not start with a zstd frame")
        }
        let descriptor = start[4]
        guard descriptor & 0x08 == 0 else { throw corrupt("the reserved bit of the zstd frame is set") }
        let isSingleSegment = descriptor & 0x20 != 0
        return fixedCount + (isSingleSegment ? 0 : 1) + dictionaryCount(descriptor) + sizeCount(descriptor)
    }

    /// Reads a header.
    ///
    /// - Parameter bytes: As many bytes as `count` says.
    /// - Throws: `payloadCorrupt` for a dictionary, `limitExceeded` for a window over the limit.
    init(parsing bytes: [UInt8]) throws(Refusal) {
        let descriptor = bytes[4]
        let isSingleSegment = descriptor & 0x20 != 0
        var at = Self.fixedCount
        func number(_ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[at + $1]) << (8 * UInt64($1)) }
        }
        var window: UInt64 = 0
        if !isSingleSegment {
            let base = UInt64(1) << (10 + UInt64(bytes[at] >> 3))
            window = base + base / 8 * UInt64(bytes[at] & 7)
            at += 1
        }
        let dictionary = number(Self.dictionaryCount(descriptor))
        guard dictionary == 0 else { throw Self.corrupt("the zstd frame needs dictionary \(dictionary)") }
        at += Self.dictionaryCount(descriptor)
        let count = Self.sizeCount(descriptor)
        contentSize = count == 0 ? nil : number(count) + (count == 2 ? 256 : 0)
        if isSingleSegment { window = contentSize ?? 0 }
        guard window <= Self.windowMaxBytes else {
            throw Refusal(
                .limitExceeded, "the zstd frame needs a window of \(window) bytes, the limit is \(Self.windowMaxBytes)")
        }
        self.window = window
        hasChecksum = descriptor & 0x04 != 0
        // A single segment has no window descriptor: the smallest one that is enough.
        let exponent = UInt8(max(10, UInt64.bitWidth - (max(window, 1) - 1).leadingZeroBitCount))
        forDecoder = bytes[..<4] + [descriptor & 0x04, isSingleSegment ? (exponent - 10) << 3 : bytes[5]]
    }

    private static func dictionaryCount(_ descriptor: UInt8) -> Int { [0, 1, 2, 4][Int(descriptor & 3)] }

    private static func sizeCount(_ descriptor: UInt8) -> Int {
        let isSingleSegment = descriptor & 0x20 != 0
        return [isSingleSegment ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
    }

    /// Makes the refusal of a damaged frame.
    static func corrupt(_ problem: String) -> Refusal { Refusal(.payloadCorrupt, problem) }
}

/// The header of a block of a zstd frame.
struct ZstdBlockHeader {
    /// Bytes of a block header.
    static let count = 3

    /// Whether it is the frame's last block.
    let isLast: Bool
    /// Bytes that follow the header.
    let contentCount: Int

    /// Reads a header of three bytes.
    ///
    /// - Parameters:
    ///   - bytes: The three bytes.
    ///   - maximum: The most bytes of a block of the frame.
    /// - Throws: `payloadCorrupt` for a reserved type or a block that is too large.
    init(parsing bytes: [UInt8], maximum: Int) throws(Refusal) {
        let word = UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16
        isLast = word & 1 != 0
        let size = Int(word >> 3)
        guard size <= maximum else {
            throw ZstdFrameHeader.corrupt("a block of the zstd frame has \(size) bytes, at most \(maximum) are allowed")
        }
        switch word >> 1 & 3 {
        case 0, 2: contentCount = size
        case 1: contentCount = 1
        default: throw ZstdFrameHeader.corrupt("a block of the zstd frame has the reserved type")
        }
    }
}
