import NshTrustWire
import TestSupport
import Testing

@testable import NshTrust

/// What is written is read back as it was.
struct WireTests {
    private func reader(_ object: JSONObject) throws -> WireReader {
        try WireReader(parsing: Array(JSONLine.text(object).utf8), subject: "the answer")
    }

    private let report = NshReport(
        roots: [
            .init(keyHash: String(repeating: "1", count: 64), keyID: String(repeating: "1", count: 16), key: "AAA=")
        ],
        certificate: .init(
            serial: "00ff", publisher: "Exämple \u{202E}", apps: ["com.example.*"], content: ["source"], notBefore: 1,
            notAfter: 2, keyHash: String(repeating: "2", count: 64), keyID: String(repeating: "2", count: 16),
            key: "BBB=", annotations: ["a": "b"]),
        info: .init(id: "com.example.a", name: "\"\\", version: "1", build: 7), digest: "dd", manifest: "mm",
        signedAt: 3, minimumRuntime: "0.5.0",
        capabilities: NshCapabilities(["network": .object(["hosts": .array([.text("*.a.b")])])]),
        annotations: ["x": "y"], files: 4, unpackedSize: 5)

    @Test func verdicts() throws {
        let accepted = VerdictDocument(accepted: report, directory: "/d", lease: "/d/l")
        #expect(try VerdictDocument(reader(accepted.answer)) == accepted)
        #expect(accepted.object.members.map(\.name).first == "verdict")
        let refused = VerdictDocument(.refused, code: "rolledBack", message: "m", report: report)
        #expect(try VerdictDocument(reader(refused.answer)) == refused)
        let nothing = NshReport(Established(), payloadVerified: false)
        let early = VerdictDocument(.refused, code: "malformed", message: "m", report: nothing)
        #expect(try VerdictDocument(reader(early.answer)) == early)
        #expect(early.answer.members.map(\.name) == ["verdict", "code", "message"])
    }

    @Test func problems() throws {
        let problem = ProblemDocument(
            status: 403, title: "Forbidden", code: "rolledBack", detail: "d", member: "m", oldest: 4, report: report)
        #expect(try ProblemDocument(reader(problem.object)) == problem)
        #expect(problem.error.report == report)
        let plain = ProblemDocument(status: 404, title: "Not Found", code: "notFound", detail: "d")
        #expect(try ProblemDocument(reader(plain.object)) == plain)
        #expect(plain.object.members.map(\.name) == ["type", "title", "status", "detail", "code"])
    }

    @Test func events() throws {
        let event = NshEvent(
            sequence: 1, time: 2, kind: "opened", app: "a.b", build: 3, digest: "d", code: .rolledBack, message: "m",
            uid: 0, pid: 7, count: 2)
        let shown = EventDocument(event, showsCaller: true)
        #expect(try EventDocument(reader(shown.object)) == shown)
        let hidden = try EventDocument(reader(EventDocument(event, showsCaller: false).object))
        #expect(hidden.event.uid == NshEvent.unknownUser)
        #expect(!hidden.showsCaller)
        let page = EventPageDocument(events: [shown], next: 9)
        #expect(try EventPageDocument(reader(page.object)) == page)
    }

    @Test func lists() throws {
        let list = RevocationListDocument(
            NshRevocationList(
                issuer: "i", sequence: 1, issuedAt: 2, expiresAt: nil, revokesIssuer: true, appliedAt: 4,
                entryCounts: ["keys": 1, "packages": 0]))
        #expect(try RevocationListDocument(reader(list.object)) == list)
        #expect(try RevocationsDocument(reader(RevocationsDocument(lists: [list]).object)).lists == [list])
        let update = RevocationUpdateDocument(
            NshRevocationUpdate(changed: true, issuer: "i", sequence: 2, warnings: ["w"], stoppedApps: ["a"]),
            isRehearsal: true)
        #expect(try RevocationUpdateDocument(reader(update.object)) == update)
    }

    @Test func appsAndStores() throws {
        let accepted = NshAcceptedBuild(app: "a.b", build: 3, publisher: "p", digest: nil, acceptedAt: 5)
        let page = AppPageDocument(apps: [AppDocument(accepted: accepted, installed: [])], next: "a.b")
        #expect(try AppPageDocument(reader(page.object)) == page)
        for problems in [[], [(code: "storeCorrupt", message: "m")]] {
            let check = StoreCheckDocument(StoreCheckResult(problems: problems, packages: 2))
            #expect(try StoreCheckDocument(reader(check.object)) == check)
        }
        let taken = ImportDocument(
            StoreImport(builds: 1, lists: 2, applied: 1, warnings: ["w"], notes: ["n"]))
        #expect(try ImportDocument(reader(taken.object)) == taken)
    }

    @Test func passesOverWhatItDoesNotKnow() throws {
        var object = AppPageDocument(apps: [], next: nil).object
        object.append("later", .array([.number("1.5"), .null]))
        #expect(try AppPageDocument(reader(object)).apps.isEmpty)
    }

    @Test(arguments: [
        "{\"apps\":1}", "{\"apps\":[1]}", "{\"apps\":[],\"next\":1}", "{}", "[]", "", "{\"apps\":[],\"apps\":[]}",
    ])
    func refusesWrongTypes(_ text: String) {
        let trouble = #expect(throws: Trouble.self) {
            try AppPageDocument(WireReader(parsing: Array(text.utf8), subject: "the answer"))
        }
        #expect(trouble?.code == .ioFailure)
    }
}
