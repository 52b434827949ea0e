extension RevocationList {
    private enum Name: String, CaseIterable {
        case annotations, certificates, expiresAt, issuedAt, issuer, keys, maximumBuilds, minimumBuilds, packages
        case revokesIssuer, sequence, transfers
    }

    /// Reads a revocation list payload.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that hold the payload.
    ///   - range: Where it lies in them.
    /// - Throws: `malformed` for anything that breaks the format.
    /// - Spec: REV-1 … REV-4
    package init(parsing bytes: [UInt8], in range: Range<Int>? = nil) throws(Refusal) {
        self = try JSONReader.read(bytes, in: range, subject: "the revocation list") {
            (reader: inout JSONReader) throws(Refusal) in
            try RevocationList(&reader)
        }
    }

    private init(_ reader: inout JSONReader) throws(Refusal) {
        var list = RevocationList(issuer: .zero, sequence: 1, issuedAt: 0)
        try reader.members(of: Name.self, optional: [.annotations, .expiresAt, .maximumBuilds, .transfers]) {
            (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .annotations: list.annotations = try reader.annotations()
            case .certificates:
                list.certificates = try reader.set("certificates", textBytes: 35) {
                    (reader: inout JSONReader) throws(Refusal) in try reader.serial()
                }
            case .expiresAt: list.expiresAt = try reader.integer()
            case .issuedAt: list.issuedAt = try reader.integer()
            case .issuer: list.issuer = try reader.digest()
            case .keys: list.keys = try Self.digests("keys", &reader)
            case .maximumBuilds: list.maximumBuilds = try Self.builds(&reader)
            case .minimumBuilds: list.minimumBuilds = try Self.builds(&reader)
            case .packages: list.packages = try Self.digests("packages", &reader)
            case .revokesIssuer: list.revokesIssuer = try reader.boolean()
            case .sequence: list.sequence = try reader.integer(in: 1...JSONReader.maximumInteger)
            case .transfers:
                try reader.dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
                    list.transfers[try reader.appID(name)] = try reader.displayText("transfers")
                }
            }
        }
        if let end = list.expiresAt, end < list.issuedAt { throw reader.malformed("“expiresAt” is before “issuedAt”") }
        self = list
    }

    private static func digests(_ what: String, _ reader: inout JSONReader) throws(Refusal) -> SortedSet<Digest> {
        try reader.set(what, textBytes: 67) { (reader: inout JSONReader) throws(Refusal) in try reader.digest() }
    }

    private static func builds(_ reader: inout JSONReader) throws(Refusal) -> [AppID: Int64] {
        var builds: [AppID: Int64] = [:]
        try reader.dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
            builds[try reader.appID(name)] = try reader.integer()
        }
        return builds
    }

    /// The payload as it is signed; the optional maps are left out when they are empty.
    package var serialized: [UInt8] {
        var object: JSONObject = [
            "certificates": .array(certificates.map { .text($0.hex) }),
            "issuedAt": .integer(issuedAt),
            "issuer": .text(issuer.hex),
            "keys": .array(keys.map { .text($0.hex) }),
            "minimumBuilds": Self.json(minimumBuilds),
            "packages": .array(packages.map { .text($0.hex) }),
            "revokesIssuer": .boolean(revokesIssuer),
            "sequence": .integer(sequence),
        ]
        object["expiresAt"] = expiresAt.map { .integer($0) }
        if !maximumBuilds.isEmpty { object["maximumBuilds"] = Self.json(maximumBuilds) }
        if !transfers.isEmpty {
            var members = JSONObject()
            for (app, publisher) in transfers.sorted(by: { $0.key < $1.key }) {
                members.append(app.text, .text(publisher.text))
            }
            object["transfers"] = .object(members)
        }
        object["annotations"] = annotations.json
        return JSONValue.object(object).serialized
    }

    private static func json(_ builds: [AppID: Int64]) -> JSONValue {
        var members = JSONObject()
        for (app, build) in builds.sorted(by: { $0.key < $1.key }) { members.append(app.text, .integer(build)) }
        return .object(members)
    }
}
