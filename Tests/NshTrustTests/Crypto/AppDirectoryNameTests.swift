import TestSupport
import Testing

@testable import NshTrust

@Suite struct AppDirectoryNameTests {
    private func name(_ id: String) throws -> String { try #require(AppID(id)).directoryName }

    @Test(
        .rules("APP-6"),
        arguments: [
            ("com.example.orders", "com.example.orders"), ("com.Example.ORDERS", "com.!example.!o!r!d!e!r!s"),
            ("a-b.c_d.0", "a-b.c_d.0"), ("CON.x", "!c!o!n.x"),
        ])
    func keepsLowerCaseAndMarksUpperCase(id: String, expected: String) throws {
        #expect(try name(id) == expected)
    }

    @Test(.rules("APP-7"), arguments: ["con.x", "prn.a.b", "aux.x", "nul.x", "com1.x", "com0.x", "lpt9.x"])
    func hashesWhatWindowsReserves(id: String) throws {
        #expect(try name(id) == id + "!!" + SHA256.hash(Array(id.utf8)).hex)
    }

    @Test(.rules("APP-7"), arguments: ["con1.x", "co.x", "com.x", "comx.x", "x.con", "lpt10.x", "console.x"])
    func leavesWhatOnlyLooksReserved(id: String) throws {
        #expect(try name(id) == id)
    }

    @Test(.rules("APP-7")) func hashesWhatIsLongerThanTwoHundredBytes() throws {
        let segment = String(repeating: "a", count: 49) + "."
        let fits = String(repeating: segment, count: 3) + String(repeating: "b", count: 50)
        #expect(fits.utf8.count == 200)
        #expect(try name(fits) == fits)
        let long = fits + "c"
        #expect(try name(long) == long.prefix(100) + "!!" + SHA256.hash(Array(long.utf8)).hex)
        let grows = String(fits.dropLast()) + "B"
        #expect(try name(grows) == grows.prefix(100) + "!!" + SHA256.hash(Array(grows.utf8)).hex)
    }
}
