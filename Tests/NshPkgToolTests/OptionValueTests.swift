import NshCommandLine
import NshTrust
import Testing

@testable import NshPkgTool

@Suite("Values of options")
struct OptionValueTests {
    @Test(
        arguments: [("0", 0), ("1796000000", 1_796_000_000), ("2026-11-03T10:00:00Z", 1_793_700_000)]
            as [(String, Int64)])
    func readsTimes(_ row: (String, Int64)) throws { #expect(try OptionValue.time(row.0, "at") == row.1) }

    @Test(arguments: [
        "", "-1", "+1", "1.0", "now", "2026-11-03", "2026-11-03T10:00:00", "2026-02-30T00:00:00Z", "99999999999999999",
    ])
    func refusesOtherTimes(_ text: String) {
        #expect(throws: UsageError.self) { try OptionValue.time(text, "at") }
    }

    @Test(
        arguments: [("0", 0), ("90", 90), ("90s", 90), ("2m", 120), ("12h", 43_200), ("7d", 604_800)]
            as [(String, Int64)])
    func readsDurations(_ row: (String, Int64)) throws { #expect(try OptionValue.duration(row.0, "age") == row.1) }

    @Test(arguments: ["", "d", "-1d", "1w", "1.5h", "1dd", "9999999999999999d"])
    func refusesOtherDurations(_ text: String) {
        #expect(throws: UsageError.self) { try OptionValue.duration(text, "age") }
    }

    @Test func readsNumbersWithinTheirRangeOnly() throws {
        #expect(try OptionValue.integer("16", "n", in: 1...16) == 16)
        #expect(
            try OptionValue.integer("9007199254740991", "n", in: 0...JSONReader.maximumInteger)
                == JSONReader.maximumInteger)
        for text in ["0", "17", "", " 1", "1 ", "0x1", "+1", "-1", "1e1", "９"] {
            #expect(throws: UsageError.self) { try OptionValue.integer(text, "n", in: 1...16) }
        }
    }

    @Test func splitsPairsAtTheFirstEqualsSign() throws {
        #expect(try OptionValue.pair("a=b=c", "x", "A=B") == ("a", "b=c"))
        for text in ["a", "=b", "a=", "="] {
            #expect(throws: UsageError.self) { try OptionValue.pair(text, "x", "A=B") }
        }
    }

    @Test func countsAnEmptyVariableAsMissing() {
        let environment = Environment(variables: ["A": "", "B": "b"])
        #expect(environment["A"] == nil && environment["B"] == "b" && environment["C"] == nil)
    }

    @Test(
        arguments: [
            (["XDG_CONFIG_HOME": "/x"], "/x/nsh-trust/roots.d"), (["HOME": "/h"], "/h/.config/nsh-trust/roots.d"),
            (["XDG_CONFIG_HOME": "relative", "HOME": "/h"], "/h/.config/nsh-trust/roots.d"), ([:], nil),
        ] as [([String: String], String?)])
    func findsTheUsersRoots(_ row: ([String: String], String?)) {
        #expect(RootLookup.userDirectory(Environment(variables: row.0)) == row.1)
    }
}
