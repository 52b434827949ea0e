import CMicroHTTPD

/// Writes an event stream to its client, on the thread of the connection.
final class EventWriter {
    private let connection: Connection
    private let stream: EventStream
    private let isStopping: () -> Bool

    /// How many bytes an answer's memory has; the events themselves go through the connection's.
    private static let blockBytes = 1024

    private init(_ stream: EventStream, connection: Connection, isStopping: @escaping () -> Bool) {
        self.stream = stream
        self.connection = connection
        self.isStopping = isStopping
    }

    deinit { stream.close() }

    /// Queues the answer that carries the stream.
    ///
    /// - Returns: False when there is no memory for it; the connection then ends.
    static func queue(
        _ stream: EventStream, on handle: OpaquePointer, connection: Connection, isStopping: @escaping () -> Bool
    ) -> Bool {
        stream.whenAppended { connection.wake() }
        let writer = Unmanaged.passRetained(EventWriter(stream, connection: connection, isStopping: isStopping))
        let made = MHD_create_response_from_callback(
            UInt64.max, blockBytes, writeEvents, writer.toOpaque(), releaseWriter)
        guard let response = made else {
            writer.release()
            return false
        }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, "Content-Type", "text/event-stream")
        MHD_add_response_header(response, "Cache-Control", "no-store")
        return MHD_queue_response(handle, 200, response) == .YES
    }

    /// Fills the buffer with what waits; suspends the connection while nothing does.
    ///
    /// - Returns: How many bytes there are, 0 when the connection is suspended, -1 at the end of the stream.
    fileprivate func write(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            connection.prepareToWait()
            if isStopping() || connection.isEnding || stream.isClosed { return -1 }
            var bytes = stream.take(upTo: buffer.count)
            // A comment tells both sides whether the other one is still there.
            if bytes.isEmpty, connection.takeCommentRequest() { bytes = Array(":\n\n".utf8) }
            if !bytes.isEmpty {
                buffer.copyBytes(from: bytes)
                connection.enter(.answer)
                return bytes.count
            }
            connection.enter(.events)
            if connection.wait() { return 0 }
        }
    }
}

private func writeEvents(
    _ writer: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let writer, let buffer else { return -1 }
    return Unmanaged<EventWriter>.fromOpaque(writer).takeUnretainedValue()
        .write(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private func releaseWriter(_ writer: UnsafeMutableRawPointer?) {
    if let writer { Unmanaged<EventWriter>.fromOpaque(writer).release() }
}
