/// An open immediate transaction: everything of a snapshot, and changes.
struct SQLiteTransaction: StoreTransaction {
    let snapshot: SQLiteSnapshot
    var connection: SQLiteConnection { snapshot.connection }

    init(_ connection: SQLiteConnection) { snapshot = SQLiteSnapshot(connection) }

    // MARK: - Packages

    func record(_ package: InstalledPackage, certificate: [UInt8], event: NewEvent) throws {
        try recordBuild(package)
        let certificate = try recordCertificate(certificate, serial: package.facts.certificate.serial)
        try recordPackage(package, certificate: certificate.digest)
        // Of one certificate only the envelopes stay that installed packages came with: they can differ without end.
        try connection.run(
            """
            DELETE FROM certificates WHERE payload = ? AND digest <> ?
                AND digest NOT IN (SELECT certificate FROM packages)
            """, [.digest(certificate.payload), .digest(certificate.digest)])
        try record(event)
    }

    private func recordBuild(_ package: InstalledPackage) throws {
        let facts = package.facts
        try connection.run(
            """
            INSERT INTO apps (app, build, publisher, identity, digest, accepted_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (app) DO UPDATE SET build = excluded.build, publisher = excluded.publisher,
                identity = excluded.identity, digest = excluded.digest,
                accepted_at = iif(build = excluded.build AND identity IS excluded.identity,
                    accepted_at, excluded.accepted_at)
                WHERE excluded.build >= build
            """,
            [
                .text(facts.app.text), .integer(facts.build), .text(facts.certificate.publisher.text),
                .digest(facts.identity.digest), .digest(facts.digest), .integer(package.acceptedAt),
            ])
        // The caller has decided in this transaction; should it be wrong, the floor still never falls.
        guard connection.changes == 1 else {
            throw Trouble(.badRequest, "build \(facts.build) of \(facts.app) is below the one that is recorded")
        }
        try connection.run(
            "INSERT INTO accepted (digest, app, build, accepted_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [.digest(facts.digest), .text(facts.app.text), .integer(facts.build), .integer(package.acceptedAt)])
    }

    private func recordCertificate(
        _ envelope: [UInt8], serial: Serial
    ) throws -> (digest: Digest, payload: Digest) {
        let digest = SHA256.hash(envelope)
        let payload = SHA256.hash(try Envelope(parsing: envelope, as: .certificate).payload)
        try connection.run(
            "INSERT INTO certificates (digest, serial, payload, envelope) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [.digest(digest), .blob(serial.bytes), .digest(payload), .blob(envelope)])
        return (digest, payload)
    }

    private func recordPackage(_ package: InstalledPackage, certificate: Digest) throws {
        let facts = package.facts
        let capabilities = package.capabilities.map { JSONValue.object($0).serialized }
        try connection.run("DELETE FROM packages WHERE digest = ?", [.digest(facts.digest)])
        try connection.run(
            """
            INSERT INTO packages (digest, app, build, name, version, manifest, identity, signed_at, minimum_runtime,
                capabilities, files, unpacked_size, package_size, tree, accepted_at, certificate, roots)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .digest(facts.digest), .text(facts.app.text), .integer(facts.build), .text(package.app.name.text),
                .text(package.app.version.text), .digest(facts.manifest), .digest(facts.identity.digest),
                .integer(facts.signedAt), .optional(facts.minimumRuntime?.text),
                .optional(capabilities.map { String(decoding: $0, as: UTF8.self) }), .integer(package.files),
                .integer(package.unpackedSize), .integer(package.packageSize), .text(package.tree),
                .integer(package.acceptedAt), .digest(certificate), .blob(facts.roots.flatMap(\.bytes)),
            ])
    }

    func forgetTree(of digest: Digest, event: NewEvent) throws {
        try connection.run("DELETE FROM packages WHERE digest = ?", [.digest(digest)])
        if connection.changes > 0 { try record(event) }
    }

    func raiseFloor(to build: AcceptedBuild, event: NewEvent) throws {
        try connection.run(
            """
            INSERT INTO apps (app, build, publisher, identity, digest, accepted_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (app) DO UPDATE SET build = excluded.build, publisher = excluded.publisher,
                identity = excluded.identity, digest = excluded.digest, accepted_at = excluded.accepted_at
                WHERE excluded.build > build
            """,
            [
                .text(build.app.text), .integer(build.build), .text(build.publisher.text),
                .digest(build.identity?.digest), .digest(build.digest), .integer(build.acceptedAt),
            ])
        if connection.changes > 0 { try record(event) }
    }

    // MARK: - Roots

    func rememberRoot(_ key: PublicKey, event: NewEvent) throws {
        try connection.run(
            "INSERT INTO roots_seen (key, since) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [.blob(key.bytes), .integer(event.time)])
        if connection.changes > 0 { try record(event) }
    }

    func raiseThreshold(to threshold: Int) throws { try raise(.greatestThreshold, to: Int64(threshold)) }

    /// Changes the number that says what decisions are made by, to one that it never was.
    ///
    /// By a random step: a backup that is restored puts the number back, and the next commit must not bring it to what a
    /// process has seen before that.
    func countDecision() throws {
        try connection.run(
            """
            INSERT INTO meta (name, value) VALUES (?, 1 + abs(random() % 1000000000))
            ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
            """,
            [.text(SQLiteSnapshot.Meta.decisionCount.rawValue)])
    }

    /// Raises a number of `meta`; it never falls.
    func raise(_ name: SQLiteSnapshot.Meta, to value: Int64) throws {
        try connection.run(
            """
            INSERT INTO meta (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > value
            """, [.text(name.rawValue), .integer(value)])
    }
}
