import Glibc
import Testing

/// A blocking client that writes and reads bytes as a test wants them.
final class RawClient: Sendable {
    let descriptor: Int32

    struct Failed: Error {
        let what: String
        let number: Int32
    }

    struct Message {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var closes: Bool { headers["connection"]?.lowercased() == "close" }
    }

    /// Connects; no read takes longer than the time limit.
    init(_ path: String, seconds: Int = 20) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = UnixAddress.with(path) { connect(descriptor, $0, $1) }
        guard result == 0 else { throw Failed(what: "connect", number: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failed(what: "send", number: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends, and says whether all was taken: the server may have closed.
    func sendIfPossible(_ bytes: [UInt8]) -> Bool {
        do {
            try send(bytes)
            return true
        } catch {
            return false
        }
    }

    /// One read; empty at the end.
    func readSome(_ most: Int = 65536) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = Glibc.read(descriptor, &buffer, most)
        guard count >= 0 else { throw Failed(what: "read", number: errno) }
        return Array(buffer.prefix(count))
    }

    /// Reads up to the end of the connection; a reset is an end.
    func readToEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            do {
                let some = try readSome()
                if some.isEmpty { return all }
                all += some
            } catch let error as Failed where error.number == ECONNRESET {
                return all
            }
        }
    }

    /// Reads until the text was seen.
    func read(until mark: String) throws -> String {
        var all: [UInt8] = []
        let mark = Array(mark.utf8)
        while all.suffix(mark.count) != mark[...] {
            let some = try readSome(1)
            if some.isEmpty { throw Failed(what: "end before \(mark)", number: 0) }
            all += some
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads one message with a `Content-Length`, without a byte beyond it.
    func readMessage() throws -> Message {
        let head = try read(until: "\r\n\r\n")
        let lines = head.split(separator: "\r\n")
        let status = lines[0].split(separator: " ")[1]
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
        }
        if status == "100" { return try readMessage() }
        var body: [UInt8] = []
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while body.count < length { body += try readSome(length - body.count) }
        return Message(status: Int(status)!, headers: headers, body: body)
    }

    /// Sends a request and reads its answer.
    func ask(_ request: String) throws -> Message {
        try send(request)
        return try readMessage()
    }

    func halfClose() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Leaves at once.
    func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

enum UnixAddress {
    /// Calls with the address of a socket's path.
    static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
