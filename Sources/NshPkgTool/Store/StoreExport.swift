import NshTrust

/// What a new machine takes over from an old one: accepted builds, lists in force, the threshold.
///
/// Trees and the log stay behind.
struct StoreExport {
    /// The document's `format`.
    static let format = "nsh-store-export-1"
    /// Bytes that a document may have.
    static let maximumBytes = 1 << 30

    /// The greatest threshold that was used.
    var threshold: Int64 = 1
    /// The accepted builds.
    var builds: [AcceptedBuild] = []
    /// The envelopes of the lists in force.
    var lists: [[UInt8]] = []

    /// Takes everything from a snapshot.
    init(_ snapshot: any StoreSnapshot) throws {
        threshold = Int64(try snapshot.greatestThreshold())
        lists = try snapshot.listEnvelopes().map(\.envelope)
        var page = try snapshot.acceptedBuilds(after: nil, limit: 1000)
        while let last = page.last {
            builds += page
            page = try snapshot.acceptedBuilds(after: last.app, limit: 1000)
        }
    }

    private enum Name: String, CaseIterable { case builds, format, lists, threshold }
    private enum BuildName: String, CaseIterable { case acceptedAt, app, build, digest, identity, publisher }

    /// Reads a document.
    ///
    /// - Throws: `malformed` for anything that is not exactly the format.
    init(parsing bytes: [UInt8]) throws(Refusal) {
        var read = (threshold: Int64(1), builds: [AcceptedBuild](), lists: [[UInt8]](), format: "")
        try JSONReader.read(bytes, subject: "the export") { (reader: inout JSONReader) throws(Refusal) in
            try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
                switch name {
                case .format: read.format = try reader.text()
                case .threshold: read.threshold = try reader.integer(in: 1...16)
                case .lists:
                    try reader.array { (reader: inout JSONReader) throws(Refusal) in
                        read.lists.append(try reader.base64())
                    }
                case .builds:
                    try reader.array { (reader: inout JSONReader) throws(Refusal) in
                        read.builds.append(try Self.build(&reader))
                    }
                }
            }
            guard read.format == Self.format else { throw reader.malformed("“format” is not “\(Self.format)”") }
        }
        (threshold, builds, lists) = (read.threshold, read.builds, read.lists)
    }

    private static func build(_ reader: inout JSONReader) throws(Refusal) -> AcceptedBuild {
        var (app, publisher): (AppID?, DisplayText?) = (nil, nil)
        var (build, acceptedAt): (Int64, Int64) = (0, 0)
        var (identity, digest): (Digest?, Digest?) = (nil, nil)
        try reader.members(of: BuildName.self, optional: [.digest, .identity]) {
            (reader: inout JSONReader, name: BuildName) throws(Refusal) in
            switch name {
            case .acceptedAt: acceptedAt = try reader.integer()
            case .app: app = AppID(try reader.text())
            case .build: build = try reader.integer()
            case .digest: digest = try reader.digest()
            case .identity: identity = try reader.digest()
            case .publisher: publisher = DisplayText(try reader.text())
            }
        }
        guard let app, let publisher else { throw reader.malformed("“app” or “publisher” is not what it should be") }
        return AcceptedBuild(
            app: app, build: build, publisher: publisher, identity: identity.map { ContentIdentity(digest: $0) },
            digest: digest, acceptedAt: acceptedAt)
    }

    /// The document.
    var serialized: [UInt8] {
        let builds = builds.map { build in
            var object: JSONObject = [
                "acceptedAt": .integer(build.acceptedAt), "app": .text(build.app.text), "build": .integer(build.build),
                "publisher": .text(build.publisher.text),
            ]
            object["digest"] = build.digest.map { .text($0.hex) }
            object["identity"] = build.identity.map { .text($0.digest.hex) }
            return JSONValue.object(object)
        }
        return JSONValue.object([
            "builds": .array(builds), "format": .text(Self.format),
            "lists": .array(lists.map { .text(Base64.encode($0)) }), "threshold": .integer(threshold),
        ]).serialized + [0x0A]
    }
}
