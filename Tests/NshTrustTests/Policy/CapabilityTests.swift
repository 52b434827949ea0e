import TestSupport
import Testing

@testable import NshTrust

@Suite("Capabilities")
struct CapabilityTests {
    @Test(
        "what both allow", .rules("CAP-1", "CAP-3"),
        arguments: [
            (#"{"network":{"hosts":["a.example"]}}"#, nil, #"{"network":{"hosts":["a.example"]}}"#),
            (#"{"network":{"hosts":["a.example"]}}"#, "{}", "{}"),
            (#"{"statusBar":true}"#, #"{"statusBar":true}"#, #"{"statusBar":true}"#),
            (#"{"statusBar":true}"#, #"{"statusBar":false}"#, #"{"statusBar":false}"#),
            (#"{"statusBar":true}"#, #"{"openUrl":true}"#, "{}"),
            (
                #"{"network":{"hosts":["*.cdn.example.com","x.org"]}}"#,
                #"{"network":{"hosts":["a.cdn.example.com","*.org"]}}"#,
                #"{"network":{"hosts":["a.cdn.example.com","x.org"]}}"#
            ),
            (
                #"{"network":{"hosts":["*.b.example.com"]}}"#, #"{"network":{"hosts":["*.example.com"]}}"#,
                #"{"network":{"hosts":["*.b.example.com"]}}"#
            ),
            (
                #"{"network":{"hosts":["example.com"]}}"#, #"{"network":{"hosts":["*.example.com"]}}"#,
                #"{"network":{"hosts":[]}}"#
            ),
            (
                #"{"network":{"hosts":["A.example"]}}"#, #"{"network":{"hosts":["a.example"]}}"#,
                #"{"network":{"hosts":[]}}"#
            ),
            (#"{"openUrl":["https"]}"#, #"{"openUrl":["https"]}"#, #"{"openUrl":["https"]}"#),
            (#"{"openUrl":["https"]}"#, #"{"openUrl":["https","tel"]}"#, "{}"),
            (#"{"camera":1}"#, #"{"camera":1}"#, #"{"camera":1}"#), (#"{"camera":1}"#, #"{"camera":true}"#, "{}"),
            (
                #"{"network":{"hosts":["a.example"],"local":true}}"#, #"{"network":{"hosts":["a.example"]}}"#,
                #"{"network":{"hosts":["a.example"]}}"#
            ),
        ] as [(String, String?, String)]) func intersects(_ declared: String, _ granted: String?, _ expected: String)
        throws
    {
        let object = try JSONReader.read(Array(declared.utf8), subject: "the test") {
            (reader: inout JSONReader) throws(Refusal) in try reader.tree(numbers: .integers)
        }
        #expect(try NshCapabilities(object).granted(by: granted).json == expected)
    }

    @Test(
        "grants that are none", .rules("CAP-3", "CAP-4"),
        arguments: [
            "", "nil", "[]", "{", #"{"network":{"hosts":["A.example"]}}"#, #"{"network":{"hosts":"a.example"}}"#,
            #"{"network":{"hosts":["*"]}}"#, #"{"network":{"hosts":["a..example"]}}"#,
            #"{"network":{"hosts":["a.*.example"]}}"#,
            #"{"a":1,"a":1}"#, #"{"a":1.5}"#,
        ]) func refusesGrants(_ grant: String)
    {
        let error = #expect(throws: NshError.self) { try NshCapabilities(JSONObject()).granted(by: grant) }
        #expect(error?.code == .badRequest)
    }

    @Test("a declaration of very many hosts costs no square of them", .timeLimit(.minutes(1)))
    func intersectsManyHosts() throws {
        let hosts = (0..<30_000).map { JSONValue.text("h\($0).org") }
        let granted = try NshCapabilities(["network": .object(["hosts": .array(hosts)])])
            .granted(by: #"{"network":{"hosts":["*.org"]}}"#)
        #expect(granted.allowsNetwork(to: "h29999.org") && !granted.allowsNetwork(to: "h30000.org"))
    }

    @Test("which hosts are reached", .rules("CAP-2", "CAP-3")) func allowsHosts() throws {
        let object: JSONObject = [
            "network": .object(["hosts": .array([.text("api.example.com"), .text("*.cdn.example.com")])])
        ]
        let capabilities = NshCapabilities(object)
        for (host, allowed) in [
            ("api.example.com", true), ("API.example.com", true), ("a.cdn.example.com", true),
            ("a.b.cdn.example.com", true),
            ("cdn.example.com", false), ("example.com", false), ("xapi.example.com", false),
            ("xcdn.example.com", false), ("my_bucket.cdn.example.com", true),
            // What is no host name reaches nothing, and no other host's name is folded into an allowed one.
            (".cdn.example.com", false), ("a..cdn.example.com", false), ("evil.org/.cdn.example.com", false),
            ("evil.org#.cdn.example.com", false), ("evil.org:80.cdn.example.com", false),
            ("api.example.com.", false), ("\u{FF41}pi.example.com", false), ("\u{212A}.cdn.example.com", false),
            ("stra\u{DF}e.cdn.example.com", false), ("", false),
        ] {
            #expect(capabilities.allowsNetwork(to: host) == allowed, "\(host)")
        }
        // 253 bytes are a host name, 254 are none.
        let labels = ["a", "bb"].map { $0 + String(repeating: "." + String(repeating: "c", count: 58), count: 4) }
        for (labels, allowed) in zip(labels, [true, false]) {
            let host = labels + ".cdn.example.com"
            #expect(host.utf8.count == (allowed ? 253 : 254) && capabilities.allowsNetwork(to: host) == allowed)
        }
        #expect(!capabilities.allowsWebView(of: "api.example.com"))
        #expect(!capabilities.allows("statusBar"))
    }
}
