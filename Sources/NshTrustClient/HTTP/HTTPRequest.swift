package import NshTrust

/// A question for the daemon.
package struct HTTPRequest {
    /// What follows the head.
    package enum Body {
        /// Nothing.
        case none
        /// Bytes of a media type.
        case bytes([UInt8], contentType: String)
        /// A package, read while it is sent; its length in bytes where it is known.
        case package(any PackageInput, length: Int64?)
    }

    /// The method.
    package var method: String
    /// The path and the query, percent-encoded.
    package var target: String
    /// The body.
    package var body: Body
    /// What kind of answer is expected.
    package var accept: String
    /// Whether asking twice does no more than asking once.
    package var isRepeatable: Bool

    /// Makes a question that changes nothing.
    package static func get(_ target: String, accept: String = "application/json") -> HTTPRequest {
        HTTPRequest(method: "GET", target: target, body: .none, accept: accept, isRepeatable: true)
    }

    /// Makes a question with a JSON body; it is repeatable when asking twice does no more than asking once.
    package static func post(_ target: String, _ object: JSONObject, isRepeatable: Bool) -> HTTPRequest {
        post(target, JSONValue.object(object).serialized, isRepeatable: isRepeatable)
    }

    /// Makes a question whose body is a JSON document as it is.
    package static func post(_ target: String, _ document: [UInt8], isRepeatable: Bool) -> HTTPRequest {
        HTTPRequest(
            method: "POST", target: target, body: .bytes(document, contentType: "application/json"),
            accept: "application/json", isRepeatable: isRepeatable)
    }

    /// Makes a question about a package that is sent along.
    package static func post(_ target: String, package input: any PackageInput, length: Int64?) -> HTTPRequest {
        HTTPRequest(
            method: "POST", target: target, body: .package(input, length: length), accept: "application/json",
            isRepeatable: false)
    }

    /// The head with its empty line.
    var head: [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        head += "User-Agent: nsh-trust-client/\(NshTrust.version)\r\nAccept: \(accept)\r\n"
        switch body {
        case .none: break
        case .bytes(let bytes, let contentType):
            head += "Content-Type: \(contentType)\r\nContent-Length: \(bytes.count)\r\n"
        case .package(_, let length):
            head += "Content-Type: application/vnd.nsh.package\r\nExpect: 100-continue\r\n"
            head += length.map { "Content-Length: \($0)\r\n" } ?? "Transfer-Encoding: chunked\r\n"
        }
        return Array((head + "\r\n").utf8)
    }

    /// Percent-encodes text for a path's segment or a query's value.
    package static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return result
    }
}
