import TestSupport
import Testing

@testable import NshTrustd

struct RequestTargetTests {
    @Test(arguments: [
        ("/", []),
        ("/v1/health", ["v1", "health"]),
        ("/v1/health?", ["v1", "health"]),
        ("/v1/health?a/b", ["v1", "health"]),
        ("/v1%2fhealth", ["v1/health"]),
        ("/v1%2Fhealth", ["v1/health"]),
        ("/%c3%a4", ["ä"]),
        ("/ä", ["ä"]),
        ("/a%20b+c", ["a b+c"]),
        ("/...", ["..."]),
        ("/a;b", ["a;b"]),
        ("/%3f", ["?"]),
        ("/%252e%252e", ["%2e%2e"]),
    ])
    func aPathIsSplitAndThenDecoded(target: String, path: [String]) {
        #expect(RequestTarget(Array(target.utf8)).path == path)
    }

    @Test(
        .attack("L16"),
        arguments: [
            "", "*", "v1/health", "http://localhost/v1/health", "?", "//", "//v1/health", "/v1//health", "/v1/health/",
            "/.", "/..", "/v1/../v1/health", "/v1/./health", "/%2e%2e/v1", "/%2E", "/v1/%", "/v1/%4", "/v1/%zz",
            "/v1/%%34",
            "/%ff", "/%c3", "/%ed%a0%80", "/%c0%af", "/%f5%80%80%80", "/%00", "/a b", "/a\tb", "/\u{7f}",
        ])
    func aPathThatCouldBeReadInTwoWaysIsNone(target: String) {
        #expect(RequestTarget(Array(target.utf8)).path == nil)
    }

    @Test
    func rawBytesThatAreNotUTF8AreNoPath() {
        #expect(RequestTarget([0x2f, 0xff]).path == nil)
        #expect(RequestTarget(Array("/a?b=".utf8) + [0xc3]).query == nil)
    }

    @Test(arguments: [
        ("/", []),
        ("/?", []),
        ("/?a", ["a", ""]),
        ("/?a=", ["a", ""]),
        ("/?=b", ["", "b"]),
        ("/?a=b", ["a", "b"]),
        ("/?a=b=c", ["a", "b=c"]),
        ("/?a=b?c", ["a", "b?c"]),
        ("/?a=1&a=2", ["a", "1", "a", "2"]),
        ("/?a%3d=b%26", ["a=", "b&"]),
        ("/?a=+", ["a", "+"]),
        ("/?&", ["", "", "", ""]),
        ("/?a=..", ["a", ".."]),
    ])
    func aQueryKeepsTheOrderOfItsParameters(target: String, flat: [String]) {
        #expect(RequestTarget(Array(target.utf8)).query?.flatMap { [$0.name, $0.value] } == flat)
    }

    @Test(arguments: ["/?%", "/?a=%f", "/?a=%ff", "/?a=b c", "/?%00", "/?a&%gg"])
    func aQueryThatDoesNotDecodeIsNone(target: String) {
        #expect(RequestTarget(Array(target.utf8)).query == nil)
    }

    @Test
    func aPathAndAQueryFailEachForItself() {
        #expect(RequestTarget(Array("//?a=b".utf8)).query?.count == 1)
        #expect(RequestTarget(Array("/a?%".utf8)).path == ["a"])
    }
}
