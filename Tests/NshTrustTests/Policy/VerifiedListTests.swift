import TestSupport
import Testing

@testable import NshTrust

@Suite("Revocation lists, judged")
struct VerifiedListTests {
    private let now = PackageBuilder.now

    private func list(_ sequence: Int64, _ edit: (inout RevocationList) -> Void = { _ in }) -> [UInt8] {
        var list = RevocationList(issuer: TestKey.root.publicKey.hash, sequence: sequence, issuedAt: now)
        edit(&list)
        return Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
    }

    private func verified(
        _ bytes: [UInt8], state: any TrustState = EmptyTrustState(), policy: Policy = Policy()
    ) throws -> VerifiedList {
        try VerifiedList.verifying(bytes, roots: [TestKey.root.publicKey], state: state, policy: policy)
    }

    @Test("a store used with more roots judges no list with fewer", .rules("STO-3")) func keepsTheThreshold() throws {
        var state = FakeState()
        state.threshold = 2
        let error = #expect(throws: Trouble.self) { try verified(list(1), state: state) }
        #expect(error?.code == .storeUnsafe)
        let earlier = try verified(list(1))
        #expect(throws: Trouble.self) { try earlier.judged(against: state, policy: Policy()) }
        var policy = Policy()
        policy.rootThreshold = 2
        #expect(try verified(list(1), state: state, policy: policy).list.sequence == 1)
    }

    @Test("given lists that contradict each other or the one in force", .rules("REV-7", "REV-21"))
    func refusesContradictions() throws {
        let first = try verified(list(3))
        let other = try verified(list(3) { $0.keys = [SHA256.hash([1])] })
        var state = FakeState()
        #expect(try refusalCode { try ListOverlay([first, other], over: state, clock: now) } == .revocationsConflict)
        #expect(try refusalCode { try ListOverlay([first, first], over: state, clock: now) } == nil)
        state.lists = [first.summary]
        #expect(try refusalCode { try ListOverlay([other], over: state, clock: now) } == .revocationsConflict)
        #expect(try refusalCode { try ListOverlay([first], over: state, clock: now) } == nil)
        #expect(try refusalCode { try ListOverlay([verified(list(2))], over: state, clock: now) } == nil)
        state.withdrawn[TestKey.root.publicKey.hash] = first.reference
        let withdrawn = try verified(list(4), state: state)
        #expect(try refusalCode { try ListOverlay([withdrawn], over: state, clock: now) } == .rootWithdrawn)
    }
}
