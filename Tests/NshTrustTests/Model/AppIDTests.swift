import TestSupport
import Testing

@testable import NshTrust

@Suite("App ids and patterns")
struct AppIDTests {
    static let segment63 = String(repeating: "a", count: 63)
    static let id255 = [segment63, segment63, segment63, segment63].joined(separator: ".")

    @Test(
        "ids by the grammar", .rules("APP-1", "LIM-19"),
        arguments: [
            "a.b", "com.example.orders", "A.b-c", "_.0", "a.\(segment63)", id255,
        ]) func acceptsID(_ text: String)
    { #expect(AppID(text)?.text == text) }

    @Test(
        "ids outside the grammar", .rules("APP-1", "LIM-19"),
        arguments: [
            "", "a", ".a", "a.", "a..b", "a.-b", "-a.b", "a/b.c", "..", "a.b/..", "a.b ", "é.b", "a.b\u{0}", "a.ｂ",
            "a.b.*", "*",
            "a.\(segment63)a", "a." + id255,
        ]) func refusesID(_ text: String)
    { #expect(AppID(text) == nil) }

    @Test(
        "what a pattern covers", .rules("APP-3", "APP-4", "APP-5"),
        arguments: [
            ("com.example.*", "com.example", false), ("com.example.*", "com.examplefoo.a", false),
            ("com.example.*", "com.example.a", true), ("com.example.*", "com.example.a.b", true),
            ("com.example.*", "COM.EXAMPLE.a", false), ("com.example.*", "xcom.example.a", false),
            ("com.*", "com.example", true), ("*", "a.b", true), ("com.example.a", "com.example.a", true),
            ("com.example.a", "com.example.a.b", false), ("com.example.a", "com.example.A", false),
            ("com.example.*", "evil.com.example.app", false),
        ]) func covers(_ pattern: String, _ id: String, _ expected: Bool) throws
    {
        let one = try #require(AppPattern(pattern))
        #expect(one.covers(try #require(AppID(id))) == expected)
        #expect(one.description == pattern)
    }

    @Test(
        "unsupported patterns", .rules("APP-2"),
        arguments: [
            "", ".*", "**", "*.*", "com.*.x", "[!a].b", "{a,b}.c", "com.example*", "com.example.", "com..*", "com",
            "*.example.com",
            "com.example.**", segment63 + "a.*",
        ]) func refusesPattern(_ text: String)
    { #expect(AppPattern(text) == nil) }
}
