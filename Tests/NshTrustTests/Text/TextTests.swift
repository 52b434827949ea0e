import TestSupport
import Testing

@testable import NshTrust

@Suite("Text")
struct TextTests {
    @Test("base64 round trip of every length", .rules("ENV-3"), arguments: 0...66)
    func roundTrips(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
        let text = Base64.encode(bytes)
        #expect(Base64.decode(Array(text.utf8)) == bytes)
        #expect(text.utf8.count == (count + 2) / 3 * 4)
    }

    @Test(
        "other spellings of base64", .rules("ENV-3"),
        arguments: [
            "AR==", "AAB=", "A", "AA", "AAA", "AA=A", "A===", "====", "AAAA=", "AA==AAAA", "AAA\n", " AAA", "A-A_",
            "AAÄ=", "AA=",
        ]) func refusesOtherSpellings(_ text: String)
    { #expect(Base64.decode(Array(text.utf8)) == nil) }

    @Test(
        "hex is lower-case and of the stated length", .rules("JSN-10"),
        arguments: [
            ("00ff", true), ("00FF", false), ("00f", false), ("00ff00", false), ("0x0f", false), (" 0ff", false),
            ("٠٠ff", false),
        ]) func readsHex(_ text: String, _ accepted: Bool)
    {
        #expect((Hex.decode(text.utf8, count: 2) != nil) == accepted)
    }

    @Test("hex digits read at once are those read one by one, whatever byte stands where", .rules("JSN-10"))
    func readsSixteenDigitsAtOnce() {
        let digits = Array("0123456789abcdef".utf8)
        for place in 0..<16 {
            for byte in UInt8.min...UInt8.max {
                var text = [UInt8](repeating: 0x7B, count: 3) + digits.shuffled()
                text[3 + place] = byte
                let slow = Hex.decode(text[3...], count: 8)?.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                #expect(text.withUnsafeBytes { Hex.word($0, at: 3) } == slow)
            }
        }
    }

    @Test(
        "times",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_762_164_000, "2025-11-03T10:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ]) func convertsTimes(_ seconds: Int64, _ text: String)
    {
        #expect(Timestamp.text(seconds) == text)
        #expect(Timestamp.seconds(from: text) == seconds)
        #expect(Timestamp.seconds(from: "\(seconds)") == seconds)
    }

    @Test(
        "texts that are no time",
        arguments: [
            "", "-1", "1.5", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+01:00", "1969-12-31T23:59:59Z",
            "9007199254740992",
        ]) func refusesOtherTimes(_ text: String)
    { #expect(Timestamp.seconds(from: text) == nil) }

    @Test("every day of 400 years comes back") func convertsEveryDay() {
        for day in stride(from: Int64(0), to: 146_097, by: 1) {
            let seconds = day * 86_400 + 3661
            #expect(Timestamp.seconds(from: Timestamp.text(seconds)) == seconds)
        }
    }

    @Test(
        "what may stand in a text for people", .rules("TXT-1", "TXT-2", "TXT-3", "TXT-4", "LIM-16"),
        arguments: [
            ("Orders", true), ("", false), ("注文", true), ("a\u{200D}b", true), ("a\u{200C}b", true),
            ("a\u{200B}b", false),
            ("a\u{202E}b", false), ("a\nb", false), ("a\u{1B}[31m", false), ("a\u{0}b", false), ("\u{E000}", false),
            ("\u{2028}", false), ("\u{0378}", false), ("\u{1FAE8}", true), ("\u{1FAE9}", false), ("\u{FEFF}a", false),
            (String(repeating: "x", count: 255), true), (String(repeating: "x", count: 256), false),
            (String(repeating: "é", count: 128), false),
        ]) func judgesText(_ text: String, _ accepted: Bool)
    { #expect((DisplayText(text) != nil) == accepted) }

    @Test("texts are compared as bytes", .rules("JSN-8")) func tellsNormalisationFormsApart() {
        #expect("é" == "e\u{301}")
        #expect(DisplayText("é") != DisplayText("e\u{301}"))
    }

    @Test("hostile text is harmless on a terminal") func escapes() {
        #expect(Printable.escaped("a\u{1B}[2Jb") == #"a\u{1B}[2Jb"#)
        #expect(Printable.escaped("a\u{202E}b\n") == #"a\u{202E}b\u{A}"#)
        #expect(Printable.escaped(#"\u{1B}"#) == #"\\u{1B}"#)
        #expect(Printable.escaped("abcdef", limit: 3) == "abc…")
        #expect(Printable.escaped(bytes: [0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
    }

    @Test(
        "folding", .rules("PTH-9"),
        arguments: [
            ("Straße", "STRASSE", true), ("ſ", "s", true), ("İ", "i", false), ("K", "k", true), ("é", "É", true),
            ("a", "b", false),
            ("ﬁ", "FI", true), ("Σ", "ς", true),
        ]) func folds(_ left: String, _ right: String, _ equal: Bool)
    {
        #expect((UnicodeTables.folded(left) == UnicodeTables.folded(right)) == equal)
    }
}
