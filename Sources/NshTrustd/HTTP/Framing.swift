import CMicroHTTPD

/// How a request says what body follows its head.
struct Framing: Hashable, Sendable {
    /// Whether a body follows.
    var hasBody: Bool
    /// Its length in bytes, when that is said beforehand.
    var length: Int64?
    /// Whether the client waits to be told to send it.
    var isAwaitingGo: Bool
    /// Why the head must not be acted on; nil when it is in order.
    ///
    /// libmicrohttpd takes the first of two headers and reads any other transfer coding up to the end of the
    /// connection; whoever stands in front of us may have read the same bytes in another way.
    var fault: String?

    /// Looks at the headers of a request.
    ///
    /// - Parameters:
    ///   - headers: The headers.
    ///   - isPlain: Whether request line and headers are plain lines, one after another.
    init(_ headers: nsh_mhd_headers, isPlain: Bool) {
        isAwaitingGo = headers.expect.text?.lowercased() == "100-continue"
        let coding = headers.transfer_encoding.text
        length = headers.content_length.text.flatMap { Int64($0) }
        hasBody = coding != nil || length ?? 0 > 0
        if !isPlain {
            fault = "a line of the head is folded, holds a NUL, or does not end with CR and LF"
        } else if headers.has_bad_name != 0 {
            fault = "the name of a header has a character that no name may have"
        } else if headers.has_bad_value != 0 {
            fault = "the value of a header has a control character"
        } else if headers.is_repeated != 0 {
            fault = "a header that may be there once is there more than once"
        } else if coding != nil, headers.content_length.bytes != nil {
            fault = "the request has both Content-Length and Transfer-Encoding"
        } else if let coding, coding.lowercased() != "chunked" {
            fault = "Transfer-Encoding is not chunked"
        } else if headers.content_length.bytes != nil, length ?? -1 < 0 {
            fault = "Content-Length is not a number of bytes"
        }
    }
}

extension nsh_mhd_text {
    /// The text; nil when there is none.
    ///
    /// What is not UTF-8 is repaired, and then equals nothing that is.
    var text: String? {
        guard let bytes else { return nil }
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
        return String(decoding: buffer, as: UTF8.self)
    }

    /// The text before the first `;`, without spaces around it, in lower case: a media type without its parameters.
    var mediaType: String? {
        guard let bytes else { return nil }
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var type = buffer.prefix { $0 != UInt8(ascii: ";") }.drop(while: isBlank)
        while let last = type.last, isBlank(last) { type.removeLast() }
        return String(decoding: type, as: UTF8.self).lowercased()
    }
}
