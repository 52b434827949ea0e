import TestSupport
import Testing

@testable import NshTrust

@Suite("Sets of prefixes")
struct PrefixSetTests {
    private func set(of digests: some Sequence<Digest>, capacity: Int = 0) throws -> PrefixSet {
        var set = PrefixSet(capacity: capacity)
        for digest in digests.sorted() {
            let isAdded = set.append(digest.prefix)
            try #require(isAdded)
        }
        return set
    }

    /// A digest; of few beginnings, it begins as many others do, with bytes that lie close together.
    private func digest(_ number: Int, beginnings: Int?) -> Digest {
        let hash = SHA256.hash(Array("\(number)".utf8))
        guard let beginnings else { return hash }
        let beginning = SHA256.hash([UInt8(number % beginnings)]).bytes[..<2]
        return Digest([UInt8](repeating: 0, count: 6) + beginning + hash.bytes[..<24])!
    }

    @Test(
        "what is in it may always be, and what begins like nothing in it never is",
        arguments: [1, 3, 100, 256, nil], [0, 16, 500, 100_000])
    func agreesWithASetOfTheStandardLibrary(_ beginnings: Int?, _ capacity: Int) throws {
        for count in [0, 1, 2, 3, 7, 64, 500, 2000] {
            let digests = (0..<count).map { digest($0, beginnings: beginnings) }
            let set = try set(of: digests, capacity: capacity)
            let expected = Set(digests.map(\.prefix))
            #expect(expected.allSatisfy(set.mayContain))
            let others = expected.flatMap { [$0 &- 1, $0 &+ 1, $0 ^ 1 << 63] } + [0, .max]
            #expect(others.allSatisfy { set.mayContain($0) == expected.contains($0) })
        }
    }

    @Test func aValueThatOnlyBeginsLikeOneOfThemMayBeOne() throws {
        let bytes = SHA256.hash([1]).bytes
        let other = Digest(bytes[..<8] + SHA256.hash([2]).bytes[8...])!
        #expect(try set(of: [Digest(bytes)!]).mayContain(other.prefix))
    }

    @Test func valuesOutOfOrderAreRefused() {
        var set = PrefixSet(capacity: 3)
        let added = [5, 5, 9, 8, 9].map { set.append($0) }
        #expect(added == [true, true, true, false, true])
        #expect([5, 8, 9].map(set.mayContain) == [true, false, true])
    }
}
