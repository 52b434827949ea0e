package import NshTrust

/// One connection: a question, its answer, and perhaps another question.
///
/// `@unchecked Sendable`: one thread at a time uses a connection, the one that took it from those that are idle.
package final class HTTPConnection: @unchecked Sendable {
    private let stream: UnixStream
    private var input: InputBuffer
    private var body: BodyState = .done
    /// Whether a whole question went out and the answer lets the connection live.
    private var isClean = true

    private enum BodyState {
        case done
        case length(Int64)
        case chunk(Int64)
        case chunkStart
        case untilClose
    }

    /// Bytes that the head of an answer may have.
    static let maximumHead = 64 << 10
    /// Answers of the 100s that are passed over before the final one.
    private static let maximumInterim = 8
    /// How long a daemon is given to say that it wants a package's bytes, in seconds.
    private static let continueSeconds = 2.0

    /// Takes over a connected socket.
    package init(_ stream: UnixStream) {
        self.stream = stream
        input = InputBuffer(stream)
    }

    /// Whether another question may be asked: the last answer was read to its end, and nothing came since.
    package var isReusable: Bool {
        guard isClean, case .done = body else { return false }
        return input.isEmpty && !stream.isReadable()
    }

    // MARK: - Asking

    /// Sends a question and reads the head of its answer.
    ///
    /// The answer may come before the whole body was sent; the rest is not sent then.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - patience: How long to wait.
    ///   - monitor: Told how much of a package was sent.
    /// - Returns: The head.
    /// - Throws: `ConnectionLost` when the connection ended before a byte of an answer; `Trouble`: `ioFailure`,
    ///   `cancelled`, or what reading the package throws.
    package func ask(
        _ request: HTTPRequest, _ patience: Patience, monitor: Monitor = Monitor()
    ) throws -> ResponseHead {
        isClean = false
        let isWholeHead = try send(request.head, patience)
        var isWhole = isWholeHead
        if isWholeHead {
            switch request.body {
            case .none: break
            case .bytes(let bytes, _): isWhole = try send(bytes, patience)
            case .package(let package, let length):
                isWhole = try sendPackage(package, length, patience, monitor)
            }
        }
        let head = try finalHead(patience)
        isClean = isWhole && head.keepsConnection
        body =
            switch head.framing {
            case .none: .done
            case .length(let count): .length(count)
            case .chunked: .chunkStart
            case .untilClose: .untilClose
            }
        return head
    }

    /// Sends bytes; returns false when an answer came, or the connection closed, before all were sent.
    private func send(_ bytes: [UInt8], _ patience: Patience) throws(Trouble) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                Result { () throws(Trouble) in
                    try stream.send(UnsafeRawBufferPointer(rebasing: buffer[sent...]), patience)
                }
            }
            guard let count = try result.get(), count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func sendPackage(
        _ package: any PackageInput, _ length: Int64?, _ patience: Patience, _ monitor: Monitor
    ) throws -> Bool {
        if stream.isReadable(within: Self.continueSeconds, isCancelled: patience.isCancelled) {
            // What is there must be read: `100 Continue`, or the answer already.
            guard try input.peekStatus(patience) == 100 else { return false }
            _ = try head(patience)
        }
        var package = package
        var sent: Int64 = 0
        while true {
            try monitor.check()
            if stream.isReadable() { return false }
            let wanted = min(Self.pieceBytes, length.map { Int(clamping: $0 - sent) } ?? .max)
            if wanted == 0 { return true }
            let piece = try package.bytes(upTo: wanted)
            if piece.isEmpty {
                guard length == nil else { throw Trouble(.ioFailure, "the package became shorter while it was sent") }
                return try send(Array("0\r\n\r\n".utf8), patience)
            }
            let framed = length == nil ? Self.chunk(piece) : piece
            guard try send(framed, patience) else { return false }
            sent += Int64(piece.count)
            monitor.progress(sent, length ?? sent)
        }
    }

    /// Bytes of a package that are read and sent at once.
    private static let pieceBytes = 256 << 10

    private static func chunk(_ piece: [UInt8]) -> [UInt8] {
        Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [0x0D, 0x0A]
    }

    /// Reads heads until one is final.
    private func finalHead(_ patience: Patience) throws -> ResponseHead {
        for _ in 0...Self.maximumInterim {
            let head = try head(patience)
            if head.status >= 200 { return head }
            guard head.status != 101 else { break }
        }
        throw Trouble(.ioFailure, "nsh-trustd does not come to its answer")
    }

    private func head(_ patience: Patience) throws -> ResponseHead {
        let bytes = try input.head(limit: Self.maximumHead, patience)
        return try ResponseHead(parsing: bytes)
    }

    // MARK: - Reading the answer

    /// Reads the next piece of the answer's body; nil at its end.
    ///
    /// - Throws: `Trouble`: `ioFailure` when it ends too early or is not framed as its head says, `cancelled`.
    package func nextPiece(_ patience: Patience) throws(Trouble) -> [UInt8]? {
        while true {
            switch body {
            case .done: return nil
            case .untilClose:
                let piece = try input.bytes(upTo: .max, patience)
                if piece.isEmpty { body = .done }
                return piece.isEmpty ? nil : piece
            case .length(let left):
                let piece = try part(of: left, patience)
                body = left == Int64(piece.count) ? .done : .length(left - Int64(piece.count))
                return piece
            case .chunk(let left):
                let piece = try part(of: left, patience)
                if left > Int64(piece.count) {
                    body = .chunk(left - Int64(piece.count))
                } else {
                    guard try input.line(limit: 0, patience).isEmpty else { throw Self.badChunk }
                    body = .chunkStart
                }
                return piece
            case .chunkStart:
                let size = try chunkSize(patience)
                if size > 0 {
                    body = .chunk(size)
                } else {
                    try skipTrailers(patience)
                    body = .done
                }
            }
        }
    }

    /// Reads the whole body of an answer.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that are taken.
    ///   - patience: How long to wait.
    /// - Returns: The body.
    /// - Throws: `Trouble`: `ioFailure`, also for a body that is larger; `cancelled`.
    package func wholeBody(limit: Int, _ patience: Patience) throws(Trouble) -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try nextPiece(patience) {
            guard whole.count + piece.count <= limit else {
                isClean = false
                throw Trouble(.ioFailure, "the answer of nsh-trustd is larger than \(limit) bytes")
            }
            whole += piece
        }
        return whole
    }

    private func part(of left: Int64, _ patience: Patience) throws(Trouble) -> [UInt8] {
        let piece = try input.bytes(upTo: Int(clamping: left), patience)
        guard !piece.isEmpty else { throw InputBuffer.cutOff }
        return piece
    }

    private func chunkSize(_ patience: Patience) throws(Trouble) -> Int64 {
        let line = try input.line(limit: 1024, patience)
        let digits = line.prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }
        guard (1...15).contains(digits.count), let size = Int64(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.first != 0x2B, digits.first != 0x2D
        else { throw Self.badChunk }
        return size
    }

    private func skipTrailers(_ patience: Patience) throws(Trouble) {
        var left = Self.maximumHead
        while case let line = try input.line(limit: left, patience), !line.isEmpty { left -= min(left, line.count + 2) }
    }

    private static var badChunk: Trouble {
        Trouble(.ioFailure, "the answer of nsh-trustd is not chunked as it says")
    }
}
