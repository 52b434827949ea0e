package import NshTrust

/// The members by which answers show what a verification established; what was not established is absent.
extension NshReport {
    /// The members that the tool prints and the daemon answers with: `app`, `publisher`, `digest`, `signedAt`, `key`,
    /// `certificate`, `roots`, `files`, `unpackedSize`.
    package func append(to object: inout JSONObject) {
        object.add("app", info.map { .object($0.object) })
        object.add("publisher", certificate.map { .text($0.publisher) })
        object.add("digest", digest.map { .text($0) })
        object.add("signedAt", signedAt.map { .integer($0) })
        object.add("key", certificate.map { .text($0.keyHash) })
        object.add("certificate", certificate.map { .object($0.object) })
        if !roots.isEmpty { object.append("roots", .array(roots.map { .text($0.keyHash) })) }
        object.add("files", files.map { .integer($0) })
        object.add("unpackedSize", unpackedSize.map { .integer($0) })
    }

    /// The members that only the daemon adds, so that its clients learn all of the report: `manifest`,
    /// `minimumRuntime`, `capabilities`, `annotations`, `certificateAnnotations`, `publicKey` (of the release key) and
    /// `rootKeys` (in the order of `roots`).
    package func appendDetails(to object: inout JSONObject) {
        object.add("manifest", manifest.map { .text($0) })
        object.add("minimumRuntime", minimumRuntime.map { .text($0) })
        object.add("capabilities", capabilities.map { .object($0.object ?? JSONObject()) })
        if !annotations.isEmpty { object.append("annotations", Self.notes(annotations)) }
        if let notes = certificate?.annotations, !notes.isEmpty {
            object.append("certificateAnnotations", Self.notes(notes))
        }
        object.add("publicKey", certificate.map { .text($0.key) })
        if !roots.isEmpty { object.append("rootKeys", .array(roots.map { .text($0.key) })) }
    }

    private static func notes(_ notes: [String: String]) -> JSONValue {
        var object = JSONObject()
        for (name, text) in notes.sorted(by: { $0.key < $1.key }) { object.append(name, .text(text)) }
        return .object(object)
    }

    /// Reads what an answer says was established.
    ///
    /// - Throws: `ioFailure` for a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        let keys = try reader.textsIfPresent("rootKeys")
        let roots = try reader.textsIfPresent("roots").enumerated().map { index, hash in
            Root(
                keyHash: hash, keyID: String(hash.prefix(16)), key: keys.indices.contains(index) ? keys[index] : "")
        }
        var declared: JSONObject?
        if let capabilities = try reader.readerIfPresent("capabilities")?.object, !capabilities.members.isEmpty {
            declared = capabilities
        }
        let info = try reader.readerIfPresent("app").map { app throws(Trouble) in try NshPackage.Info(app) }
        self.init(
            roots: roots, certificate: try Certificate(ifPresentIn: reader), info: info,
            digest: try reader.textIfPresent("digest"), manifest: try reader.textIfPresent("manifest"),
            signedAt: try reader.integerIfPresent("signedAt"),
            minimumRuntime: try reader.textIfPresent("minimumRuntime"),
            capabilities: info == nil ? nil : NshCapabilities(declared),
            annotations: try reader.textsByName("annotations"), files: try reader.integerIfPresent("files"),
            unpackedSize: try reader.integerIfPresent("unpackedSize"))
    }
}

extension NshReport.Certificate {
    /// The members of `certificate`.
    package var object: JSONObject {
        [
            "serial": .text(serial), "notBefore": .integer(notBefore), "notAfter": .integer(notAfter),
            "apps": .array(apps.map { .text($0) }), "content": .array(content.map { .text($0) }),
        ]
    }

    fileprivate init?(ifPresentIn reader: WireReader) throws(Trouble) {
        guard let certificate = try reader.readerIfPresent("certificate") else { return nil }
        let hash = try reader.text("key")
        self.init(
            serial: try certificate.text("serial"), publisher: try reader.text("publisher"),
            apps: try certificate.texts("apps"), content: try certificate.texts("content"),
            notBefore: try certificate.integer("notBefore"), notAfter: try certificate.integer("notAfter"),
            keyHash: hash, keyID: String(hash.prefix(16)), key: try reader.textIfPresent("publicKey") ?? "",
            annotations: try reader.textsByName("certificateAnnotations"))
    }
}

extension NshPackage.Info {
    /// The members of `app`.
    package var object: JSONObject {
        ["id": .text(id), "name": .text(name), "version": .text(version), "build": .integer(Int64(build))]
    }

    /// Reads an app.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        self.init(
            id: try reader.text("id"), name: try reader.text("name"), version: try reader.text("version"),
            build: Int(try reader.integer("build")))
    }
}
