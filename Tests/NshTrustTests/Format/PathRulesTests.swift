import FoundationEssentials
import NshTrust
import TestSupport
import Testing

@Suite struct PathRulesTests {
    @Test(
        .rules("PTH-1"),
        arguments: ["", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/./b", "a/../b", "../a", "a/.."])
    func refusesWhatIsNotRelativeOrHasEmptyOrDotComponents(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) != nil)
    }

    @Test(
        .rules("PTH-1"),
        arguments: [
            [0x61, 0xFF], [0xC0, 0xAE, 0xC0, 0xAE], [0x61, 0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func refusesWhatIsNotUTF8(_ path: [UInt8]) {
        #expect(PathRules.problem(of: path) == "is not UTF-8")
    }

    @Test(.rules("PTH-2"), arguments: ["cafe\u{301}.js", "a/\u{212A}.js", "\u{2126}"])
    func refusesWhatIsNotInNormalFormC(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) == "is not in normal form C")
    }

    @Test(
        .rules("PTH-3"),
        arguments: [
            "a\u{0}b", "a\nb", "a\tb", "a\u{7F}", "a\u{85}b", "a\u{200B}b", "a\u{200C}b", "a\u{200D}b", "a\u{202E}b",
            "\u{FEFF}a", "a\u{AD}b", "a\u{2028}b", "a\u{2029}b", "a\u{FFFE}", "a\u{E000}", "a\u{378}", "\u{10FFFF}",
        ])
    func refusesWhatCannotBeSeen(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) != nil)
    }

    @Test(.rules("PTH-4"), arguments: ["\\", ":", "<", ">", "\"", "|", "?", "*"])
    func refusesLettersThatMeanSomethingElsewhere(_ letter: String) {
        #expect(PathRules.problem(of: Array("a\(letter)b/c".utf8)) != nil)
        #expect(PathRules.problem(of: Array(letter.utf8)) != nil)
    }

    @Test(.rules("PTH-5"), arguments: ["a.", "a /b", "a/...", "a/.. /b", " ", "a/b.", "a./b"])
    func refusesComponentsThatEndWithADotOrASpace(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) == "has a component that ends with a dot or a space")
    }

    @Test(.rules("PTH-6"), arguments: ["._a", "a/._", "._DS_Store/b"])
    func refusesResourceForks(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) == "has a component that begins with “._”")
    }

    @Test(
        .rules("PTH-7"),
        arguments: [
            "con", "CON", "Prn.txt", "a/aux", "nul.tar.gz", "NUL/a", "com0", "COM1", "com9.js", "lpt0", "LPT9.log",
            "com\u{B9}", "COM\u{B2}.js", "lpt\u{B3}", "conin$", "CONOUT$", "conout$.x",
        ])
    func refusesNamesOfWindowsDevices(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) == "has a component whose name Windows reserves")
    }

    @Test(.rules("PTH-8")) func refusesTheNameOfStandardInput() {
        #expect(PathRules.problem(of: [0x2D]) != nil)
        #expect(PathRules.problem(of: Array("a/-".utf8)) == nil)
        #expect(PathRules.problem(of: Array("-a".utf8)) == nil)
    }

    @Test(
        .rules("PTH-1", "PTH-3", "PTH-5", "PTH-6", "PTH-7"),
        arguments: [
            "a", "..a", "a..b/c", ".hidden", ".a_", "_a", "-rf", "$(id).js", "console.js", "com10", "com", "lpt\u{B4}",
            "conin", "conin$x", "con .txt", "auxiliary/prn-view.js", "caf\u{E9}.js", "日本語/画面.js", "🌟.txt", "…/x",
            "~/x", "a/%2e%2e/x", "a\u{2215}b", "\u{FB01}le", "b/ a", "conoutt$", "comm", "nulls/nu",
        ])
    func acceptsHarmlessNames(_ path: String) {
        #expect(PathRules.problem(of: Array(path.utf8)) == nil)
    }

    @Test(.rules("LIM-21", "LIM-22", "LIM-23")) func countsBytesAndComponents() {
        func path(_ lengths: [Int]) -> [UInt8] {
            Array(lengths.map { String(repeating: "a", count: $0) }.joined(separator: "/").utf8)
        }
        #expect(PathRules.problem(of: path([255, 255, 255, 255, 0].dropLast() + [])) == nil)
        #expect(path([255, 255, 255, 256]).count == 1024)
        #expect(PathRules.problem(of: path([254, 254, 254, 255, 2])) == nil)
        #expect(path([254, 254, 254, 255, 3]).count == 1024)
        #expect(PathRules.problem(of: path([254, 254, 254, 255, 3])) == nil)
        #expect(PathRules.problem(of: path([254, 254, 254, 255, 4])) == "is longer than 1024 bytes")
        #expect(PathRules.problem(of: path([255])) == nil)
        #expect(PathRules.problem(of: path([256])) == "has a component of more than 255 bytes")
        #expect(PathRules.problem(of: Array(String(repeating: "é", count: 128).utf8)) != nil)
        #expect(PathRules.problem(of: path(Array(repeating: 1, count: 32))) == nil)
        #expect(PathRules.problem(of: path(Array(repeating: 1, count: 33))) == "has more than 32 components")
    }

    @Test func saysWhichPathAndEscapesIt() throws {
        let refusal = #expect(throws: Refusal.self) { try PathRules.check(Array("a\u{1B}[31m".utf8)) }
        #expect(refusal?.code == .unsafePath)
        #expect(refusal?.message == "the path “a\\u{1B}[31m” holds a control character")
    }
}
