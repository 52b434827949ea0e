import CMicroHTTPD
import Glibc

/// The last head of a connection that was planned for all requests like it: who stays mostly sends the same again.
///
/// What is made of a head follows from its bytes and from who is connected. So the same bytes in the same place need not be
/// taken apart, judged and planned a second time.
final class KnownHead: Sendable {
    /// What becomes of the gathered body; the second argument is when the head was looked at.
    typealias Continuation = @Sendable (_ body: [UInt8], _ started: UInt64) -> Outcome

    /// How the body follows.
    let framing: Framing
    /// The most bytes that the body may have.
    let limit: Int
    /// What becomes of the body.
    let then: Continuation
    /// What the request line asks for.
    let target: RequestTarget
    private let targetBytes: [UInt8]
    private let method: [UInt8]
    private let lines: [UInt8]

    /// Heads that are longer are not kept.
    private static let maximumBytes = 1024

    /// Keeps a head that was found in order; nil for one that is too long for that, or whose target libmicrohttpd has
    /// decoded.
    ///
    /// - Parameters:
    ///   - bytes: The head.
    ///   - target: What was made of its target.
    ///   - framing: What was made of it.
    ///   - limit: The most bytes that the body may have.
    ///   - then: What becomes of the body.
    init?(
        _ bytes: HeadBytes, target: RequestTarget, framing: Framing, limit: Int, then: @escaping Continuation
    ) {
        // A decoded target holds a NUL: where the query began, or where the shorter text ends.
        guard !bytes.lines.isEmpty, bytes.target.count + bytes.lines.count <= Self.maximumBytes,
            !bytes.target.contains(0)
        else { return nil }
        self.target = target
        targetBytes = Array(bytes.target)
        method = Array(bytes.method)
        lines = Array(bytes.lines)
        self.framing = framing
        self.limit = limit
        self.then = then
    }

    /// Tells whether a request line asks for the same; asked before libmicrohttpd decodes it in its place.
    func hasTarget(_ bytes: UnsafeRawBufferPointer) -> Bool { Self.same(targetBytes, bytes) }

    /// Tells whether method, version and headers of a plain head are the same, byte for byte.
    func hasRest(of bytes: HeadBytes) -> Bool { Self.same(lines, bytes.lines) && Self.same(method, bytes.method) }

    private static func same(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard known.count == bytes.count, let start = bytes.baseAddress else { return false }
        return known.withUnsafeBytes { memcmp($0.baseAddress ?? start, start, bytes.count) } == 0
    }
}

/// The bytes of a head in the connection's memory, in which libmicrohttpd has ended every part with a NUL.
///
/// In a plain head nothing else is a NUL, so equal bytes are the same parts.
struct HeadBytes {
    /// The method.
    let method: UnsafeRawBufferPointer
    /// The target as it was sent.
    let target: UnsafeRawBufferPointer
    /// From the version to the end of the last header; empty without headers.
    let lines: UnsafeRawBufferPointer

    /// Finds the bytes of a plain head.
    init(
        method: UnsafePointer<CChar>, target: UnsafeRawBufferPointer, version: UnsafePointer<CChar>,
        _ headers: nsh_mhd_headers
    ) {
        self.method = UnsafeRawBufferPointer(start: method, count: strlen(method))
        self.target = target
        let lines = nsh_mhd_lines(headers, version)
        self.lines = UnsafeRawBufferPointer(start: lines.bytes, count: lines.count)
    }
}
