/// What a payload turned out to hold.
package struct PayloadSummary: Hashable, Sendable {
    /// Files, `SHA256SUMS` not counted.
    package let files: Int
    /// Directories above them, each counted once.
    package let directories: Int
    /// Bytes of all files, `SHA256SUMS` included.
    package let unpackedSize: Int64
}

/// Rule 13: reads the payload of a package once, front to back, and finds that it is what the signed header says.
///
/// - Spec: POL-13, PAY-1 … PAY-6, PKG-5
package enum PayloadVerifier {
    /// Verifies a payload and hands its files to a sink.
    ///
    /// - Parameters:
    ///   - chain: The verified certificate and header: without them there is nothing to hold a payload against.
    ///   - input: The package, at the first byte of its payload; read to its end when nothing is refused.
    ///   - limits: The bounds of the host.
    ///   - sink: What receives the files as they are read; nil drops them. It must be able to drop everything: the last
    ///     byte of a payload can still refuse it.
    ///   - monitor: Watches and stops.
    /// - Returns: What the payload holds.
    /// - Throws: `Refusal` with the code of the failure at the lowest offset, `trailingData` when nothing else is wrong;
    ///   `Trouble` when the input or the sink cannot go on.
    @discardableResult
    package static func run<Input: PackageInput>(
        _ chain: VerifiedChain, input: inout Input, limits: Limits, sink: (any PayloadSink)?, monitor: Monitor
    ) throws -> PayloadSummary {
        let payload = chain.header.payload
        let reader = ChunkReader(input, payload: payload)
        defer { input = reader.input }
        let summary = try walk(chain, reader, limits: limits, sink: sink, monitor: monitor)
        guard try !reader.hasMore() else {
            let end = chain.payloadOffset + payload.size
            throw Refusal(.trailingData, "the file goes on behind its payload, which ends at byte \(end)")
        }
        return summary
    }

    private static func walk<Input: PackageInput>(
        _ chain: VerifiedChain, _ reader: ChunkReader<Input>, limits: Limits, sink: (any PayloadSink)?, monitor: Monitor
    ) throws -> PayloadSummary {
        let payload = chain.header.payload
        let ahead = ReadAhead.started(reader, payload: payload)
        let chunks: any ChunkSource = ahead ?? DirectChunks(reader)
        // Before the reader is touched again, the thread that uses it has ended.
        defer { chunks.finish() }
        let total = chain.payloadOffset + payload.size
        var done = chain.payloadOffset
        monitor.progress(done, total)
        let stream = try ArchiveStream(
            chunks, compression: payload.compression, isShared: ahead != nil, monitor: monitor
        ) { count in
            done += Int64(count)
            monitor.progress(done, total)
        }
        var walk = ArchiveWalk(stream, chain: chain, limits: limits, isShared: ahead != nil, sink: sink)
        return try walk.run()
    }
}
