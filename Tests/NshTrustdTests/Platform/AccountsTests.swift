import NshTrust
import Testing

@testable import NshTrustd

/// Users and groups by name.
struct AccountsTests {
    @Test
    func findsNamesAndTakesNumbers() throws {
        #expect(try Accounts.user("root") == 0)
        #expect(try Accounts.group("root") == 0)
        #expect(try Accounts.user("daemon") == 1)
        #expect(try Accounts.user("4711") == 4711)
        #expect(try Accounts.group("4711") == 4711)
    }

    @Test(arguments: ["", "no-such-account", "4294967295", "99999999999", "-1", "a\0b", "65534"])
    func refusesTheOthers(_ name: String) {
        #expect(throws: Trouble.self) { try Accounts.user(name) }
        #expect(throws: Trouble.self) { try Accounts.group(name) }
    }
}
