package import NshTrust

/// The head of an HTTP/1.1 answer.
package struct ResponseHead: Hashable, Sendable {
    /// How the end of the body is found.
    package enum Framing: Hashable, Sendable {
        /// There is no body.
        case none
        /// So many bytes follow.
        case length(Int64)
        /// Chunks follow, the last of them empty.
        case chunked
        /// The body ends with the connection.
        case untilClose
    }

    /// The status, 100 … 599.
    package let status: Int
    /// Whether the connection may be used again after the body.
    package let keepsConnection: Bool
    /// How the end of the body is found.
    package let framing: Framing
    /// `Content-Type` without parameters, lower case; empty when there is none.
    package let contentType: String

    /// Reads a head.
    ///
    /// Strict where a mistake would mix up what belongs to which answer: lengths, framing, line ends.
    ///
    /// - Parameter bytes: The lines of the head, each with its CRLF, without the empty line.
    /// - Throws: `ioFailure` for what is no answer.
    package init(parsing bytes: some Collection<UInt8>) throws(Trouble) {
        var lines = try Self.lines(Array(bytes))
        guard !lines.isEmpty else { throw Self.wrong("it is empty") }
        let isNewer: Bool
        (status, isNewer) = try Self.statusLine(lines.removeFirst())
        var fields: [String: [String]] = [:]
        for line in lines {
            let (name, value) = try Self.field(line)
            fields[name, default: []].append(value)
        }
        framing = try Self.framing(fields, status)
        let connection = Self.words(fields["connection"])
        let mayKeep = isNewer ? !connection.contains("close") : connection.contains("keep-alive")
        keepsConnection = mayKeep && framing != .untilClose
        let type = fields["content-type"]?.first?.prefix { $0 != ";" } ?? ""
        contentType = type.lowercased().filter { $0 != " " && $0 != "\t" }
    }

    private static func wrong(_ problem: String) -> Trouble {
        Trouble(.ioFailure, "what answers is not nsh-trustd, or is broken: the head of its answer is wrong: \(problem)")
    }

    private static func lines(_ bytes: [UInt8]) throws(Trouble) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            guard let end = bytes[start...].firstIndex(of: 0x0D), end + 1 < bytes.count, bytes[end + 1] == 0x0A else {
                throw wrong("a line does not end in CRLF")
            }
            let line = Array(bytes[start..<end])
            guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw wrong("a control character stands in it")
            }
            lines.append(line)
            start = end + 2
        }
        return lines
    }

    private static func statusLine(_ line: [UInt8]) throws(Trouble) -> (status: Int, isNewer: Bool) {
        let isNewer = line.starts(with: "HTTP/1.1 ".utf8)
        guard isNewer || line.starts(with: "HTTP/1.0 ".utf8), line.count >= 12 else {
            throw wrong("it does not begin with HTTP/1.1")
        }
        let digits = line[9..<12]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), line.count == 12 || line[12] == 0x20 else {
            throw wrong("it has no status")
        }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard (100...599).contains(status) else { throw wrong("it has the status \(status)") }
        return (status, isNewer)
    }

    private static func field(_ line: [UInt8]) throws(Trouble) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 0x3A), colon > 0 else { throw wrong("a line of it is no header") }
        let name = line[..<colon]
        let marks = Array("!#$%&'*+-.^_`|~".utf8)
        let isToken = name.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || marks.contains(byte)
        }
        guard isToken else { throw wrong("a header has a bad name") }
        let rest = line[(colon + 1)...]
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let value = rest.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return (String(decoding: name, as: UTF8.self).lowercased(), String(decoding: Array(value), as: UTF8.self))
    }

    private static func framing(_ fields: [String: [String]], _ status: Int) throws(Trouble) -> Framing {
        let codings = words(fields["transfer-encoding"])
        let lengths = fields["content-length"] ?? []
        guard codings.isEmpty || codings == ["chunked"] else { throw wrong("it has a transfer encoding of its own") }
        guard codings.isEmpty || lengths.isEmpty else { throw wrong("it has a length and a transfer encoding") }
        var length: Int64?
        for text in lengths {
            let isNumber = !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let number = Int64(text), length == nil || length == number else {
                throw wrong("its length is no number")
            }
            length = number
        }
        if status < 200 || status == 204 || status == 304 { return .none }
        if !codings.isEmpty { return .chunked }
        return length.map { $0 == 0 ? .none : .length($0) } ?? .untilClose
    }

    /// The words of a header that is a list, lower case.
    private static func words(_ values: [String]?) -> [String] {
        (values ?? []).flatMap { $0.split(separator: ",") }
            .map { word in word.lowercased().filter { $0 != " " && $0 != "\t" } }
            .filter { !$0.isEmpty }
    }
}
