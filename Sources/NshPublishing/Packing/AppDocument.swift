internal import NshTrust

/// `app.json` and `capabilities.json` as they go into a package, and what the header says of them.
///
/// - Spec: SUM-9, SUM-10, PKG-7, PKG-8
struct AppDocument: Sendable {
    /// Path of the app's description.
    static let path = Array("app.json".utf8)
    /// Path of the app's wishes.
    static let capabilitiesPath = Array("capabilities.json".utf8)
    /// The most bytes that either may have.
    static let maxBytes: Int64 = 1 << 20

    /// The four members that `app.json` and the header share.
    let app: PackageHeader.App
    /// The bytes of `app.json`: the source's own, unless options change a member.
    let bytes: [UInt8]

    /// Takes the source's `app.json`, replaces the members that options give, or makes one of options alone.
    ///
    /// - Parameters:
    ///   - source: The bytes of the source's `app.json`, or nil without one.
    ///   - options: The members to replace.
    /// - Throws: `manifestMismatch` when `app.json` is no strict JSON object or lacks a member that no option gives,
    ///   `badRequest` when there is no `app.json` and an option is missing, `malformed` when an option breaks the format,
    ///   `limitExceeded` when the changed document is too large.
    init(source: [UInt8]?, options: PackageOptions) throws {
        var given: [(name: String, value: JSONValue)] = []
        if let id = options.id { given.append(("id", .text(id))) }
        if let name = options.name { given.append(("name", .text(name))) }
        if let version = options.version { given.append(("version", .text(version))) }
        if let build = options.build { given.append(("build", .integer(build))) }
        var object = JSONObject()
        if let source { object = try Self.parse(source) }
        let changed = given.filter { object[$0.name] != $0.value }
        for member in changed { object[member.name] = member.value }
        app = try Self.app(object, hasSource: source != nil)
        bytes = source != nil && changed.isEmpty ? source ?? [] : JSONValue.object(object).serialized + [0x0A]
        guard bytes.count <= Self.maxBytes else {
            throw Refusal(.limitExceeded, "app.json would have \(bytes.count) bytes, the limit is \(Self.maxBytes)")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(Refusal) -> JSONObject {
        do {
            return try JSONReader.read(bytes, subject: "app.json") { (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .any)
            }
        } catch {
            throw Refusal(.manifestMismatch, error.message)
        }
    }

    private static func app(_ object: JSONObject, hasSource: Bool) throws -> PackageHeader.App {
        let missing = ["id", "name", "version", "build"].filter { object[$0] == nil }
        guard missing.isEmpty else {
            let options = missing.map { "--\($0)" }.joined(separator: ", ")
            if hasSource {
                throw Refusal(
                    .manifestMismatch,
                    "app.json has no \(missing.joined(separator: ", no ")); add it, or give \(options)")
            }
            throw Trouble(.badRequest, "there is no app.json, and \(options) must be given to make one")
        }
        guard case .text(let id)? = object["id"], let id = AppID(id) else {
            throw Refusal(
                .malformed, "the app id is not two or more segments of letters, digits, “_” and “-” joined by “.”")
        }
        guard case .text(let name)? = object["name"], let name = DisplayText(name) else {
            throw Refusal(.malformed, "the app’s name is not 1 to 255 bytes of displayable text")
        }
        guard case .text(let version)? = object["version"], let version = DisplayText(version) else {
            throw Refusal(.malformed, "the app’s version is not 1 to 255 bytes of displayable text")
        }
        guard case .integer(let build)? = object["build"], (0...JSONReader.maximumInteger).contains(build) else {
            throw Refusal(.malformed, "the app’s build is not a whole number from 0 to 2⁵³−1")
        }
        return PackageHeader.App(id: id, name: name, version: version, build: build)
    }

    /// Reads the source's `capabilities.json`.
    ///
    /// - Returns: What goes into the header.
    /// - Throws: `manifestMismatch` when it is no strict JSON object whose numbers are integers.
    static func capabilities(_ source: [UInt8]) throws(Refusal) -> JSONObject {
        do {
            return try JSONReader.read(source, subject: "capabilities.json") {
                (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .integers)
            }
        } catch {
            throw Refusal(.manifestMismatch, error.message)
        }
    }
}
