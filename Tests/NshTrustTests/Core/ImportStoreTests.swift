import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Taking over what another store knew.
@Suite("Importing a store", .rules("STO-17"))
struct ImportStoreTests {
    let old: Host
    let new: Host

    init() throws {
        old = try Host()
        new = try Host()
    }

    /// A store with the roots that no list in force withdraws.
    private func core(_ host: Host) throws -> TrustCore {
        var options = NshTrust.Options()
        options.clock = { PackageBuilder.now }
        let core = try TrustCore(directory: host.state.path, options: options)
        try core.replaceRoots(with: [TestKey.root.publicKey, TestKey.secondRoot.publicKey])
        return core
    }

    private func list(of root: TestKey, _ edit: (inout RevocationList) -> Void) -> [UInt8] {
        var list = RevocationList(issuer: root.publicKey.hash, sequence: 1, issuedAt: PackageBuilder.now)
        edit(&list)
        return Envelope.signed(.revocations, list.serialized, by: [root]).serialized
    }

    @Test("twice, where one root withdrew another or itself", arguments: [true, false])
    func repeats(withdrawsItself: Bool) throws {
        let giver = try core(old)
        _ = try giver.open(path: try old.package(build: 5).path)
        _ = try giver.applyRevocations(list(of: .root) { $0.keys = [SHA256.hash([1])] })
        let last =
            withdrawsItself
            ? list(of: .root) { list in
                list.sequence = 2
                list.revokesIssuer = true
            } : list(of: .secondRoot) { $0.keys = [TestKey.root.publicKey.hash] }
        _ = try giver.applyRevocations(last)
        let document = try giver.administration().export()
        let first = try core(new).importStore(document)
        #expect(first == StoreImport(builds: 1, lists: 2, applied: 2))
        for _ in 0..<2 {
            let taker = try core(new)
            #expect(taker.roots == [TestKey.secondRoot.publicKey])
            let again = try taker.importStore(document)
            #expect(again.applied == 0 && again.builds == 1 && again.warnings.count == (withdrawsItself ? 2 : 1))
            #expect(again.warnings[0].hasPrefix("list 1 was passed over: root \(TestKey.root.publicKey.id)"))
            let state = try taker.administration().export()
            #expect(state == document)
        }
    }

    @Test("a list of a root that nobody trusts") func refuses() throws {
        let document = StoreDocument(
            builds: [], lists: [list(of: TestKey(seed: 9)) { _ in }], rootThreshold: 1)
        let refusal = #expect(throws: Refusal.self) { _ = try core(new).importStore(document) }
        #expect(refusal?.code == .untrustedRoot)
    }

    @Test("lists that newer ones have overtaken are noted") func notes() throws {
        let taker = try core(new)
        _ = try taker.applyRevocations(list(of: .root) { $0.sequence = 3 })
        let document = StoreDocument(builds: [], lists: [list(of: .root) { _ in }], rootThreshold: 1)
        let result = try taker.importStore(document)
        #expect(result.applied == 0 && result.warnings.isEmpty && result.notes.count == 1)
    }
}
