package import NshTrust

/// What a store holds, and what in it needs attention: the tool's `store status`, and a part of the daemon's status.
package struct StoreStatusDocument: Hashable, Sendable {
    /// A root that some process pinned on this store.
    package struct SeenRoot: Hashable, Sendable {
        /// Hex SHA-256 of the key.
        package var key: String
        /// When it was pinned first, in seconds since 1970 UTC.
        package var since: Int64
        /// The list that withdraws it, for people; nil for none.
        package var withdrawnBy: String?
    }

    /// The state directory.
    package var state: String
    /// Apps with an accepted build.
    package var apps: Int64
    /// Installed packages.
    package var packages: Int64
    /// Bytes of all their files.
    package var unpackedSize: Int64
    /// How many roots must have signed a certificate.
    package var threshold: Int64
    /// The roots that processes have pinned.
    package var roots: [SeenRoot]
    /// The lists in force.
    package var lists: [RevocationListDocument]
    /// The oldest event still kept, or 0.
    package var oldestEvent: Int64
    /// The newest event, or 0.
    package var newestEvent: Int64
    /// What runs out soon, a sentence each.
    package var warnings: [String]

    /// Makes a document of what the store says.
    ///
    /// - Parameters:
    ///   - state: The state directory.
    ///   - status: What the store holds.
    package init(state: String, _ status: StoreStatus) {
        self.state = state
        apps = status.builds
        packages = status.packages
        unpackedSize = status.unpackedSize
        threshold = Int64(status.threshold)
        roots = status.roots.map { root in
            SeenRoot(key: root.key.hash.hex, since: root.since, withdrawnBy: root.withdrawal?.description)
        }
        lists = status.lists.map { RevocationListDocument(NshRevocationList($0)) }
        oldestEvent = status.oldestEvent
        newestEvent = status.newestEvent
        warnings = status.warnings
    }

    /// The object as the tool prints it.
    package var object: JSONObject {
        let roots = roots.map { root in
            JSONValue.object([
                "key": .text(root.key), "since": .integer(root.since),
                "withdrawn": .boolean(root.withdrawnBy != nil),
            ])
        }
        return [
            "state": .text(state), "apps": .integer(apps), "packages": .integer(packages),
            "unpackedSize": .integer(unpackedSize), "threshold": .integer(threshold), "roots": .array(roots),
            "lists": .array(lists.map { .object($0.object) }), "oldestEvent": .integer(oldestEvent),
        ]
    }

    /// Reads the store's part of the daemon's status.
    fileprivate init(_ reader: WireReader) throws(Trouble) {
        state = try reader.text("state")
        apps = try reader.integer("apps")
        packages = try reader.integer("installed")
        unpackedSize = try reader.integer("unpackedSize")
        threshold = try reader.integer("threshold")
        roots = try reader.objects("rootsSeen").map { root throws(Trouble) in
            SeenRoot(
                key: try root.text("key"), since: try root.integer("since"),
                withdrawnBy: try root.textIfPresent("withdrawnBy"))
        }
        lists = try reader.objects("lists").map { reader throws(Trouble) in try RevocationListDocument(reader) }
        oldestEvent = try reader.integer("oldestEvent")
        newestEvent = try reader.integer("newestEvent")
        warnings = try reader.texts("warnings")
    }
}

/// The daemon's answer to `GET /v1/status`.
package struct StatusDocument: Hashable, Sendable {
    /// A root that the daemon trusts, or would if no list withdrew it.
    package struct Root: Hashable, Sendable {
        /// Hex SHA-256 of the key.
        package var key: String
        /// The key in base64.
        package var publicKey: String
        /// The file that names it.
        package var file: String
        /// Whether a list in force withdraws it.
        package var isWithdrawn: Bool

        /// Makes a root.
        package init(key: PublicKey, file: String, isWithdrawn: Bool) {
            self.key = key.hash.hex
            publicKey = key.base64
            self.file = file
            self.isWithdrawn = isWithdrawn
        }

        fileprivate init(_ reader: WireReader) throws(Trouble) {
            key = try reader.text("key")
            publicKey = try reader.text("publicKey")
            file = try reader.text("file")
            isWithdrawn = try reader.boolean("withdrawn")
        }
    }

    /// A file that cannot be used.
    package struct BadFile: Hashable, Sendable {
        /// The file.
        package var file: String
        /// Why not, in one line.
        package var message: String

        /// Makes a file.
        package init(file: String, message: String) {
            self.file = file
            self.message = message
        }

        fileprivate init(_ reader: WireReader) throws(Trouble) {
            file = try reader.text("file")
            message = try reader.text("message")
        }

        fileprivate var value: JSONValue { .object(["file": .text(file), "message": .text(message)]) }
    }

    /// The daemon's version.
    package var version: String
    /// Seconds since it started.
    package var uptime: Int64
    /// Its process id.
    package var pid: Int64
    /// What its store holds.
    package var store: StoreStatusDocument
    /// The roots of its directory.
    package var roots: [Root]
    /// Root files that were passed over.
    package var badRoots: [BadFile]
    /// List files that were passed over.
    package var badLists: [BadFile]

    /// Makes a status.
    package init(
        version: String, uptime: Int64, pid: Int64, store: StoreStatusDocument, roots: [Root], badRoots: [BadFile],
        badLists: [BadFile]
    ) {
        self.version = version
        self.uptime = uptime
        self.pid = pid
        self.store = store
        self.roots = roots
        self.badRoots = badRoots
        self.badLists = badLists
    }

    /// The members: `version`, `uptime`, `pid`, `state`, `apps`, `installed`, `unpackedSize`, `threshold`, `newestEvent`,
    /// `oldestEvent`, `roots` (`key`, `publicKey`, `file`, `withdrawn`), `rootsSeen` (`key`, `since`, `withdrawnBy` where
    /// a list does), `badRoots`, `lists`, `badLists`, `warnings`.
    package var object: JSONObject {
        let roots = roots.map { root in
            JSONValue.object([
                "key": .text(root.key), "publicKey": .text(root.publicKey), "file": .text(root.file),
                "withdrawn": .boolean(root.isWithdrawn),
            ])
        }
        let seen = store.roots.map { root in
            var object: JSONObject = ["key": .text(root.key), "since": .integer(root.since)]
            object.add("withdrawnBy", root.withdrawnBy.map { .text($0) })
            return JSONValue.object(object)
        }
        return [
            "version": .text(version), "uptime": .integer(uptime), "pid": .integer(pid), "state": .text(store.state),
            "apps": .integer(store.apps), "installed": .integer(store.packages),
            "unpackedSize": .integer(store.unpackedSize), "threshold": .integer(store.threshold),
            "newestEvent": .integer(store.newestEvent), "oldestEvent": .integer(store.oldestEvent),
            "roots": .array(roots), "rootsSeen": .array(seen), "badRoots": .array(badRoots.map(\.value)),
            "lists": .array(store.lists.map { .object($0.object) }), "badLists": .array(badLists.map(\.value)),
            "warnings": .array(store.warnings.map { .text($0) }),
        ]
    }

    /// Reads a status.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        version = try reader.text("version")
        uptime = try reader.integer("uptime")
        pid = try reader.integer("pid")
        store = try StoreStatusDocument(reader)
        roots = try reader.objects("roots").map { reader throws(Trouble) in try Root(reader) }
        badRoots = try reader.objects("badRoots").map { reader throws(Trouble) in try BadFile(reader) }
        badLists = try reader.objects("badLists").map { reader throws(Trouble) in try BadFile(reader) }
    }
}
