import NshTrust
import NshTrustWire
import TestSupport

extension FuzzTarget {
    /// A document of the daemon: a letter that says which, then the JSON.
    static let wire = FuzzTarget(
        "wire", maximumLength: 8 << 10, dictionary: "json", seeds: wireSeeds,
        judge: { input in
            guard let letter = input.first, !kinds.isEmpty else { return "short" }
            let kind = kinds[Int(letter) % kinds.count]
            let parsed = try judged(allowing: [.ioFailure]) {
                try WireReader(parsing: Array(input.dropFirst()), subject: "the answer")
            }
            guard let reader = parsed.value else { return parsed.word }
            let read = try judged(allowing: [.ioFailure]) { try kind.read(reader) }
            guard let object = read.value else { return read.word }
            let line = Array(JSONLine.text(object).utf8)
            try requireOneLine(line)
            let again = try kind.read(try WireReader(parsing: line, subject: "the line"))
            try require(again == object, "\(kind.name) is written otherwise than read")
            return "accepted"
        })

    private struct WireKind: Sendable {
        let name: String
        /// Reads a document and writes it again.
        let read: @Sendable (WireReader) throws -> JSONObject
    }

    private static let kinds: [WireKind] = [
        WireKind(name: "verdict") { try VerdictDocument($0).answer },
        WireKind(name: "problem") { try ProblemDocument($0).object },
        WireKind(name: "event") { try EventDocument($0).object },
        WireKind(name: "events") { try EventPageDocument($0).object },
        WireKind(name: "app") { try AppDocument($0).object },
        WireKind(name: "apps") { try AppPageDocument($0).object },
        WireKind(name: "check") { try CheckDocument($0).object },
        WireKind(name: "status") { try StatusDocument($0).object },
        WireKind(name: "lists") { try RevocationsDocument($0).object },
        WireKind(name: "update") { try RevocationUpdateDocument($0).object },
        WireKind(name: "pruning") { try PruningDocument($0).object },
        WireKind(name: "store check") { try StoreCheckDocument($0).object },
        WireKind(name: "import") { try ImportDocument($0).object },
    ]

    private static func requireOneLine(_ line: [UInt8]) throws {
        try require(!line.contains { $0 < 0x20 || $0 == 0x7F }, "a line of JSON holds a control character")
    }

    private static let wireSeeds: @Sendable (SeedVectors) throws -> [Seed] = { _ in
        let event =
            #"{"sequence":1,"time":2,"kind":"opened","app":"a.b","build":3,"digest":"d","code":"rolledBack","message":"m","uid":0,"pid":7,"count":2}"#
        let hash = String(repeating: "1", count: 64)
        let report =
            #""roots":[{"keyHash":"\#(hash)","keyID":"1111111111111111","key":"AAA="}],"digest":"d","files":4"#
        let texts = [
            #"{"verdict":"accepted","code":null,"message":"m",\#(report)}"#,
            #"{"type":"about:blank","title":"T","status":403,"detail":"d","code":"rolledBack","member":"m","oldest":4}"#,
            event, #"{"events":[\#(event)],"next":9}"#,
            #"{"app":"a.b","build":3,"publisher":"p","acceptedAt":5,"installed":[]}"#, #"{"apps":[],"next":"a.b"}"#,
            #"{"verdict":"accepted","code":null,"message":"m","app":{"id":"a.b","build":1},"directory":"/d"}"#,
            #"{"version":"0.1.0","state":"/s","roots":[],"badRoots":[],"badLists":[]}"#,
            #"{"lists":[{"issuer":"i","sequence":1,"issuedAt":2,"revokesIssuer":true,"appliedAt":4}]}"#,
            #"{"changed":true,"issuer":"i","sequence":2,"warnings":["w"],"stoppedApps":["a"],"dryRun":true}"#,
            #"{"removed":[],"kept":[],"setAside":[]}"#, #"{"problems":[],"packages":2}"#,
            #"{"builds":1,"lists":2,"applied":2,"warnings":[]}"#,
        ]
        return texts.enumerated().map { Seed("wire-\($0.offset)", [UInt8($0.offset)] + Array($0.element.utf8)) }
    }
}
