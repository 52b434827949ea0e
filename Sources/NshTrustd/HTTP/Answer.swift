import CLinux
import CMicroHTTPD

/// Sends answers through libmicrohttpd, or past it.
enum Answer {
    /// Queues an answer; allowed before a body that nobody wants, which ends the connection, and after the body.
    ///
    /// - Returns: False when there is no memory for it; the connection then ends.
    static func queue(_ answer: Response, on handle: OpaquePointer, closing: Bool) -> Bool {
        guard let response = make(answer, closing: closing || answer.closesConnection) else { return false }
        defer { MHD_destroy_response(response) }
        return MHD_queue_response(handle, UInt32(answer.status), response) == .YES
    }

    /// Queues an answer that was made before.
    ///
    /// - Returns: As for any other.
    static func queue(_ answer: KeptAnswer, on handle: OpaquePointer, closing: Bool) -> Bool {
        if closing { return queue(answer.response, on: handle, closing: true) }
        return MHD_queue_response(handle, UInt32(answer.response.status), answer.raw) == .YES
    }

    /// Makes an answer in libmicrohttpd's form, for the caller to destroy.
    fileprivate static func make(_ answer: Response, closing: Bool) -> OpaquePointer? {
        let made = answer.body.withUnsafeBytes { body in
            // Copied before the call returns.
            MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response = made else { return nil }
        MHD_add_response_header(response, "Content-Type", answer.contentType)
        for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
        if closing { MHD_add_response_header(response, "Connection", "close") }
        return response
    }

    /// Writes an answer to the socket itself, while libmicrohttpd takes none: before a connection is handed to it, and in
    /// the middle of a body.
    ///
    /// - Returns: False when the socket did not take it all at once.
    static func write(_ answer: Response, to descriptor: Int32) -> Bool {
        let bytes = message(answer)
        return nsh_send(descriptor, bytes, bytes.count) == bytes.count
    }

    /// An answer as bytes, the last one on its connection.
    static func message(_ answer: Response) -> [UInt8] {
        let phrase = MHD_get_reason_phrase_for(UInt32(answer.status)).map { String(cString: $0) } ?? "Unknown"
        var head = "HTTP/1.1 \(answer.status) \(phrase)\r\n"
        head += "Content-Type: \(answer.contentType)\r\nContent-Length: \(answer.body.count)\r\nConnection: close\r\n"
        for header in answer.headers { head += "\(header.name): \(header.value)\r\n" }
        return Array(head.utf8) + [0x0d, 0x0a] + answer.body
    }
}

/// An answer in the form in which it is sent, which any number of requests may share.
///
/// `@unchecked Sendable`: libmicrohttpd counts the uses of an answer under a lock of its own.
final class KeptAnswer: @unchecked Sendable {
    /// The answer.
    let response: Response
    fileprivate let raw: OpaquePointer

    /// Makes it of an answer that does not end its connection; nil when there is no memory for it.
    init?(_ answer: Response) {
        guard !answer.closesConnection, let made = Answer.make(answer, closing: false) else { return nil }
        response = answer
        raw = made
    }

    deinit { MHD_destroy_response(raw) }
}
