package import NshTrust

/// Reads an answer of the daemon member by member: a wrong type is an error, a member that is not known is passed over,
/// because newer daemons may say more.
package struct WireReader: Sendable {
    /// The members as they came.
    package let object: JSONObject
    private let subject: String

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: Strict JSON.
    ///   - subject: What it is, for messages: `the daemon's verdict`.
    /// - Throws: `ioFailure` for what is not one JSON object.
    package init(parsing bytes: [UInt8], subject: String) throws(Trouble) {
        do {
            object = try JSONReader.read(bytes, subject: subject) { (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .any)
            }
        } catch {
            throw Trouble(.ioFailure, error.message)
        }
        self.subject = subject
    }

    /// Reads an object that is part of a document.
    package init(_ object: JSONObject, subject: String) {
        self.object = object
        self.subject = subject
    }

    // MARK: - Members that must be there

    /// Reads text.
    package func text(_ name: String) throws(Trouble) -> String { try required(name, textIfPresent(name)) }

    /// Reads an integer.
    package func integer(_ name: String) throws(Trouble) -> Int64 { try required(name, integerIfPresent(name)) }

    /// Reads a Boolean.
    package func boolean(_ name: String) throws(Trouble) -> Bool {
        try required(name, booleanIfPresent(name))
    }

    /// Reads an array of texts.
    package func texts(_ name: String) throws(Trouble) -> [String] {
        var texts: [String] = []
        for value in try required(name, arrayIfPresent(name)) {
            guard case .text(let text) = value else { throw wrong(name, "an array of texts") }
            texts.append(text)
        }
        return texts
    }

    /// Reads an array of objects.
    package func objects(_ name: String) throws(Trouble) -> [WireReader] {
        var objects: [WireReader] = []
        for value in try required(name, arrayIfPresent(name)) {
            guard case .object(let object) = value else { throw wrong(name, "an array of objects") }
            objects.append(WireReader(object, subject: subject))
        }
        return objects
    }

    // MARK: - Members that may be absent; null counts as absent

    /// Reads text, or nil when there is none.
    package func textIfPresent(_ name: String) throws(Trouble) -> String? {
        guard let value = value(name) else { return nil }
        guard case .text(let text) = value else { throw wrong(name, "text") }
        return text
    }

    /// Reads an integer, or nil when there is none.
    package func integerIfPresent(_ name: String) throws(Trouble) -> Int64? {
        guard let value = value(name) else { return nil }
        guard case .integer(let integer) = value else { throw wrong(name, "an integer") }
        return integer
    }

    /// Reads a Boolean, or nil when there is none.
    package func booleanIfPresent(_ name: String) throws(Trouble) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .boolean(let boolean) = value else { throw wrong(name, "true or false") }
        return boolean
    }

    /// Reads an array of texts, empty when there is none.
    package func textsIfPresent(_ name: String) throws(Trouble) -> [String] {
        value(name) == nil ? [] : try texts(name)
    }

    /// Reads an object, or nil when there is none.
    package func readerIfPresent(_ name: String) throws(Trouble) -> WireReader? {
        guard let value = value(name) else { return nil }
        guard case .object(let object) = value else { throw wrong(name, "an object") }
        return WireReader(object, subject: subject)
    }

    /// Reads an object, which must be there.
    package func reader(_ name: String) throws(Trouble) -> WireReader { try required(name, readerIfPresent(name)) }

    /// Reads an object whose values are texts, empty when there is none.
    package func textsByName(_ name: String) throws(Trouble) -> [String: String] {
        guard let reader = try readerIfPresent(name) else { return [:] }
        var texts: [String: String] = [:]
        for member in reader.object.members { texts[member.name] = try reader.text(member.name) }
        return texts
    }

    /// Makes the error of a member that does not say what it should.
    package func wrong(_ name: String, _ expected: String) -> Trouble {
        Trouble(.ioFailure, "\(subject) is not understood: “\(Printable.escaped(name, limit: 40))” is not \(expected)")
    }

    private func arrayIfPresent(_ name: String) throws(Trouble) -> [JSONValue]? {
        guard let value = value(name) else { return nil }
        guard case .array(let values) = value else { throw wrong(name, "an array") }
        return values
    }

    private func value(_ name: String) -> JSONValue? {
        let value = object[name]
        return value == .null ? nil : value
    }

    private func required<Value>(_ name: String, _ value: Value?) throws(Trouble) -> Value {
        guard let value else { throw Trouble(.ioFailure, "\(subject) is not understood: “\(name)” is missing") }
        return value
    }
}
