/// Floors and revocation lists as one JSON document, for a new machine that must not start from nothing.
///
/// ```json
/// {"apps":[{"acceptedAt":1764470000,"app":"com.example.orders","build":42,"digest":"<64 hex>","identity":"<64 hex>",
///   "publisher":"Example Ltd"}],"format":"nsh-store-export-1","lists":["<base64 of the envelope>"],"rootThreshold":1}
/// ```
///
/// The document is not signed. Its lists are, and are verified like any other when they are applied; its floors are the
/// administrator's word, and only ever raise what the store has.
package struct StoreDocument: Hashable, Sendable {
    /// The highest accepted build of each app.
    package var builds: [AcceptedBuild]
    /// The envelopes of the lists in force, as they came, in the order in which they were applied: a list that withdraws
    /// another root comes behind that root's own.
    package var lists: [[UInt8]]
    /// The greatest `rootThreshold` used.
    package var rootThreshold: Int

    /// What the document's `format` says.
    package static let format = "nsh-store-export-1"

    /// Makes a document of its parts.
    package init(builds: [AcceptedBuild], lists: [[UInt8]], rootThreshold: Int) {
        self.builds = builds
        self.lists = lists
        self.rootThreshold = rootThreshold
    }

    /// Takes everything from a snapshot.
    package init(of snapshot: any StoreSnapshot) throws {
        builds = []
        while true {
            let page = try snapshot.acceptedBuilds(after: builds.last?.app, limit: 1000)
            if page.isEmpty { break }
            builds += page
        }
        lists = try snapshot.storedLists().map(\.number).sorted().map { try snapshot.envelope(ofList: $0) }
        rootThreshold = try snapshot.greatestThreshold()
    }

    /// Reads a document.
    ///
    /// - Throws: `malformed` for anything that is not one.
    package init(parsing bytes: [UInt8]) throws(Refusal) {
        self = try JSONReader.read(bytes, subject: "the export of a store") {
            (reader: inout JSONReader) throws(Refusal) in
            try StoreDocument(&reader)
        }
    }

    /// The document's bytes.
    package var serialized: [UInt8] {
        JSONValue.object([
            "apps": .array(builds.map { .object($0.json) }),
            "format": .text(Self.format),
            "lists": .array(lists.map { .text(Base64.encode($0)) }),
            "rootThreshold": .integer(Int64(rootThreshold)),
        ]).serialized
    }

    /// Raises the store's floors and threshold to the document's; never lowers one.
    ///
    /// The lists are the caller's to verify and apply first.
    ///
    /// - Parameters:
    ///   - transaction: An open transaction.
    ///   - event: What the log says of a raised floor.
    /// - Throws: A `Trouble` when it cannot be written.
    package func raiseFloors(in transaction: any StoreTransaction, event: (AcceptedBuild) -> NewEvent) throws {
        for build in builds { try transaction.raiseFloor(to: build, event: event(build)) }
        try transaction.raiseThreshold(to: rootThreshold)
    }

    private enum Name: String, CaseIterable { case apps, format, lists, rootThreshold }
    private enum AppName: String, CaseIterable { case acceptedAt, app, build, digest, identity, publisher }

    private init(_ reader: inout JSONReader) throws(Refusal) {
        self.init(builds: [], lists: [], rootThreshold: 1)
        var document = self
        try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .apps:
                var seen: Set<AppID> = []
                try reader.array { (reader: inout JSONReader) throws(Refusal) in
                    let build = try Self.build(&reader)
                    guard seen.insert(build.app).inserted else { throw reader.malformed("\(build.app) stands twice") }
                    document.builds.append(build)
                }
            case .format:
                guard try reader.text() == Self.format else { throw reader.malformed("“format” is not known") }
            case .lists:
                try reader.array { (reader: inout JSONReader) throws(Refusal) in
                    document.lists.append(try reader.base64())
                }
            case .rootThreshold: document.rootThreshold = Int(try reader.integer(in: 1...Int64(Limits().pinnedRoots)))
            }
        }
        self = document
    }

    private static func build(_ reader: inout JSONReader) throws(Refusal) -> AcceptedBuild {
        var app: AppID?
        var publisher: DisplayText?
        var identity: Digest?
        var digest: Digest?
        var (number, acceptedAt): (Int64, Int64) = (0, 0)
        try reader.members(of: AppName.self, optional: [.digest, .identity]) {
            (reader: inout JSONReader, name: AppName) throws(Refusal) in
            switch name {
            case .acceptedAt: acceptedAt = try reader.integer()
            case .app: app = try reader.appID()
            case .build: number = try reader.integer()
            case .digest: digest = try reader.digest()
            case .identity: identity = try reader.digest()
            case .publisher: publisher = try reader.displayText("publisher")
            }
        }
        guard let app, let publisher else { throw reader.malformed("“app” and “publisher” are missing") }
        return AcceptedBuild(
            app: app, build: number, publisher: publisher, identity: identity.map { ContentIdentity(digest: $0) },
            digest: digest, acceptedAt: acceptedAt)
    }
}

extension AcceptedBuild {
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "acceptedAt": .integer(acceptedAt), "app": .text(app.text), "build": .integer(build),
            "publisher": .text(publisher.text),
        ]
        object["digest"] = digest.map { .text($0.hex) }
        object["identity"] = identity.map { .text($0.digest.hex) }
        return object
    }
}
