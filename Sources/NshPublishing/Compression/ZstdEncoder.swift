import CZstd
internal import NshTrust

/// Compresses a stream into one zstd frame, on this thread, so that the same bytes in the same pieces give the same frame.
///
/// The window is at most 4 MiB, half of what readers take: it bounds the memory of everybody who opens the package.
///
/// - Spec: PAY-3, PAY-4, LIM-10
final class ZstdEncoder {
    /// The levels that can be chosen; those above need a larger window to be of use.
    static let levels = 1...19
    private static let windowLogMax: Int32 = 22
    private static let levelOfLargestWindow = 9

    // Owned by this object, freed in `deinit`, used by one thread at a time: the class is not Sendable.
    private let context: OpaquePointer
    private var output: [UInt8]
    private let write: (UnsafeRawBufferPointer) throws -> Void

    /// Prepares a frame.
    ///
    /// - Parameters:
    ///   - level: One of `levels`.
    ///   - write: Takes the frame's bytes in order.
    /// - Throws: `badRequest` for another level, `ioFailure` without memory.
    init(level: Int, to write: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
        guard Self.levels.contains(level) else {
            throw Trouble(.badRequest, "zstd level \(level) is not in 1 … 19")
        }
        guard let context = ZSTD_createCCtx() else { throw Trouble(.ioFailure, "no memory to compress") }
        self.context = context
        self.write = write
        output = [UInt8](repeating: 0, count: ZSTD_CStreamOutSize())
        // Lower levels have smaller windows of their own: 0 leaves them.
        let window = level >= Self.levelOfLargestWindow ? Self.windowLogMax : 0
        for (parameter, value) in [
            (ZSTD_c_compressionLevel, Int32(level)), (ZSTD_c_windowLog, window), (ZSTD_c_nbWorkers, 0),
            (ZSTD_c_contentSizeFlag, 0), (ZSTD_c_checksumFlag, 0), (ZSTD_c_dictIDFlag, 0),
        ] {
            try Self.check(ZSTD_CCtx_setParameter(context, parameter, value))
        }
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Compresses more bytes.
    ///
    /// - Throws: What taking the frame's bytes throws.
    func encode(_ bytes: UnsafeRawBufferPointer) throws {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        while input.pos < input.size { _ = try step(&input, ZSTD_e_continue) }
    }

    /// Ends the frame.
    ///
    /// - Throws: What taking the frame's bytes throws.
    func finish() throws {
        var input = ZSTD_inBuffer(src: nil, size: 0, pos: 0)
        while try step(&input, ZSTD_e_end) > 0 {}
    }

    private func step(_ input: inout ZSTD_inBuffer, _ directive: ZSTD_EndDirective) throws -> Int {
        let (left, count) = try output.withUnsafeMutableBytes { buffer in
            var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
            let left = try Self.check(ZSTD_compressStream2(context, &target, &input, directive))
            return (left, target.pos)
        }
        if count > 0 { try output.withUnsafeBytes { try write(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
        return left
    }

    @discardableResult
    private static func check(_ result: Int) throws(Trouble) -> Int {
        guard ZSTD_isError(result) == 0 else {
            throw Trouble(.ioFailure, "cannot compress: \(String(cString: ZSTD_getErrorName(result)))")
        }
        return result
    }
}
