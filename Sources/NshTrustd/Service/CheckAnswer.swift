import NshTrust
import NshTrustWire

/// The bytes of the answer to `check`, which is given more often than all others together.
///
/// The document is `CheckDocument`; this writes the same bytes without a tree of values in between.
enum CheckAnswer {
    /// Writes the answer.
    static func response(_ document: CheckDocument) -> Response {
        var body: [UInt8] = []
        body.reserveCapacity(1024)
        append(#"{"verdict":"#, document.verdict.rawValue, to: &body)
        body += #","code":"#.utf8
        if let code = document.code { quote(code, to: &body) } else { body += "null".utf8 }
        append(#","message":"#, document.message, to: &body)
        append(#","app":{"id":"#, document.app.id, to: &body)
        append(#","name":"#, document.app.name, to: &body)
        append(#","version":"#, document.app.version, to: &body)
        body += #","build":"#.utf8
        body += String(document.app.build).utf8
        append(#"},"publisher":"#, document.publisher, to: &body)
        append(#","digest":"#, document.digest, to: &body)
        append(#","directory":"#, document.directory, to: &body)
        append(#","lease":"#, document.lease, to: &body)
        body.append(0x7D)
        return Response(status: 200, body: body)
    }

    private static func append(_ name: StaticString, _ text: String, to body: inout [UInt8]) {
        body += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        quote(text, to: &body)
    }

    /// Adds text in quotes; what is not plain ASCII is left to the one writer of JSON.
    private static func quote(_ text: String, to body: inout [UInt8]) {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        guard isPlain else {
            body += JSONLine.quoted(text).utf8
            return
        }
        body.append(0x22)
        body += text.utf8
        body.append(0x22)
    }
}
