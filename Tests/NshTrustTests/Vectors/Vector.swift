import FoundationEssentials

@testable import NshTrust

/// One entry of `testvectors/index.json`, read strictly: a member that is not known fails the run.
struct Vector: Sendable, CustomStringConvertible {
    /// What a vector says must come out.
    struct Expectation: Sendable {
        let verdict: String
        let code: String?
        let members: JSONObject
    }

    /// One step of a sequence.
    struct Step: Sendable {
        let action: String
        let file: String?
        let at: Int64?
        let of: Int?
        let options: JSONObject?
        let expect: Expectation
    }

    let name: String
    let kind: String
    let rules: [String]
    let file: String?
    let roots: [String]
    let revocations: [String]
    let at: Int64?
    let options: JSONObject
    let id: String?
    let passphrase: String?
    let steps: [Step]
    let expect: Expectation

    var description: String { name }

    /// Where the vectors lie.
    static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("testvectors")

    /// Reads a file that a vector names.
    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appendingPathComponent(path)))
    }

    /// Reads the vectors of one kind.
    ///
    /// - Returns: The vectors; a file that cannot be read gives one vector that no runner knows, which fails the run.
    static func all(_ kind: String) -> [Vector] {
        do {
            return try load().filter { $0.kind == kind }
        } catch {
            return [Vector(broken: "\(error)")]
        }
    }

    private static func load() throws -> [Vector] {
        let index = try JSONReader.read(try bytes("index.json"), subject: "index.json") {
            (reader: inout JSONReader) throws(Refusal) in try reader.tree(numbers: .integers)
        }
        guard case .array(let values)? = index["vectors"] else { throw VectorError("no vectors") }
        return try values.map { value in
            guard case .object(let object) = value else { throw VectorError("a vector is no object") }
            return try Vector(object)
        }
    }

    private init(broken message: String) {
        name = "index.json: \(message)"
        kind = "broken"
        rules = []
        file = nil
        roots = []
        revocations = []
        at = nil
        options = JSONObject()
        id = nil
        passphrase = nil
        steps = []
        expect = Expectation(verdict: "", code: nil, members: JSONObject())
    }

    private init(_ object: JSONObject) throws {
        try object.allow([
            "name", "title", "kind", "rules", "file", "roots", "revocations", "at", "options", "id", "passphrase",
            "steps", "expect",
        ])
        name = try object.text("name")
        kind = try object.text("kind")
        rules = try object.texts("rules")
        file = try object.optionalText("file")
        roots = try object.texts("roots")
        revocations = try object.texts("revocations")
        at = try object.integer("at")
        options = try object.object("options") ?? JSONObject()
        id = try object.optionalText("id")
        passphrase = try object.optionalText("passphrase")
        expect = try Expectation(object)
        steps = try object.array("steps").map { value in
            guard case .object(let step) = value else { throw VectorError("\(object): a step is no object") }
            return try Step(step)
        }
    }
}

extension Vector.Expectation {
    fileprivate init(_ parent: JSONObject) throws {
        guard let object = try parent.object("expect") else {
            // Of a sequence the steps say what is expected.
            self.init(verdict: "", code: nil, members: JSONObject())
            return
        }
        try object.allow([
            "verdict", "code", "digest", "app", "files", "unpackedSize", "issuer", "sequence", "public", "keyHash",
            "keyID",
            "directoryName", "serial", "publisher",
        ])
        self.init(verdict: try object.text("verdict"), code: try object.optionalText("code"), members: object)
    }
}

extension Vector.Step {
    fileprivate init(_ object: JSONObject) throws {
        try object.allow(["do", "file", "at", "of", "options", "expect"])
        self.init(
            action: try object.text("do"), file: try object.optionalText("file"), at: try object.integer("at"),
            of: try object.integer("of").map(Int.init), options: try object.object("options"),
            expect: try Vector.Expectation(object))
    }
}

/// What is wrong with the index.
struct VectorError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension JSONObject {
    fileprivate func allow(_ names: Set<String>) throws {
        for member in members where !names.contains(member.name) { throw VectorError("unknown member \(member.name)") }
    }

    func text(_ name: String) throws -> String {
        guard case .text(let text)? = self[name] else { throw VectorError("\(name) is no text") }
        return text
    }

    func optionalText(_ name: String) throws -> String? {
        guard let value = self[name], value != .null else { return nil }
        guard case .text(let text) = value else { throw VectorError("\(name) is no text") }
        return text
    }

    func integer(_ name: String) throws -> Int64? {
        guard let value = self[name] else { return nil }
        guard case .integer(let integer) = value else { throw VectorError("\(name) is no integer") }
        return integer
    }

    func object(_ name: String) throws -> JSONObject? {
        guard let value = self[name] else { return nil }
        guard case .object(let object) = value else { throw VectorError("\(name) is no object") }
        return object
    }

    func array(_ name: String) throws -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard case .array(let array) = value else { throw VectorError("\(name) is no array") }
        return array
    }

    func texts(_ name: String) throws -> [String] {
        try array(name).map { value in
            guard case .text(let text) = value else { throw VectorError("\(name) holds something else than text") }
            return text
        }
    }
}
