import TestSupport
import Testing

@testable import NshTrust

@Suite("Sets in rising order")
struct SortedSetTests {
    /// Numbers in an order that looks like none, each once.
    private func shuffled(_ count: Int) -> [Int] { (0..<count).map { ($0 &* 7919 &+ 13) % count } }

    @Test(.rules("JSN-9"), arguments: [0, 1, 2, 4096, 4097, 20_011])
    func ordersDifferentValuesAndFindsEach(_ count: Int) throws {
        let set = try #require(SortedSet(distinct: shuffled(count)))
        #expect(Array(set) == Array(0..<count))
        #expect(set.allSatisfy { set.contains($0) })
        #expect(!set.contains(-1) && !set.contains(count))
    }

    @Test(.rules("JSN-9"), arguments: [2, 4096, 20_011]) func refusesAValueThatStandsTwiceWhereverItStands(_ count: Int)
    {
        for place in [0, count / 2, count - 1] {
            var values = shuffled(count)
            values[place] = values[(place + 1) % count]
            #expect(SortedSet(distinct: values) == nil)
        }
        #expect(SortedSet(distinct: [Int](repeating: 7, count: count)) == nil)
        #expect(SortedSet(distinct: (0..<count).reversed()).map(Array.init) == Array(0..<count))
    }

    @Test func unitesAndRemovesLikeASetOfTheStandardLibrary() {
        let (left, right) = ([9, 1, 4, 7], [4, 8, 0, 9, 12])
        var set = SortedSet(left)
        set.formUnion(SortedSet(right))
        #expect(Array(set) == Set(left).union(right).sorted())
        #expect(set.remove(8) && !set.remove(8) && !set.contains(8))
        #expect(set == [0, 1, 4, 7, 9, 12, 12])
    }
}
