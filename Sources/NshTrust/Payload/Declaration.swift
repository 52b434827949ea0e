/// A file that repeats, for people and old tools, what the signed header says: it must say the same.
///
/// - Spec: SUM-9, SUM-10, SUM-15
enum Declaration: String {
    case app = "app.json"
    case capabilities = "capabilities.json"

    /// Bytes of such a file.
    static let maxBytes = 1 << 20

    /// Recognises a path, compared byte for byte; nil for every other one.
    init?(path: [UInt8]) {
        guard path.count <= Self.capabilities.rawValue.utf8.count else { return nil }
        switch path {
        case _ where path.elementsEqual(Self.app.rawValue.utf8): self = .app
        case _ where path.elementsEqual(Self.capabilities.rawValue.utf8): self = .capabilities
        default: return nil
        }
    }

    /// Refuses a file that is not strict JSON or says something else than the header.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - header: The signed header.
    /// - Throws: `manifestMismatch`.
    func judge(_ bytes: [UInt8], header: PackageHeader) throws(Refusal) {
        let found: JSONObject
        do {
            found = try JSONReader.read(bytes, subject: rawValue) { (reader: inout JSONReader) throws(Refusal) in
                try self == .app
                    ? Self.repeated(&reader)
                    : reader.tree(numbers: .integers, compactMax: PackageHeader.capabilitiesMaxBytes)
            }
        } catch {
            throw Refusal(.manifestMismatch, error.message)
        }
        switch self {
        case .app:
            for (name, expected) in header.app.json.members {
                guard let value = found[name] else {
                    throw Refusal(.manifestMismatch, "app.json has no “\(name)”, expected \(Self.shown(expected))")
                }
                guard value == expected else {
                    throw Refusal(
                        .manifestMismatch,
                        "app.json has the \(name) \(Self.shown(value)), expected \(Self.shown(expected))")
                }
            }
        case .capabilities:
            guard let expected = header.capabilities, found == expected else {
                throw Refusal(.manifestMismatch, "capabilities.json is not what the header has as its capabilities")
            }
        }
    }

    /// The names of `app.json` that the header has too; what the others hold is read and dropped.
    private static func repeated(_ reader: inout JSONReader) throws(Refusal) -> JSONObject {
        let names = ["build", "id", "name", "version"]
        var object = JSONObject()
        try reader.dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
            guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                return try reader.skip(numbers: .any)
            }
            object.append(name, try reader.value(numbers: .any))
        }
        return object
    }

    private static func shown(_ value: JSONValue) -> String { Printable.escaped(bytes: value.serialized, limit: 80) }
}
