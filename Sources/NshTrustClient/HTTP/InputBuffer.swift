import NshTrust

/// What came from the other side and was not taken yet.
struct InputBuffer {
    private let stream: UnixStream
    private var bytes: [UInt8] = []
    private var start = 0

    /// Bytes that are asked for at once.
    private static let pieceBytes = 64 << 10

    init(_ stream: UnixStream) { self.stream = stream }

    /// Whether nothing waits.
    var isEmpty: Bool { start == bytes.count }

    /// The trouble of an answer whose end is missing.
    static var cutOff: Trouble {
        Trouble(.ioFailure, "nsh-trustd closed the connection in the middle of its answer")
    }

    /// Takes the lines up to an empty one, which is dropped.
    ///
    /// - Throws: `ConnectionLost` when not a byte came, `Trouble`: `ioFailure`, `cancelled`.
    mutating func head(limit: Int, _ patience: Patience) throws -> [UInt8] {
        var looked = start
        while true {
            if let end = endOfHead(from: looked) {
                let head = Array(bytes[start..<(end - 2)])
                start = end
                return head
            }
            guard bytes.count - start <= limit else {
                throw Trouble(.ioFailure, "the head of nsh-trustd's answer is larger than \(limit) bytes")
            }
            looked = max(bytes.count - 3, start)
            let had = bytes.count - start
            let previousStart = start
            guard try fill(patience) else { throw had == 0 ? ConnectionLost() as any Error : Self.cutOff }
            looked -= previousStart - start
        }
    }

    /// Where the empty line that ends a head is over; nil when it has not come yet.
    private func endOfHead(from looked: Int) -> Int? {
        guard bytes.count - looked >= 4 else { return nil }
        for at in looked...(bytes.count - 4)
        where bytes[at] == 0x0D && bytes[at + 1] == 0x0A && bytes[at + 2] == 0x0D && bytes[at + 3] == 0x0A {
            return at + 4
        }
        return nil
    }

    /// Looks at the status of a head that begins to come, and takes nothing.
    ///
    /// - Returns: The three digits of the status; 0 when there are none.
    /// - Throws: `ConnectionLost` when not a byte comes, `Trouble`.
    mutating func peekStatus(_ patience: Patience) throws -> Int {
        while bytes.count - start < 12 {
            let isFirst = isEmpty
            guard try fill(patience) else { throw isFirst ? ConnectionLost() as any Error : Self.cutOff }
        }
        let digits = bytes[(start + 9)..<(start + 12)]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Takes a line without its CRLF.
    ///
    /// - Throws: `Trouble`: `ioFailure` for a line that is longer, has another end or none; `cancelled`.
    mutating func line(limit: Int, _ patience: Patience) throws(Trouble) -> [UInt8] {
        var line: [UInt8] = []
        while true {
            if isEmpty, !(try fill(patience)) { throw Self.cutOff }
            let byte = bytes[start]
            start += 1
            if byte == 0x0A {
                guard line.popLast() == 0x0D else { break }
                return line
            }
            line.append(byte)
            // The CR of the line end is on top of what is allowed.
            if line.count > limit + 1 { break }
        }
        throw Trouble(.ioFailure, "the answer of nsh-trustd is not chunked as it says")
    }

    /// Takes at most so many bytes of what waits, or of what comes next; none at the end.
    mutating func bytes(upTo count: Int, _ patience: Patience) throws(Trouble) -> [UInt8] {
        if isEmpty, !(try fill(patience)) { return [] }
        let taken = Array(bytes[start...].prefix(count))
        start += taken.count
        return taken
    }

    /// Waits for more bytes; returns false at the end.
    private mutating func fill(_ patience: Patience) throws(Trouble) -> Bool {
        bytes.removeFirst(start)
        start = 0
        let had = bytes.count
        bytes += [UInt8](repeating: 0, count: Self.pieceBytes)
        let stream = stream
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Trouble) in
                try stream.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[had...]), patience)
            }
        }
        switch result {
        case .success(let count):
            bytes.removeLast(Self.pieceBytes - count)
            return count > 0
        case .failure(let trouble):
            bytes.removeLast(Self.pieceBytes)
            throw trouble
        }
    }
}
