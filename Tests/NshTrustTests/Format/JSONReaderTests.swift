import TestSupport
import Testing

@testable import NshTrust

@Suite("Strict JSON")
struct JSONReaderTests {
    private enum Name: String, CaseIterable { case build, id }

    private func readMembers(_ text: String) throws(Refusal) -> Int64 {
        try JSONReader.read(Array(text.utf8), subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
            var build: Int64 = -1
            try reader.members(of: Name.self, optional: [.id]) {
                (reader: inout JSONReader, name: Name) throws(Refusal) in
                switch name {
                case .build: build = try reader.integer()
                case .id: _ = try reader.text()
                }
            }
            return build
        }
    }

    private func value(_ text: String, _ numbers: JSONReader.Numbers = .integers) throws(Refusal) -> JSONValue {
        try JSONReader.read(Array(text.utf8), subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
            try reader.value(numbers: numbers)
        }
    }

    private func code(_ body: () throws(Refusal) -> Void) -> RefusalCode? {
        do { try body() } catch { return error.code }
        return nil
    }

    @Test(
        "names twice, unknown, missing or in another case", .rules("JSN-3", "JSN-4"),
        arguments: [
            #"{"build":5,"build":999}"#, #"{"build":5,"\u0062uild":5}"#, #"{"build":5,"other":1}"#, #"{"id":"a"}"#,
            "{}",
            #"{"Build":5}"#, #"{"build":5,"Build":5}"#, #"{"build":5,}"#, #"{"build":5}{}"#, #"["build",5]"#, "null",
            "",
        ]) func refusesMembers(_ text: String)
    {
        #expect(code { () throws(Refusal) in _ = try readMembers(text) } == .malformed)
    }

    @Test(
        "what ends or begins in the wrong place", .rules("JSN-2", "JSN-11"),
        arguments: [
            "-", "1.", "1e", "1e+", #""abc\"#, #""abc"#, #"abc""#, "nul", "[1", "[", #"{"a""#, #"{"a":"#, #"{a":1}"#,
            "",
        ]) func refusesTornValues(_ text: String)
    {
        #expect(code { () throws(Refusal) in _ = try value(text, .any) } == .malformed)
    }

    @Test("a value of another type than the rule's", .rules("JSN-11", "JSN-2")) func refusesOtherTypes() {
        for text in [#""build":5}"#, #"{"build":5,"id":x"}"#, #"{build":5}"#, #"{"build":5,"id":5}"#] {
            #expect(code { () throws(Refusal) in _ = try readMembers(text) } == .malformed, "\(text)")
        }
        let array = code { () throws(Refusal) in
            try JSONReader.read(Array("1]".utf8), subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
                try reader.array { (reader: inout JSONReader) throws(Refusal) in _ = try reader.integer() }
            }
        }
        #expect(array == .malformed)
    }

    @Test(
        "base64 of a stated length", .rules("ENV-3", "KEY-6"),
        arguments: [
            (#""QUJD""#, true), (#""QU\u004aD""#, true), (#""QUI=""#, false), (#""QUJDRA==""#, false), (#""""#, false),
            (#"xQUJD""#, false), (#""QUJD"#, false), (#""QU\u004a""#, false), ("", false),
        ]) func readsBase64(_ text: String, _ accepted: Bool)
    {
        let code = code { () throws(Refusal) in
            _ = try JSONReader.read(Array(text.utf8), subject: "the test") {
                (reader: inout JSONReader) throws(Refusal) in
                try reader.base64(count: 3)
            }
        }
        #expect(code == (accepted ? nil : .malformed))
    }

    @Test("members in any order and spacing", .rules("JSN-2", "JSN-4"))
    func readsMembers() throws {
        #expect(try readMembers(#" { "id" : "x" , "\u0062uild" : 42 } "#) == 42)
        #expect(try readMembers(#"{"build":0}"#) == 0)
    }

    @Test(
        "numbers", .rules("JSN-6", "JSN-7"),
        arguments: [
            ("0", true), ("9007199254740991", true), ("9007199254740992", false), ("-1", false), ("-0", false),
            ("1.0", false),
            ("1e3", false), ("01", false), ("+1", false), ("18446744073709551617", false), ("１", false),
            ("\"1\"", false),
            ("true", false), ("null", false), ("1 2", false), ("0x1", false), ("00009007199254740991", false),
        ]) func judgesNumbers(_ number: String, _ accepted: Bool)
    {
        #expect((code { () throws(Refusal) in _ = try readMembers(#"{"build":\#(number)}"#) } == nil) == accepted)
    }

    @Test("nesting", .rules("LIM-13"), arguments: [(16, true), (17, false), (100_000, false)])
    func judgesNesting(_ depth: Int, _ accepted: Bool) {
        let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect((code { () throws(Refusal) in _ = try value(arrays) } == nil) == accepted)
        let objects = String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        #expect((code { () throws(Refusal) in _ = try value(objects) } == nil) == accepted)
    }

    @Test(
        "surrogates", .rules("JSN-5"),
        arguments: [
            (#""\ud83d\ude00""#, true), (#""\ud83d""#, false), (#""\ude00""#, false), (#""\ud83d\u0041""#, false),
            (#""\ud83dA""#, false),
            (#""\ud83dude00""#, false), (#""\ud83d\de00""#, false), (#""\ude00\ud83d""#, false),
            (#""\uD83D\uDE00""#, true), (#""\u00e""#, false),
            (#""\x41""#, false),
        ]) func judgesSurrogates(_ text: String, _ accepted: Bool)
    {
        #expect((code { () throws(Refusal) in _ = try value(text) } == nil) == accepted)
    }

    @Test("a byte-order mark and other encodings", .rules("JSN-1")) func refusesOtherEncodings() {
        for bytes: [UInt8] in [
            [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xFF, 0xFE, 0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D],
            [0x22, 0xC0, 0xAF, 0x22],
            [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
            [0x22, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x41, 0x22], [0x22, 0xF0, 0x9F, 0x98, 0x41, 0x22],
        ] {
            let code = code { () throws(Refusal) in
                _ = try JSONReader.read(bytes, subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
                    try reader.value(numbers: .any)
                }
            }
            #expect(code == .malformed, "\(bytes)")
        }
    }

    @Test("what is written reads back equal", .rules("SUM-15")) func roundTrips() throws {
        let text = #"{"a":[1,-2,true,null,"é\n\u0001\"\\/"],"b":{"z":{},"y":[]},"A":false}"#
        let tree = try value(text)
        #expect(try value(String(decoding: tree.serialized, as: UTF8.self)) == tree)
        #expect(String(decoding: tree.serialized, as: UTF8.self).hasPrefix(#"{"A":false,"a":["#))
    }

    @Test("a tree that is too large is refused while it is read", .rules("LIM-20"))
    func boundsATree() throws {
        func tree(_ text: String) throws(Refusal) -> JSONObject {
            try JSONReader.read(Array(text.utf8), subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .integers, compactMax: 20)
            }
        }
        for text in [
            #"{"aaaaaaaaaaaaaa":{}}"#, #"{"a":"bbbbbbbbbbb"}"#, #"{"a":[1,2,3,4,5,6]}"#, #"{ "a" : 0 , "b" : 0 }"#,
        ] {
            #expect(code { () throws(Refusal) in _ = try tree(text) } == nil, "\(text)")
        }
        // Nothing behind the limit is looked at: these do not even end.
        let many = (0..<30).map { "\"\($0)\":0" }.joined(separator: ",")
        for text in [
            #"{"aaaaaaaaaaaaaaaaaaaaa":"#, #"{"a":"bbbbbbbbbbbbbbbbbbbbb""#, "{\(many)",
            #"{"a":[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,"#,
        ] {
            do throws(Refusal) {
                _ = try tree(text)
                Issue.record("accepted: \(text)")
            } catch {
                #expect(error.message.contains("larger than allowed"), "\(text)")
            }
        }
    }

    @Test("what is skipped is judged all the same", .rules("JSN-2", "JSN-3", "JSN-6"))
    func judgesWhatItSkips() {
        func skip(_ text: String) -> RefusalCode? {
            code { () throws(Refusal) in
                try JSONReader.read(Array(text.utf8), subject: "the test") {
                    (reader: inout JSONReader) throws(Refusal) in try reader.skip(numbers: .any)
                }
            }
        }
        for text in [#"{"a":[1,{"b":"\u00e9"}],"c":1.5e3}"#, "[]", "null", #""x""#] { #expect(skip(text) == nil) }
        for text in [#"{"a":{"b":1,"b":2}}"#, "[1,]", "[01]", #"{"a":"\ud800"}"#, "nul", "", "[1] 2"] {
            #expect(skip(text) == .malformed, "\(text)")
        }
    }

    @Test(
        "equality is by type and value", .rules("SUM-15"),
        arguments: [
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, true), ("[1,2]", "[2,1]", false), ("1", "true", false),
            (#""1""#, "1", false),
            (#"{"a":null}"#, "{}", false), (#""é""#, "\"e\u{301}\"", false), ("0", "false", false),
        ]) func compares(_ left: String, _ right: String, _ equal: Bool) throws
    {
        #expect((try value(left) == (try value(right))) == equal)
    }
}
