import Glibc
import NshTrust
import TestSupport

/// Listens on a socket and does on each connection what its script says, whatever it is asked.
final class FakeDaemon: Sendable {
    enum Step: Sendable {
        /// Reads a head and the body that its `Content-Length` announces.
        case question
        /// Reads a head.
        case head
        /// Sends text as it is.
        case send(String)
        /// Sends bytes one by one, with a pause of so many microseconds after each.
        case trickle(String, UInt32)
        /// Waits, in seconds.
        case pause(Double)
        /// Reads to the end and drops it.
        case drain
    }

    let path: String
    private let directory: TemporaryDirectory
    private let listener: OwnedDescriptor
    private let heard = Locked<[String]>([])

    /// Makes a daemon that closes each connection at the end of its script, and takes no more than there are scripts.
    init(_ scripts: [Step]...) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/s"
        listener = OwnedDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener.raw, 16) == 0 else { throw Trouble(.ioFailure, "no listening socket") }
        OwnThread.run { [self] in for script in scripts { try? serve(script) } }
    }

    /// The heads and bodies that were read, in their order.
    var questions: [String] { heard.withLock { $0 } }

    private func serve(_ script: [Step]) throws {
        let connection = OwnedDescriptor(owning: accept(listener.raw, nil, nil))
        for step in script {
            switch step {
            case .question: try hear(connection.raw, withBody: true)
            case .head: try hear(connection.raw, withBody: false)
            case .send(let text): say(Array(text.utf8), connection.raw)
            case .trickle(let text, let pause):
                for byte in text.utf8 {
                    say([byte], connection.raw)
                    usleep(pause)
                }
            case .pause(let seconds): usleep(UInt32(seconds * 1_000_000))
            case .drain:
                var piece = [UInt8](repeating: 0, count: 1 << 16)
                while read(connection.raw, &piece, piece.count) > 0 {}
            }
        }
    }

    private func say(_ bytes: [UInt8], _ descriptor: Int32) {
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private func hear(_ descriptor: Int32, withBody: Bool) throws {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while !text.suffix(4).elementsEqual("\r\n\r\n".utf8), read(descriptor, &byte, 1) == 1 { text.append(byte) }
        let head = String(decoding: text, as: UTF8.self)
        if withBody, let line = head.split(separator: "\r\n").first(where: { $0.hasPrefix("Content-Length: ") }) {
            for _ in 0..<(Int(line.dropFirst(16)) ?? 0) where read(descriptor, &byte, 1) == 1 { text.append(byte) }
        }
        heard.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
    }
}

/// An answer with a JSON body.
func answer(_ status: Int, _ body: String, type: String = "application/json", more: String = "") -> FakeDaemon.Step {
    .send(
        "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
}

/// A problem document as an answer.
func problem(_ status: Int, _ code: String, _ detail: String = "why", more: String = "") -> FakeDaemon.Step {
    answer(
        status,
        #"{"type":"about:blank","title":"X","status":\#(status),"detail":"\#(detail)","code":"\#(code)"\#(more)}"#,
        type: "application/problem+json")
}
