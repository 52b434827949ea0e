import NshTrust
import NshTrustWire

/// The schemas of the API's document, by the names of the shapes.
enum OpenAPISchemas {
    /// All components, in the order of their names.
    static var components: JSONObject {
        var components = JSONObject()
        let all = requests + answers + parts
        for (name, schema) in all.sorted(by: { $0.0 < $1.0 }) { components.append(name, .object(schema)) }
        return components
    }

    /// The example of a request's document.
    static func example(of shape: DocumentShape) -> JSONObject {
        switch shape {
        case .path: ["path": .text("/srv/packages/orders-6.nshpkg")]
        case .digest: ["digest": .text(exampleDigest)]
        case .app: ["app": .text("com.example.orders")]
        case .key: ["key": .text(exampleDigest)]
        case .prune: ["keep": .integer(2), "dryRun": .boolean(true)]
        case .empty: [:]
        case .envelope:
            [
                "payloadType": .text(Envelope.Kind.revocations.rawValue), "payload": .text("e30="),
                "signatures": .array([
                    .object([
                        "keyid": .text(String(exampleDigest.prefix(16))),
                        "sig": .text(Base64.encode([UInt8](repeating: 0, count: 64))),
                    ])
                ]),
            ]
        case .export:
            [
                "apps": .array([]), "format": .text(StoreDocument.format), "lists": .array([]),
                "rootThreshold": .integer(1),
            ]
        }
    }

    private static let exampleDigest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

    // MARK: - Requests

    private static var requests: [(String, JSONObject)] {
        [
            (DocumentShape.path.rawValue, Schema.object([Schema.required("path", Schema.filePath)])),
            (DocumentShape.digest.rawValue, Schema.object([Schema.required("digest", Schema.digest)])),
            (DocumentShape.app.rawValue, Schema.object([Schema.required("app", Schema.appID)])),
            (DocumentShape.key.rawValue, Schema.object([Schema.required("key", Schema.digest)])),
            (
                DocumentShape.prune.rawValue,
                Schema.object([
                    Schema.optional("keep", Schema.integer(RequestBody.keepRange)),
                    Schema.optional("dryRun", Schema.boolean),
                ])
            ),
            (DocumentShape.empty.rawValue, Schema.object([])),
            (DocumentShape.envelope.rawValue, envelope),
            (DocumentShape.export.rawValue, export),
        ]
    }

    private static var envelope: JSONObject {
        let signature = Schema.object([
            Schema.optional("keyid", Schema.text()),
            Schema.required("sig", Schema.text(pattern: "^[A-Za-z0-9+/]{86}==$")),
        ])
        return Schema.object([
            Schema.required("payload", Schema.base64),
            Schema.required("payloadType", Schema.words([Envelope.Kind.revocations.rawValue])),
            Schema.required("signatures", Schema.array(signature, maximum: 8)),
        ])
    }

    private static var export: JSONObject {
        let build = Schema.object([
            Schema.required("acceptedAt", Schema.time), Schema.required("app", Schema.appID),
            Schema.required("build", Schema.integer()), Schema.optional("digest", Schema.digest),
            Schema.optional("identity", Schema.digest), Schema.required("publisher", Schema.text(minimum: 1)),
        ])
        return Schema.object([
            Schema.required("apps", Schema.array(build)),
            Schema.required("format", Schema.words([StoreDocument.format])),
            Schema.required("lists", Schema.array(Schema.base64)),
            Schema.required("rootThreshold", Schema.integer(1...Int64(Limits().pinnedRoots))),
        ])
    }

    // MARK: - Answers

    private static let verdicts = [Verdict.accepted.rawValue, Verdict.refused.rawValue]
    private static let refusals = RefusalCode.allCases.map(\.rawValue)
    /// Every code that a problem document may have.
    static let problemCodes = Array(Set(Metrics.codes).subtracting([""])).sorted()

    private static var verdictMembers: [Schema.Member] {
        [
            Schema.required("verdict", Schema.words(verdicts)), Schema.required("code", Schema.wordsOrNull(refusals)),
            Schema.required("message", Schema.text()),
        ]
    }

    /// What was established of a package, as far as it was.
    private static var reportMembers: [Schema.Member] {
        [
            Schema.optional("app", Schema.component("AppInfo")), Schema.optional("publisher", Schema.text()),
            Schema.optional("digest", Schema.digest), Schema.optional("signedAt", Schema.time),
            Schema.optional("key", Schema.digest), Schema.optional("certificate", Schema.component("Certificate")),
            Schema.optional("roots", Schema.array(Schema.digest)), Schema.optional("files", Schema.integer()),
            Schema.optional("unpackedSize", Schema.integer()), Schema.optional("manifest", Schema.digest),
            Schema.optional("minimumRuntime", Schema.text()),
            Schema.optional("capabilities", Schema.map(of: Schema.anything)),
            Schema.optional("annotations", Schema.map(of: Schema.text())),
            Schema.optional("certificateAnnotations", Schema.map(of: Schema.text())),
            Schema.optional("publicKey", Schema.publicKey),
            Schema.optional("rootKeys", Schema.array(Schema.publicKey)),
        ]
    }

    private static let places = [
        Schema.required("directory", Schema.path), Schema.required("lease", Schema.path),
    ]

    private static var answers: [(String, JSONObject)] {
        [
            (
                AnswerShape.check.rawValue,
                Schema.object(
                    verdictMembers + [
                        Schema.required("app", Schema.component("AppInfo")),
                        Schema.required("publisher", Schema.text()),
                        Schema.required("digest", Schema.digest),
                    ] + places)
            ),
            (AnswerShape.opened.rawValue, Schema.object(verdictMembers + reportMembers + places)),
            (AnswerShape.verdict.rawValue, Schema.object(verdictMembers + reportMembers)),
            (AnswerShape.health.rawValue, Schema.object([Schema.required("status", Schema.words(["ok"]))])),
            (AnswerShape.status.rawValue, status),
            (
                AnswerShape.openAPI.rawValue,
                Schema.object([
                    Schema.required("openapi", Schema.words([OpenAPI.version])),
                    Schema.required("info", Schema.map(of: Schema.anything)),
                    Schema.required("servers", Schema.array(Schema.map(of: Schema.text()))),
                    Schema.required("paths", Schema.map(of: Schema.map(of: Schema.anything))),
                    Schema.required("components", Schema.map(of: Schema.map(of: Schema.anything))),
                ])
            ),
            (
                AnswerShape.apps.rawValue,
                Schema.object([
                    Schema.required("apps", Schema.array(Schema.component("App"), maximum: 1000)),
                    Schema.optional("next", Schema.appID),
                ])
            ),
            (AnswerShape.app.rawValue, app),
            (
                AnswerShape.revocations.rawValue,
                Schema.object([Schema.required("lists", Schema.array(Schema.component("RevocationList")))])
            ),
            (AnswerShape.revocationUpdate.rawValue, revocationUpdate),
            (
                AnswerShape.events.rawValue,
                Schema.object([
                    Schema.required("events", Schema.array(Schema.component("Event"), maximum: 1000)),
                    Schema.required("next", Schema.integer()),
                ])
            ),
            (AnswerShape.storeCheck.rawValue, storeCheck),
            (
                AnswerShape.pruning.rawValue,
                Schema.object([
                    Schema.required("removed", Schema.array(Schema.component("RemovedPackage"))),
                    Schema.required("inUse", Schema.array(Schema.component("RemovedPackage"))),
                    Schema.required("setAside", Schema.array(Schema.text())),
                ])
            ),
            (AnswerShape.key.rawValue, Schema.object([Schema.required("key", Schema.digest)])),
            (
                AnswerShape.importResult.rawValue,
                Schema.object([
                    Schema.required("builds", Schema.integer()), Schema.required("lists", Schema.integer()),
                    Schema.required("applied", Schema.integer()),
                    Schema.required("warnings", Schema.array(Schema.text())),
                    Schema.required("notes", Schema.array(Schema.text())),
                ])
            ),
        ]
    }

    private static var status: JSONObject {
        Schema.object([
            Schema.required("version", Schema.text()), Schema.required("uptime", Schema.integer()),
            Schema.required("pid", Schema.integer()), Schema.required("state", Schema.path),
            Schema.required("apps", Schema.integer()), Schema.required("installed", Schema.integer()),
            Schema.required("unpackedSize", Schema.integer()), Schema.required("threshold", Schema.integer()),
            Schema.required("newestEvent", Schema.integer()), Schema.required("oldestEvent", Schema.integer()),
            Schema.required("roots", Schema.array(Schema.component("Root"))),
            Schema.required("rootsSeen", Schema.array(Schema.component("SeenRoot"))),
            Schema.required("badRoots", Schema.array(Schema.component("BadFile"))),
            Schema.required("lists", Schema.array(Schema.component("RevocationList"))),
            Schema.required("badLists", Schema.array(Schema.component("BadFile"))),
            Schema.required("warnings", Schema.array(Schema.text())),
        ])
    }

    private static var app: JSONObject {
        let installed = Schema.object([
            Schema.required("build", Schema.integer()), Schema.required("version", Schema.text()),
            Schema.required("digest", Schema.digest), Schema.required("directory", Schema.path),
            Schema.required("files", Schema.integer()), Schema.required("unpackedSize", Schema.integer()),
        ])
        return Schema.object([
            Schema.required("id", Schema.appID), Schema.required("build", Schema.integer()),
            Schema.required("publisher", Schema.text()), Schema.optional("digest", Schema.digest),
            Schema.required("acceptedAt", Schema.time), Schema.required("installed", Schema.array(installed)),
        ])
    }

    private static var revocationUpdate: JSONObject {
        Schema.object([
            Schema.required("verdict", Schema.words([Verdict.accepted.rawValue])),
            Schema.required("code", ["type": .text("null")]), Schema.required("message", Schema.text()),
            Schema.required("issuer", Schema.digest), Schema.required("sequence", Schema.integer()),
            Schema.required("changed", Schema.boolean), Schema.required("dryRun", Schema.boolean),
            Schema.required("stoppedApps", Schema.array(Schema.appID)),
            Schema.required("warnings", Schema.array(Schema.text())),
        ])
    }

    private static var storeCheck: JSONObject {
        let problem = Schema.object([
            Schema.required("code", Schema.text()), Schema.required("message", Schema.text()),
        ])
        return Schema.object([
            Schema.required("verdict", Schema.words(verdicts)),
            Schema.required("code", Schema.wordsOrNull(problemCodes)), Schema.required("message", Schema.text()),
            Schema.required("problems", Schema.array(problem)), Schema.required("packages", Schema.integer()),
        ])
    }

    // MARK: - Parts

    private static var parts: [(String, JSONObject)] {
        [
            ("Problem", problem),
            (
                "AppInfo",
                Schema.object([
                    Schema.required("id", Schema.appID), Schema.required("name", Schema.text()),
                    Schema.required("version", Schema.text()), Schema.required("build", Schema.integer()),
                ])
            ),
            (
                "Certificate",
                Schema.object([
                    Schema.required("serial", Schema.text(pattern: "^[0-9a-f]{32}$")),
                    Schema.required("notBefore", Schema.time), Schema.required("notAfter", Schema.time),
                    Schema.required("apps", Schema.array(Schema.text())),
                    Schema.required("content", Schema.array(Schema.words(["source", "bytecode"]))),
                ])
            ),
            ("Event", event),
            ("RevocationList", revocationList),
            (
                "RemovedPackage",
                Schema.object([
                    Schema.required("id", Schema.appID), Schema.required("build", Schema.integer()),
                    Schema.required("digest", Schema.digest), Schema.required("directory", Schema.path),
                    Schema.required("unpackedSize", Schema.integer()),
                ])
            ),
            (
                "Root",
                Schema.object([
                    Schema.required("key", Schema.digest), Schema.required("publicKey", Schema.publicKey),
                    Schema.required("file", Schema.text()), Schema.required("withdrawn", Schema.boolean),
                ])
            ),
            (
                "SeenRoot",
                Schema.object([
                    Schema.required("key", Schema.digest), Schema.required("since", Schema.time),
                    Schema.optional("withdrawnBy", Schema.text()),
                ])
            ),
            (
                "BadFile",
                Schema.object([
                    Schema.required("file", Schema.text()), Schema.required("message", Schema.text()),
                ])
            ),
        ]
    }

    private static var problem: JSONObject {
        let statuses = Metrics.statuses.filter { $0 >= 400 }.sorted().map { JSONValue.integer(Int64($0)) }
        return Schema.object(
            [
                Schema.required("type", Schema.words(["about:blank"])), Schema.required("title", Schema.text()),
                Schema.required("status", ["type": .text("integer"), "enum": .array(statuses)]),
                Schema.required("detail", Schema.text()), Schema.required("code", Schema.words(problemCodes)),
                Schema.optional("member", Schema.text()), Schema.optional("oldest", Schema.integer()),
            ] + reportMembers)
    }

    private static var event: JSONObject {
        Schema.object([
            Schema.required("sequence", Schema.integer()), Schema.required("time", Schema.time),
            Schema.required("kind", Schema.words(NewEvent.Kind.allCases.map(\.rawValue))),
            Schema.optional("app", Schema.appID), Schema.optional("build", Schema.integer()),
            Schema.optional("digest", Schema.digest), Schema.optional("code", Schema.words(refusals)),
            Schema.required("message", Schema.text()), Schema.optional("uid", Schema.integer()),
            Schema.optional("pid", Schema.integer()), Schema.required("count", Schema.integer()),
        ])
    }

    private static var revocationList: JSONObject {
        let names = ["certificates", "keys", "maximumBuilds", "minimumBuilds", "packages", "transfers"]
        return Schema.object([
            Schema.required("issuer", Schema.digest), Schema.required("sequence", Schema.integer()),
            Schema.required("issuedAt", Schema.time), Schema.optional("expiresAt", Schema.time),
            Schema.required("appliedAt", Schema.time), Schema.required("revokesIssuer", Schema.boolean),
            Schema.required("entries", Schema.object(names.map { Schema.optional($0, Schema.integer()) })),
        ])
    }
}
