import Glibc
import NshTrust
import NshTrustClient
import TestSupport

@testable import NshTrustd

/// The daemon's HTTP server on a socket, with a service that notes what it is asked.
final class ListeningDaemon: HTTPService {
    /// The server of this process.
    static let shared = Result { try ListeningDaemon() }

    private let directory: TemporaryDirectory
    private let path: String
    private let heard = Locked<[RequestHead]>([])
    private let server = Locked<HTTPServer?>(nil)

    private init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/socket"
        guard let address = SocketAddress(path: path) else { throw BrokenProperty("the path is too long for a socket") }
        let socket = try UnixSocket.stream()
        let raw = socket.raw
        let isBound = address.with { address, length in bind(raw, address, length) == 0 && listen(raw, 64) == 0 }
        try require(isBound, "no socket: \(errno)")
        var limits = ServerLimits()
        (limits.headSeconds, limits.housekeepingSeconds) = (5, 0.5)
        let made = try HTTPServer(listening: socket, service: self, limits: limits)
        server.withLock { $0 = made }
    }

    func plan(_ head: RequestHead) -> RequestPlan {
        heard.withLock { $0.append(head) }
        if !head.hasBody { return .answer(Response(status: 200, body: Array("{}".utf8))) }
        return .gather(limit: 1 << 10) { .answer(Response(status: 200, contentType: "text/plain", body: $0)) }
    }

    func refusal(_ reason: ServerRefusal) -> Response {
        switch reason {
        case .bodyTooLarge: Response(status: 413, body: [], closesConnection: true)
        case .tooManyConnections, .stopping: Response(status: 503, body: [], closesConnection: true)
        case .malformed: Response(status: 400, body: [], closesConnection: true)
        }
    }

    /// Sends bytes, says that nothing more comes, and reads to the end.
    ///
    /// - Returns: What came back, and the heads that the service was asked about.
    func exchange(_ bytes: [UInt8]) throws -> (answers: [UInt8], heads: [RequestHead]) {
        heard.withLock { $0 = [] }
        // This one waits, unlike those of the library.
        let client = OwnedDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let raw = client.raw
        guard let address = SocketAddress(path: path), address.with({ connect(raw, $0, $1) }) == 0 else {
            throw BrokenProperty("the server does not take connections: \(errno)")
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // A server that has heard enough may close before everything was sent.
        _ = bytes.withUnsafeBytes { Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        // The end alone is what the server hears at once; behind bytes that it has not read yet it would find it later.
        var (unread, patience): (Int32, Int) = (1, 1000)
        while patience > 0, ioctl(raw, UInt(TIOCOUTQ), &unread) == 0, unread > 0 {
            patience -= 1
            usleep(20)
        }
        shutdown(raw, Int32(SHUT_WR))
        var answers: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(raw, &buffer, buffer.count)
            if count < 0, errno == EAGAIN { throw BrokenProperty("the server keeps a connection that has ended") }
            if count <= 0 { break }
            answers += buffer.prefix(count)
        }
        return (answers, heard.withLock { $0 })
    }

    /// Requires that the server answered in order, and heard nothing but what was sent.
    static func check(answers: [UInt8], heads: [RequestHead], sent: [UInt8]) throws {
        if !answers.isEmpty {
            let end = answers.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound
            guard let end else { throw BrokenProperty("the answer has no head") }
            let first = try ResponseHead(parsing: Array(answers[..<(end + 2)]))
            try require(
                [100, 200, 400, 405, 411, 413, 414, 431, 500, 501, 503, 505].contains(first.status), "\(first.status)")
        }
        // libmicrohttpd takes two line feeds for the end of one line and leaves no trace of it; what was heard must stand
        // between two ends of lines all the same.
        var lines = sent.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Array(line.last == 0x0D ? line.dropLast() : line)
        }[...]
        var isBehindABody = false
        for head in heads {
            // A body need not end with a line, so the next request may begin within one.
            while let line = lines.first,
                !says(line, head), !isBehindABody || !line.indices.contains(where: { says(Array(line[$0...]), head) })
            {
                lines = lines.dropFirst()
            }
            try require(!lines.isEmpty, "\(head.method) \(head.path ?? []) was heard, and nobody sent it")
            lines = lines.dropFirst()
            isBehindABody = head.hasBody
        }
    }

    private static func says(_ text: [UInt8], _ head: RequestHead) -> Bool {
        guard let first = text.firstIndex(of: 0x20), let last = text.lastIndex(of: 0x20), first < last,
            String(decoding: text[..<first], as: UTF8.self) == head.method,
            text[(last + 1)...].starts(with: "HTTP/1.".utf8)
        else { return false }
        let target = NshTrustd.RequestTarget(text[(first + 1)..<last])
        guard target.path == head.path, let (mine, theirs) = both(target.query, head.query) else {
            return target.path == head.path && target.query == nil && head.query == nil
        }
        return mine.elementsEqual(theirs) { $0 == $1 }
    }

    private static func both<Value>(_ first: Value?, _ second: Value?) -> (Value, Value)? {
        guard let first, let second else { return nil }
        return (first, second)
    }
}
