import NshPublishing
import NshTrust
import NshTrustWire

/// What a file says about itself, for people and for programs; whether it is true is another question.
struct Description {
    /// `package`, `certificate`, `revocations`, `publicKey` or `secretKey`.
    let kind: String
    /// The kind in words.
    let title: String
    /// Labels and values; the values have been made safe.
    var rows: [(label: String, value: String)] = []
    /// The same for programs.
    var object = JSONObject()

    /// Adds something that both get.
    mutating func add(_ label: String, _ value: String, _ name: String, _ json: JSONValue) {
        rows.append((label, value))
        object.append(name, json)
    }

    // MARK: - Keys

    /// Describes a public key.
    init(_ key: PublicKey) {
        self.init(kind: "publicKey", title: "public key")
        add("id", key.id, "id", .text(key.id))
        add("hash", key.hash.hex, "keyHash", .text(key.hash.hex))
        add("key", key.base64, "key", .text(key.base64))
        if !key.isUsableAsRoot { rows.append(("weak", "a key that nobody can honestly hold; it cannot be a root")) }
        object.append("usableAsRoot", .boolean(key.isUsableAsRoot))
    }

    /// Describes a secret key file by what is public in it.
    init(_ file: SecretKeyFile) {
        self.init(kind: "secretKey", title: "secret key file")
        let key = file.statedPublicKey
        add("id", key.id, "id", .text(key.id))
        add("hash", key.hash.hex, "keyHash", .text(key.hash.hex))
        add("public key", key.base64, "key", .text(key.base64))
        add(
            "passphrase", file.isSealed ? "needed" : "none: whoever reads the file has the key", "sealed",
            .boolean(file.isSealed))
        if let warning = file.warning { rows.append(("warning", warning)) }
    }

    // MARK: - Signed documents

    /// Describes a certificate.
    init(_ certificate: Certificate, signedBy envelope: Envelope) {
        self.init(kind: "certificate", title: "certificate")
        describe(certificate)
        addSigners(envelope)
    }

    /// Describes a package by its two documents.
    init(
        _ header: PackageHeader, signedBy envelope: Envelope, certificate: Certificate, signedBy certifier: Envelope
    ) {
        self.init(header, signedBy: envelope)
        var inner = Description(kind: "certificate", title: "certificate")
        inner.describe(certificate)
        inner.addSigners(certifier)
        rows.append(("certificate", ""))
        rows += inner.rows.map { ("  \($0.label)", $0.value) }
        object.append("certificate", .object(inner.object))
    }

    /// Describes a package's header.
    init(_ header: PackageHeader, signedBy envelope: Envelope) {
        self.init(kind: "package", title: "package")
        let app = header.app
        add("app", app.id.text, "id", .text(app.id.text))
        add("name", Terminal.safe(app.name.text), "name", .text(app.name.text))
        add("version", Terminal.safe(app.version.text), "version", .text(app.version.text))
        add("build", String(app.build), "build", .integer(app.build))
        let digest = SHA256.hash(envelope.payload).hex
        add("digest", digest, "digest", .text(digest))
        let payload = header.payload
        add("manifest", payload.manifest.hex, "manifest", .text(payload.manifest.hex))
        add("signed", Timestamp.text(header.signedAt), "signedAt", .integer(header.signedAt))
        add("files", String(payload.files), "files", .integer(payload.files))
        add("unpacked", Amount.bytes(payload.unpackedSize), "unpackedSize", .integer(payload.unpackedSize))
        add(
            "payload", "\(Amount.bytes(payload.size)), \(payload.compression.rawValue)", "payloadSize",
            .integer(payload.size))
        object.append("compression", .text(payload.compression.rawValue))
        if let runtime = header.minimumRuntime {
            add("needs runtime", runtime.text, "minimumRuntime", .text(runtime.text))
        }
        if let capabilities = header.capabilities {
            add("capabilities", JSONLine.text(capabilities), "capabilities", .object(capabilities))
        }
        addAnnotations(header.annotations)
        addSigners(envelope)
    }

    /// Describes a revocation list.
    init(_ list: RevocationList, signedBy envelope: Envelope) {
        self.init(kind: "revocations", title: "revocation list")
        add("issuer", "root \(list.issuer.shortHex)", "issuer", .text(list.issuer.hex))
        add("sequence", String(list.sequence), "sequence", .integer(list.sequence))
        add("issued", Timestamp.text(list.issuedAt), "issuedAt", .integer(list.issuedAt))
        if let end = list.expiresAt { add("expires", Timestamp.text(end), "expiresAt", .integer(end)) }
        if list.revokesIssuer { rows.append(("withdraws", "its own issuer, for good")) }
        object.append("revokesIssuer", .boolean(list.revokesIssuer))
        addEntries("revoked key", "keys", list.keys.map(\.hex))
        addEntries("revoked certificate", "certificates", list.certificates.map(\.hex))
        addEntries("revoked package", "packages", list.packages.map(\.hex))
        addBuilds("lowest build", "minimumBuilds", list.minimumBuilds)
        addBuilds("highest build", "maximumBuilds", list.maximumBuilds)
        var transfers = JSONObject()
        for (app, publisher) in list.transfers.sorted(by: { $0.key < $1.key }) {
            rows.append(("transfer", "\(app) to \(Terminal.safe(publisher.text))"))
            transfers.append(app.text, .text(publisher.text))
        }
        object.append("transfers", .object(transfers))
        addAnnotations(list.annotations)
        addSigners(envelope)
    }

    private init(kind: String, title: String) {
        self.kind = kind
        self.title = title
    }

    private mutating func describe(_ certificate: Certificate) {
        let view = NshReport.Certificate(certificate)
        add("serial", view.serial, "serial", .text(view.serial))
        add("publisher", Terminal.safe(view.publisher), "publisher", .text(view.publisher))
        add("apps", view.apps.joined(separator: ", "), "apps", .array(view.apps.map { .text($0) }))
        add("content", view.content.joined(separator: " and "), "content", .array(view.content.map { .text($0) }))
        add("key", "\(view.keyID)", "keyHash", .text(view.keyHash))
        object.append("key", .text(view.key))
        rows.append(("window", CertificateView.window(view)))
        object.append("notBefore", .integer(view.notBefore))
        object.append("notAfter", .integer(view.notAfter))
        addAnnotations(certificate.annotations)
    }

    private mutating func addAnnotations(_ annotations: Annotations) {
        guard !annotations.entries.isEmpty else { return }
        var object = JSONObject()
        for entry in annotations.entries.sorted(by: { $0.name < $1.name }) {
            rows.append(("note", "\(entry.name): \(Terminal.safe(entry.text))"))
            object.append(entry.name, .text(entry.text))
        }
        self.object.append("annotations", .object(object))
    }

    /// The hints at who signed; they prove nothing.
    private mutating func addSigners(_ envelope: Envelope) {
        let hints = envelope.signatures.map(\.keyID)
        let shown = hints.map { $0.isEmpty ? "nobody named" : Terminal.safe($0) }
        let text = hints.isEmpty ? "nobody yet" : "\(shown.joined(separator: ", ")) (claimed)"
        add("signed by", text, "signedBy", .array(hints.map { .text($0) }))
    }

    private mutating func addEntries(_ label: String, _ name: String, _ entries: [String]) {
        let sorted = entries.sorted()
        for entry in sorted.prefix(100) { rows.append((label, entry)) }
        if sorted.count > 100 { rows.append((label, "… and \(sorted.count - 100) more; --json lists them all")) }
        object.append(name, .array(sorted.map { .text($0) }))
    }

    private mutating func addBuilds(_ label: String, _ name: String, _ builds: [AppID: Int64]) {
        var object = JSONObject()
        for (app, build) in builds.sorted(by: { $0.key < $1.key }) {
            rows.append((label, "\(app) \(build)"))
            object.append(app.text, .integer(build))
        }
        self.object.append(name, .object(object))
    }
}
