extension JSONReader {
    /// Reads a name, version or publisher.
    ///
    /// - Spec: TXT-1, TXT-2
    package mutating func displayText(_ what: String) throws(Refusal) -> DisplayText {
        guard let text = DisplayText(try text()) else {
            throw malformed("“\(what)” needs 1 to 255 bytes of displayable text")
        }
        return text
    }

    /// Reads an app id.
    package mutating func appID() throws(Refusal) -> AppID { try appID(try text()) }

    /// Judges an app id that was read as a name.
    ///
    /// - Spec: APP-1
    package func appID(_ text: String) throws(Refusal) -> AppID {
        guard let id = AppID(text) else {
            throw malformed("“\(Printable.escaped(text, limit: 80))” is not an app id")
        }
        return id
    }

    /// Reads an Ed25519 public key.
    ///
    /// - Spec: CRT-4
    package mutating func publicKey() throws(Refusal) -> PublicKey {
        guard let key = PublicKey(try base64()) else { throw malformed("32 bytes are expected") }
        return key
    }

    /// Reads annotations.
    ///
    /// - Spec: JSN-12, LIM-17
    package mutating func annotations() throws(Refusal) -> Annotations {
        var annotations = Annotations()
        try dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
            let text = try reader.text()
            guard annotations.add(name, text) else {
                throw reader.malformed("annotations are at most 64, names [a-z0-9.-]{1,64}, texts 1024 bytes")
            }
        }
        return annotations
    }

    /// Reads a long array that holds nothing twice, in any order, into memory for its values alone.
    ///
    /// - Parameters:
    ///   - what: The array's name, for messages.
    ///   - textBytes: Bytes that a value takes in the document at least, with its quotes and a comma.
    ///   - element: Reads a value.
    /// - Returns: The values.
    /// - Throws: `malformed`, or what `element` throws.
    /// - Spec: JSN-9
    package mutating func set<Element: Comparable & Sendable>(
        _ what: String, textBytes: Int, _ element: (inout JSONReader) throws(Refusal) -> Element
    ) throws(Refusal) -> SortedSet<Element> {
        guard let set = SortedSet(distinct: try elements(textBytes, element)) else {
            throw malformed("“\(what)” holds an entry twice")
        }
        return set
    }

    private mutating func elements<Element>(
        _ textBytes: Int, _ element: (inout JSONReader) throws(Refusal) -> Element
    ) throws(Refusal) -> [Element] {
        var elements: [Element] = []
        try array { (reader: inout JSONReader) throws(Refusal) in
            if elements.isEmpty { elements.reserveCapacity(reader.bytesLeft / textBytes + 1) }
            elements.append(try element(&reader))
        }
        return elements
    }

    /// Reads an array that holds nothing twice.
    ///
    /// - Spec: JSN-9
    package mutating func distinct<Element: Hashable>(
        _ what: String, _ element: (inout JSONReader) throws(Refusal) -> Element
    ) throws(Refusal) -> [Element] {
        var elements: [Element] = []
        var seen: Set<Element> = []
        try array { (reader: inout JSONReader) throws(Refusal) in
            let value = try element(&reader)
            guard seen.insert(value).inserted else { throw reader.malformed("“\(what)” holds an entry twice") }
            elements.append(value)
        }
        return elements
    }
}

extension Annotations {
    /// The notes as JSON, or nil when there are none.
    package var json: JSONValue? {
        guard !entries.isEmpty else { return nil }
        var object = JSONObject()
        for entry in entries { object.append(entry.name, .text(entry.text)) }
        return .object(object)
    }
}
