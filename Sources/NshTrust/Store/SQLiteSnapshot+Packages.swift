/// Builds and installed packages.
extension SQLiteSnapshot {
    func acceptedBuild(of app: AppID) throws -> AcceptedBuild? {
        try connection.row("SELECT \(Self.buildColumns) FROM apps WHERE app = ?", [.text(app.text)]) {
            (row) throws(Trouble) in try acceptedBuild(row)
        }
    }

    func acceptedBuilds(after app: AppID?, limit: Int) throws -> [AcceptedBuild] {
        try connection.rows(
            "SELECT \(Self.buildColumns) FROM apps WHERE app > ? ORDER BY app LIMIT ?",
            [.text(app?.text ?? ""), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in try acceptedBuild(row) }
    }

    func acceptedBuildCount() throws -> Int64 { try connection.integer("SELECT count(*) FROM apps") }

    func hasAccepted(package digest: Digest) throws -> Bool {
        try connection.integer("SELECT count(*) FROM accepted WHERE digest = ?", [.digest(digest)]) > 0
    }

    func installedPackage(_ digest: Digest) throws -> InstalledPackage? {
        try connection.row("\(Self.packageQuery) WHERE packages.digest = ?", [.digest(digest)]) {
            (row) throws(Trouble) in try package(row)
        }
    }

    func installedPackages(of app: AppID?) throws -> [InstalledPackage] {
        let order = "ORDER BY app, build, accepted_at, packages.digest"
        guard let app else {
            return try connection.rows("\(Self.packageQuery) \(order)") { (row) throws(Trouble) in try package(row) }
        }
        return try connection.rows("\(Self.packageQuery) WHERE app = ? \(order)", [.text(app.text)]) {
            (row) throws(Trouble) in try package(row)
        }
    }

    private static let buildColumns = "app, build, publisher, identity, digest, accepted_at"

    private func acceptedBuild(_ row: SQLiteStatement) throws(Trouble) -> AcceptedBuild {
        AcceptedBuild(
            app: try appID(row.text(0)), build: row.integer(1), publisher: try displayText(row.text(2)),
            identity: row.isNull(3) ? nil : ContentIdentity(digest: try digest(row.bytes(3))),
            digest: row.isNull(4) ? nil : try digest(row.bytes(4)), acceptedAt: row.integer(5))
    }

    private static let packageQuery = """
        SELECT packages.digest, app, build, name, version, manifest, identity, signed_at, minimum_runtime, capabilities,
            files, unpacked_size, package_size, tree, accepted_at, roots, envelope
        FROM packages JOIN certificates ON certificates.digest = certificate
        """

    private func package(_ row: SQLiteStatement) throws(Trouble) -> InstalledPackage {
        let app = PackageHeader.App(
            id: try appID(row.text(1)), name: try displayText(row.text(3)), version: try displayText(row.text(4)),
            build: row.integer(2))
        let facts = PackageFacts(
            roots: try roots(row.bytes(15)), certificate: try certificate(row.bytes(16)), app: app.id, build: app.build,
            digest: try digest(row.bytes(0)), manifest: try digest(row.bytes(5)),
            identity: ContentIdentity(digest: try digest(row.bytes(6))), signedAt: row.integer(7),
            minimumRuntime: try runtime(row.optionalText(8)))
        return InstalledPackage(
            facts: facts, app: app, capabilities: try capabilities(row.isNull(9) ? nil : row.bytes(9)),
            files: row.integer(10), unpackedSize: row.integer(11), packageSize: row.integer(12), tree: row.text(13),
            acceptedAt: row.integer(14))
    }

    private func roots(_ bytes: [UInt8]) throws(Trouble) -> [PublicKey] {
        guard bytes.count % 32 == 0 else { throw connection.corrupt("root keys are cut off") }
        return stride(from: 0, to: bytes.count, by: 32).compactMap { PublicKey(bytes[$0..<$0 + 32]) }
    }

    private func certificate(_ envelope: [UInt8]) throws(Trouble) -> Certificate {
        do {
            let parsed = try Envelope(parsing: envelope, as: .certificate)
            return try Certificate(parsing: parsed.signedBytes, in: parsed.payloadRange)
        } catch {
            throw connection.corrupt("a certificate does not parse: \(error.message)")
        }
    }

    private func capabilities(_ bytes: [UInt8]?) throws(Trouble) -> JSONObject? {
        guard let bytes else { return nil }
        do {
            return try JSONReader.read(bytes, subject: "the record of capabilities") {
                (reader: inout JSONReader) throws(Refusal) in try reader.tree(numbers: .integers)
            }
        } catch {
            throw connection.corrupt(error.message)
        }
    }

    private func runtime(_ text: String?) throws(Trouble) -> RuntimeVersion? {
        guard let text else { return nil }
        guard let version = RuntimeVersion(text) else { throw connection.corrupt("a runtime version is not one") }
        return version
    }
}
