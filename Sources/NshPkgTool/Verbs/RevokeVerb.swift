import NshCommandLine
import NshPublishing
import NshTrust

/// `revoke`: a root takes trust away, or gives it back.
enum RevokeVerb {
    static let verb = Verb(
        name: "revoke",
        summary: "make a root's next revocation list",
        details: [
            "A list is numbered and replaces the root's previous one wherever it is applied, so it repeats what that one says: "
                + "name it with --previous, or say --first. What is to be revoked may be given as a file or as the hash that "
                + "inspect and verify --json show.",
            "--max-build and --transfer give trust back: they count when as many roots have signed the list as a host asks for "
                + "(nsh-pkgtool cosign).",
            "When --root names a .pub file, a draft without a signature is written: see pae and attach.",
        ],
        options: [
            .value(
                "root", nil, "FILE", .file([".secret", ".pub"]), required: true,
                help: "the root's secret key, or .pub for a draft"),
            .flag("first", nil, "this is the root's first list"),
            .value("previous", nil, "LIST", .file([".json"]), help: "the root's newest list"),
            .value(
                "key", nil, "FILE|HASH", .file([".pub"]), repeatable: true,
                help: "revoke this key (64 hex digits or .pub)"),
            .value(
                "certificate", nil, "FILE|SERIAL", .file([".cert"]), repeatable: true,
                help: "revoke this certificate (32 hex digits or its file)"),
            .value(
                "package", nil, "FILE|DIGEST", .file([".nshpkg"]), repeatable: true,
                help: "revoke this package (64 hex digits: digest or manifest, or its file)"),
            .value("min-build", nil, "ID=N", repeatable: true, help: "refuse lower builds of this app"),
            .value(
                "max-build", nil, "ID=N", repeatable: true,
                help: "refuse higher builds of this app; lowers a recorded one"),
            .value("transfer", nil, "ID=PUBLISHER", repeatable: true, help: "let this app pass to another publisher"),
            .value(
                "restore", nil, "ENTRY", repeatable: true,
                help:
                    "take an entry off: a serial, hash, digest, app id, or minimumBuilds:ID, maximumBuilds:ID, transfers:ID"
            ),
            .flag("withdraw-root", nil, "withdraw this very root, for good"),
            .value("expires", nil, "TIME", help: "after this time the list counts as stale; “never” takes an end away"),
            .passwordFile, .output,
        ],
        choices: [Verb.Choice(names: ["first", "previous"], isRequired: true)],
        examples: [
            "nsh-pkgtool revoke --root root.secret --first --key release.pub -o list-1.json",
            "nsh-pkgtool revoke --root root.secret --previous list-1.json --min-build com.example.orders=40 -o list-2.json",
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let request = try request(arguments)
        let previous = try arguments.value("previous").map { try SignedDocument(readingFile: $0) }
        let time = try SigningTime.current()
        let signer = try Signer.read(try arguments.required("root"), invocation)
        let publicKey = signer.publicKey
        let document: SignedDocument
        switch signer {
        case .secret(let root):
            document =
                try previous.map { try request.sign(after: $0, with: root, at: time) }
                ?? request.signFirst(with: root, at: time)
        case .elsewhere(let root):
            document =
                try previous.map { try request.draft(after: $0, issuer: root.base64, at: time) }
                ?? request.draftFirst(issuer: root.base64, at: time)
        }
        try MadeDocument.write(document, to: try arguments.required("output"), signer: publicKey, invocation)
        return .done
    }

    private static func request(_ arguments: Arguments) throws -> RevocationRequest {
        var request = RevocationRequest()
        request.keys = try arguments.values("key").map(key)
        request.certificates = try arguments.values("certificate").map(serial)
        request.packages = try arguments.values("package").map(digest)
        request.minimumBuilds = try builds(arguments, "min-build")
        request.maximumBuilds = try builds(arguments, "max-build")
        for text in arguments.values("transfer") {
            let (app, publisher) = try OptionValue.pair(text, "transfer", "ID=PUBLISHER")
            guard request.transfers.updateValue(publisher, forKey: app) == nil else { throw twice("transfer", app) }
        }
        request.restored = arguments.values("restore")
        request.withdrawsIssuer = arguments.has("withdraw-root")
        if let text = arguments.value("expires") {
            request.expiry = text == "never" ? .never : .at(try OptionValue.time(text, "expires"))
        }
        return request
    }

    private static func builds(_ arguments: Arguments, _ name: String) throws -> [String: Int64] {
        var builds: [String: Int64] = [:]
        for text in arguments.values(name) {
            let (app, number) = try OptionValue.pair(text, name, "ID=N")
            let build = try OptionValue.integer(number, name, in: 0...JSONReader.maximumInteger)
            guard builds.updateValue(build, forKey: app) == nil else { throw twice(name, app) }
        }
        return builds
    }

    private static func twice(_ name: String, _ app: String) -> UsageError {
        UsageError("--\(name) names \(Terminal.safe(app)) twice")
    }

    private static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count && Hex.decode(text.utf8, count: count / 2) != nil
    }

    private static func key(_ text: String) throws -> String {
        isHex(text, 64) ? text : try KeyFiles.publicKey(at: text).hash.hex
    }

    private static func serial(_ text: String) throws -> String {
        if isHex(text, 32) { return text }
        return try SignedFile.certificate(text).certificate().serial.hex
    }

    private static func digest(_ text: String) throws -> String {
        if isHex(text, 64) { return text }
        guard case .package(_, _, let header) = try InspectedFile.read(text) else {
            throw Refusal.malformed("\(Terminal.safe(text)) is not a package")
        }
        return SHA256.hash(try Envelope(parsing: header, as: .package).payload).hex
    }
}
