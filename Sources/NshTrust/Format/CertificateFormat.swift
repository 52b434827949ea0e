extension Certificate {
    private enum Name: String, CaseIterable {
        case annotations, apps, content, key, notAfter, notBefore, publisher, serial
    }

    /// Reads a certificate payload.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that hold the payload.
    ///   - range: Where it lies in them.
    /// - Throws: `malformed` for anything that breaks the format.
    /// - Spec: CRT-1 … CRT-7
    package init(parsing bytes: [UInt8], in range: Range<Int>? = nil) throws(Refusal) {
        self = try JSONReader.read(bytes, in: range, subject: "the certificate") {
            (reader: inout JSONReader) throws(Refusal) in
            try Certificate(&reader)
        }
    }

    private init(_ reader: inout JSONReader) throws(Refusal) {
        var apps: [AppPattern] = []
        var content: Set<Content>?
        var key: PublicKey?
        var window: (notBefore: Int64, notAfter: Int64) = (0, 0)
        var publisher: DisplayText?
        var serial: Serial?
        var annotations = Annotations()
        try reader.members(of: Name.self, optional: [.annotations, .content]) {
            (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .annotations: annotations = try reader.annotations()
            case .apps: apps = try Self.patterns(&reader)
            case .content: content = try Self.content(&reader)
            case .key: key = try reader.publicKey()
            case .notAfter: window.notAfter = try reader.integer()
            case .notBefore: window.notBefore = try reader.integer()
            case .publisher: publisher = try reader.displayText("publisher")
            case .serial: serial = try reader.serial()
            }
        }
        guard let key, let publisher, let serial else { throw reader.malformed("a member is missing") }
        guard window.notBefore <= window.notAfter else { throw reader.malformed("“notBefore” is after “notAfter”") }
        self.init(
            apps: apps, content: content, key: key, notBefore: window.notBefore, notAfter: window.notAfter,
            publisher: publisher, serial: serial, annotations: annotations)
    }

    /// - Spec: CRT-3, APP-2, JSN-9, LIM-18
    private static func patterns(_ reader: inout JSONReader) throws(Refusal) -> [AppPattern] {
        let patterns = try reader.distinct("apps") { (reader: inout JSONReader) throws(Refusal) in
            let text = try reader.text()
            guard let pattern = AppPattern(text) else {
                throw reader.malformed("“\(Printable.escaped(text, limit: 80))” is not a pattern of app ids")
            }
            return pattern
        }
        guard (1...64).contains(patterns.count) else {
            throw reader.malformed("a certificate has 1 to 64 patterns, this one \(patterns.count)")
        }
        return patterns
    }

    /// - Spec: CRT-7, JSN-9
    private static func content(_ reader: inout JSONReader) throws(Refusal) -> Set<Content> {
        let kinds = try reader.distinct("content") { (reader: inout JSONReader) throws(Refusal) in
            guard let kind = Content(rawValue: try reader.text()) else {
                throw reader.malformed("“content” holds “source”, “bytecode” or both")
            }
            return kind
        }
        guard !kinds.isEmpty else { throw reader.malformed("“content” is empty") }
        return Set(kinds)
    }

    /// The payload as it is signed.
    package var serialized: [UInt8] {
        var object: JSONObject = [
            "apps": .array(apps.map { .text($0.description) }),
            "key": .text(key.base64),
            "notAfter": .integer(notAfter),
            "notBefore": .integer(notBefore),
            "publisher": .text(publisher.text),
            "serial": .text(serial.hex),
        ]
        if statesContent {
            object["content"] = .array(Content.allCases.filter(content.contains).map { .text($0.rawValue) })
        }
        object["annotations"] = annotations.json
        return JSONValue.object(object).serialized
    }
}
