import TestSupport
import Testing

@testable import NshTrust

@Suite("Pinned roots")
struct PinnedRootsTests {
    /// The neutral element: everybody can sign by it.
    private let weak = PublicKey([1] + [UInt8](repeating: 0, count: 31))

    @Test("a key that anybody could sign by is no root", .rules("KEY-2")) func refusesWeakKeys() throws {
        let weak = try #require(weak)
        #expect(try refusalCode { try PinnedRoots.root(weak) } == .malformed)
        #expect(try refusalCode { try PinnedRoots.key(fromFile: Array(weak.base64.utf8)) } == .malformed)
    }

    @Test("so many roots and no more", .rules("LIM-7")) func countsEachOnce() throws {
        var roots = PinnedRoots(limit: 1)
        try roots.add(PinnedRoots.root(TestKey.root.publicKey))
        try roots.add(PinnedRoots.root(TestKey.root.publicKey))
        #expect(try refusalCode { try roots.add(PinnedRoots.root(TestKey.secondRoot.publicKey)) } == .limitExceeded)
        #expect(roots.keys == [TestKey.root.publicKey])
    }
}
