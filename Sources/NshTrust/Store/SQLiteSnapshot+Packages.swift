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

    func installedPackages(of app: AppID) throws -> [InstalledPackage] {
        try connection.rows("\(Self.packageQuery) WHERE app = ? \(Self.packageOrder)", [.text(app.text)]) {
            (row) throws(Trouble) in try package(row)
        }
    }

    func installedPackages(after app: AppID?, apps: Int) throws -> [InstalledPackage] {
        let first = SQLiteValue.text(app?.text ?? "")
        let last = try connection.row(
            "SELECT max(app) FROM (SELECT DISTINCT app FROM packages WHERE app > ? ORDER BY app LIMIT ?)",
            [first, .integer(Int64(apps))]
        ) { (row) throws(Trouble) in row.optionalText(0) }
        guard let last = last ?? nil else { return [] }
        return try connection.rows(
            "\(Self.packageQuery) WHERE app > ? AND app <= ? \(Self.packageOrder)", [first, .text(last)]
        ) { (row) throws(Trouble) in try package(row) }
    }

    func packageSum(afterRow row: Int64, limit: Int) throws -> PackageSum? {
        try connection.row(
            """
            SELECT count(*), sum(unpacked_size), max(number) FROM
                (SELECT rowid AS number, unpacked_size FROM packages WHERE rowid > ? ORDER BY rowid LIMIT ?)
            """, [.integer(row), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in
            PackageSum(packages: row.integer(0), unpackedSize: row.integer(1), row: row.integer(2))
        }.flatMap { $0.packages > 0 ? $0 : nil }
    }

    func hasTree(at path: String) throws -> Bool {
        try connection.integer("SELECT count(*) FROM packages WHERE tree = ?", [.text(path)]) > 0
    }

    func apps(withMoreThan kept: Int) throws -> [AppID] {
        try connection.rows(
            """
            SELECT app FROM packages GROUP BY app HAVING count(*) > ?
            UNION SELECT packages.app FROM packages LEFT JOIN apps ON apps.app = packages.app
                WHERE apps.build IS NULL OR packages.build > apps.build
            ORDER BY app
            """, [.integer(Int64(kept))]
        ) { (row) throws(Trouble) in try appID(row.text(0)) }
    }

    func certificates(afterRow row: Int64, ofInstalled: Bool, limit: Int) throws -> [StoredCertificate] {
        let condition = ofInstalled ? "AND digest IN (SELECT certificate FROM packages)" : ""
        return try connection.rows(
            "SELECT rowid, envelope FROM certificates WHERE rowid > ? \(condition) ORDER BY rowid LIMIT ?",
            [.integer(row), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in
            let envelope = row.bytes(1)
            return StoredCertificate(row: row.integer(0), envelope: envelope, certificate: try certificate(envelope))
        }
    }

    func apps(newestCertifiedBy certificate: StoredCertificate, limit: Int) throws -> [AppID] {
        try connection.rows(
            """
            SELECT app FROM packages AS one WHERE certificate = ?
                AND NOT EXISTS (SELECT 1 FROM packages AS other WHERE other.app = one.app
                    AND (other.build, other.accepted_at, other.digest) > (one.build, one.accepted_at, one.digest))
            ORDER BY app LIMIT ?
            """, [.digest(certificate.digest), .integer(Int64(limit))]
        ) { (row) throws(Trouble) in try appID(row.text(0)) }
    }

    private static let buildColumns = "app, build, publisher, identity, digest, accepted_at"

    private func acceptedBuild(_ row: SQLiteStatement) throws(Trouble) -> AcceptedBuild {
        AcceptedBuild(
            app: try appID(row.text(0)), build: row.integer(1), publisher: try displayText(row.text(2)),
            identity: row.isNull(3) ? nil : ContentIdentity(digest: try digest(row.bytes(3))),
            digest: row.isNull(4) ? nil : try digest(row.bytes(4)), acceptedAt: row.integer(5))
    }

    private static let packageOrder = "ORDER BY app, build, accepted_at, packages.digest"
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
