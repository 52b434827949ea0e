import NshCommandLine
import NshPublishing
import NshTrust

/// `certify`: a root vouches for a release key.
enum CertifyVerb {
    static let verb = Verb(
        name: "certify",
        summary: "let a root vouch for a release key: this publisher, these apps, this long",
        details: [
            "A certificate is never wider than asked. A pattern is one app id, “com.example.*” for every id below it, or “*”.",
            "With --renew the key, publisher, apps and content of an older certificate are kept, and so is the beginning of its "
                + "window, so that recertify can put the new one into packages that exist; only the end moves.",
            "When --root names a .pub file, a draft without a signature is written, for a root in an HSM or behind an air gap: "
                + "see pae and attach.",
        ],
        options: [
            .value(
                "root", nil, "FILE", .file([".secret", ".pub"]), required: true,
                help: "the root's secret key, or .pub for a draft"),
            .value("key", nil, "FILE", .file([".pub"]), help: "the release key's .pub file"),
            .value("publisher", nil, "TEXT", help: "whom the root vouches for; people see it"),
            .value("apps", nil, "PATTERN[,PATTERN]", repeatable: true, help: "the app ids that the key may sign"),
            .value(
                "days", nil, "N",
                help: "let the certificate end this many days after it begins (with --renew: after now)"),
            .value("not-after", nil, "TIME", help: "let the certificate end then"),
            .value("not-before", nil, "TIME", help: "let the certificate begin then instead of now"),
            .value("content", nil, "KIND[,KIND]", help: "allow source, bytecode or both; without it both"),
            .value("renew", nil, "FILE", .file([".cert"]), help: "renew this certificate"),
            .value(
                "old-root", nil, "FILE", .file([".pub"]), repeatable: true,
                help: "with --renew: another root that may have signed the old certificate"),
            .value("annotate", nil, "NAME=TEXT", repeatable: true, help: "add a signed note"),
            .passwordFile, .output,
        ],
        choices: [Verb.Choice(names: ["days", "not-after"], isRequired: true)],
        examples: [
            "nsh-pkgtool certify --root root.secret --key release.pub --publisher \"Example Ltd\" --apps \"com.example.*\" "
                + "--days 365 -o release.cert",
            "nsh-pkgtool certify --root root.secret --renew release.cert --days 365 -o renewed.cert",
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let isRenewal = arguments.has("renew")
        try checkShape(arguments, isRenewal: isRenewal)
        let now = try SigningTime.current()
        let begin = try arguments.value("not-before").map { try OptionValue.time($0, "not-before") } ?? now
        let end = try self.end(arguments, from: isRenewal ? now : begin)
        guard end >= begin || isRenewal else { throw UsageError("the certificate would end before it begins") }
        let old = try arguments.value("renew").map { try SignedDocument(readingFile: $0) }
        let key = try arguments.value("key").map { try KeyFiles.publicKeyText(readingFile: $0) }
        let oldRoots = try arguments.values("old-root").map { try KeyFiles.publicKeyText(readingFile: $0) }
        let rootPath = try arguments.required("root")
        let signer = try Signer.read(rootPath, invocation)
        var request: CertificateRequest
        if let old {
            request = try CertificateRequest(renewing: old, until: end, trusting: [signer.publicKey.base64] + oldRoots)
        } else {
            request = CertificateRequest(
                key: key ?? "", publisher: try arguments.required("publisher"),
                apps: list(arguments.values("apps")), notBefore: begin, notAfter: end,
                content: arguments.value("content").map { list([$0]) })
        }
        for note in arguments.values("annotate") {
            let (name, text) = try OptionValue.pair(note, "annotate", "NAME=TEXT")
            request.annotations[name] = text
        }
        let publicKey = signer.publicKey
        let document: SignedDocument
        switch signer {
        case .secret(let root): document = try request.signed(by: root)
        case .elsewhere: document = try request.draft()
        }
        try MadeDocument.write(document, to: try arguments.required("output"), signer: publicKey, invocation)
        return .done
    }

    private static func checkShape(_ arguments: Arguments, isRenewal: Bool) throws(UsageError) {
        let described = ["key", "publisher", "apps"]
        if isRenewal {
            if let extra = (described + ["content", "not-before"]).first(where: arguments.has) {
                throw UsageError("--renew keeps what the old certificate says; --\(extra) cannot be changed with it")
            }
        } else {
            if let missing = described.first(where: { !arguments.has($0) }) {
                throw UsageError("certify needs --\(missing), or --renew FILE")
            }
            if arguments.has("old-root") { throw UsageError("--old-root belongs to --renew") }
        }
    }

    private static func end(_ arguments: Arguments, from begin: Int64) throws(UsageError) -> Int64 {
        if let days = arguments.value("days") {
            return begin + (try OptionValue.integer(days, "days", in: 1...36_500)) * 86_400
        }
        return try OptionValue.time(try arguments.required("not-after"), "not-after")
    }

    private static func list(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }
}
