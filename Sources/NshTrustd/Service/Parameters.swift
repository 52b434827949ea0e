import NshTrust

/// A parameter of a request's query, path or head.
struct Parameter: Sendable {
    /// Where it stands.
    enum Place: String, Sendable {
        case path
        case query
        case header
    }

    /// What it may be.
    enum Kind: Sendable {
        case appID
        case boolean
        case integer(ClosedRange<Int64>)
    }

    /// Its name.
    let name: String
    /// Where it stands.
    var place = Place.query
    /// What it may be.
    let kind: Kind
    /// What it says, for people.
    let summary: String

    /// Tells whether the text is a value of the kind, in its one spelling.
    func accepts(_ text: String) -> Bool {
        switch kind {
        case .appID: return AppID(text) != nil
        case .boolean: return text == "true" || text == "false"
        case .integer(let range):
            let digits = text.utf8
            guard digits.count <= 16, !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
                digits.first != 0x30 || digits.count == 1, let value = Int64(text)
            else { return false }
            return range.contains(value)
        }
    }

    /// What it may be, for people.
    var expectation: String {
        switch kind {
        case .appID: "an app id"
        case .boolean: "true or false"
        case .integer(let range): "an integer of \(range.lowerBound) to \(range.upperBound)"
        }
    }
}

/// The parameters of one request, each found to be what its route says.
struct QueryArguments: Sendable {
    private let values: [(name: String, text: String)]

    private init(values: [(name: String, text: String)]) { self.values = values }

    /// Reads the parameters of a request.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - route: Its route.
    ///   - path: What stands in the variable places of the path, by name.
    /// - Returns: The parameters that are there.
    /// - Throws: `badRequest` naming one that is not known, comes twice, or is not what it should be.
    static func read(
        _ head: RequestHead, _ route: Route, path: [(name: String, value: String)]
    ) throws(Problem) -> QueryArguments {
        guard let query = head.query else { throw Problem(.badRequest, "the query is not UTF-8 in percent-encoding") }
        var given = path.map { (place: Parameter.Place.path, name: $0.name, value: $0.value) }
        given += query.map { (place: .query, name: $0.name, value: $0.value) }
        if let last = head.lastEventID, route.parameters.contains(where: { $0.place == .header }) {
            given.append((place: .header, name: Parameter.lastEventID, value: last))
        }
        var values: [(name: String, text: String)] = []
        for (place, name, value) in given {
            let shown = Printable.escaped(name, limit: 80)
            guard let parameter = route.parameters.first(where: { $0.name == name && $0.place == place }) else {
                throw Problem(.badRequest, "the parameter “\(shown)” is not known", member: shown)
            }
            guard !values.contains(where: { $0.name == name }) else {
                throw Problem(.badRequest, "the parameter “\(shown)” stands twice", member: shown)
            }
            guard parameter.accepts(value) else {
                throw Problem(.badRequest, "the parameter “\(shown)” is not \(parameter.expectation)", member: shown)
            }
            values.append((name, value))
        }
        return QueryArguments(values: values)
    }

    /// The integer of a name, or nil when it is not there.
    func integer(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }
    /// Whether the parameter is there and true.
    func boolean(_ name: String) -> Bool { text(name) == "true" }
    /// The app id of a name, or nil when it is not there.
    func appID(_ name: String) -> AppID? { text(name).flatMap { AppID($0) } }

    private func text(_ name: String) -> String? { values.first { $0.name == name }?.text }
}

extension Parameter {
    /// The header by which a client of server-sent events says where it was.
    static let lastEventID = "Last-Event-ID"
}
