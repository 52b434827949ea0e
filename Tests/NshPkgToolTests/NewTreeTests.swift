import TestSupport
import Testing

@testable import NshPkgTool

struct NewTreeTests {
    @Test(
        "a tree is put where its path says, whatever its name begins with",
        arguments: ["tree", "\u{301}tree", "tree//"])
    func place(_ name: String) throws {
        let directory = try TemporaryDirectory()
        try NewTree(at: "\(directory.path)/\(name)").keep()
        let expected = String(name.unicodeScalars.filter { $0 != "/" })
        #expect(try directory.permissions(of: expected) == 0o755)
    }
}
