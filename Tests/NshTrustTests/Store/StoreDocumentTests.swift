import TestSupport
import Testing

@testable import NshTrust

@Suite struct StoreDocumentTests {
    @Test func carriesFloorsListsAndThresholdToANewMachine() throws {
        let (old, new) = (try StoreFixture(), try StoreFixture())
        let package = try old.record(build: 6, at: 100)
        try old.record(build: 2, app: "com.example.other")
        try old.apply(sequence: 4) { $0.keys = [SHA256.hash([1])] }
        try old.store.commit { try $0.raiseThreshold(to: 2) }
        let bytes = try old.store.read { try StoreDocument(of: $0).serialized }
        let document = try StoreDocument(parsing: bytes)
        for list in document.lists { _ = try new.apply(list) }
        try new.store.commit { try document.raiseFloors(in: $0) { _ in StoreFixture.event(.buildImported) } }
        try new.store.read { (snapshot) throws in
            #expect(try StoreDocument(of: snapshot) == document)
            #expect(try snapshot.acceptedBuild(of: package.app.id)?.acceptedAt == 100)
            #expect(try snapshot.revocations(ofKey: SHA256.hash([1])).count == 1)
            #expect(try snapshot.greatestThreshold() == 2)
            #expect(
                try snapshot.events(after: 0, limit: 9).events.filter { $0.event.kind == .buildImported }.count == 2)
        }
    }

    @Test(.rules("REV-8"), arguments: [(TestKey.root, TestKey.secondRoot), (.secondRoot, .root)])
    func listsOfAWithdrawnRootComeBeforeTheWithdrawal(withdrawn: TestKey, other: TestKey) throws {
        let (old, new) = (try StoreFixture(), try StoreFixture())
        try old.apply(by: withdrawn) { $0.keys = [SHA256.hash([1])] }
        try old.apply(by: other) { $0.keys = [withdrawn.publicKey.hash] }
        for list in try old.store.read({ try StoreDocument(of: $0).lists }) { _ = try new.apply(list) }
        try new.store.read { (snapshot) throws in
            #expect(try snapshot.revocations(ofKey: SHA256.hash([1])).count == 1)
            #expect(try snapshot.withdrawals(ofRoot: withdrawn.publicKey.hash).count == 1)
        }
    }

    @Test(.rules("STO-8")) func importNeverLowersAFloor() throws {
        let fixture = try StoreFixture()
        let package = try fixture.record(build: 6)
        for build in [5, 6] as [Int64] {
            let document = StoreDocument(
                builds: [
                    AcceptedBuild(
                        app: package.app.id, build: build, publisher: PackageBuilder.text("Mallory"), identity: nil,
                        digest: nil, acceptedAt: 0)
                ], lists: [], rootThreshold: 1)
            try fixture.store.commit { try document.raiseFloors(in: $0) { _ in StoreFixture.event(.buildImported) } }
            let accepted = try fixture.store.read { try $0.acceptedBuild(of: package.app.id) }
            #expect(accepted?.build == 6 && accepted?.publisher.text == "Example Ltd" && accepted?.identity != nil)
        }
    }

    @Test func emptyStoreHasAnEmptyDocument() throws {
        let fixture = try StoreFixture()
        let bytes = try fixture.store.read { try StoreDocument(of: $0).serialized }
        let expected = #"{"apps":[],"format":"nsh-store-export-1","lists":[],"rootThreshold":1}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        "", "{}", #"{"apps":[],"format":"nsh-store-export-2","lists":[],"rootThreshold":1}"#,
        #"{"apps":[],"format":"nsh-store-export-1","lists":[],"rootThreshold":0}"#,
        #"{"apps":[],"format":"nsh-store-export-1","lists":[],"rootThreshold":17}"#,
        #"{"apps":[],"format":"nsh-store-export-1","lists":["?"],"rootThreshold":1}"#,
        #"{"apps":[{"acceptedAt":1,"app":"x","build":1,"publisher":"P"}],"format":"nsh-store-export-1","lists":[],"rootThreshold":1}"#,
        #"{"apps":[{"acceptedAt":1,"app":"a.b","build":-1,"publisher":"P"}],"format":"nsh-store-export-1","lists":[],"rootThreshold":1}"#,
        #"{"apps":[{"acceptedAt":1,"app":"a.b","build":1,"publisher":"P"},{"acceptedAt":1,"app":"a.b","build":1,"publisher":"P"}],"format":"nsh-store-export-1","lists":[],"rootThreshold":1}"#,
    ])
    func refusesWhatIsNoExport(text: String) {
        #expect(code { _ = try StoreDocument(parsing: Array(text.utf8)) } == "malformed")
    }
}
