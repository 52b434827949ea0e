import TestSupport
import Testing

@testable import NshTrust

@Suite struct StoreListTests {
    let fixture: StoreFixture
    let root = TestKey.root.publicKey.hash
    let second = TestKey.secondRoot.publicKey.hash
    init() throws { fixture = try StoreFixture() }

    private func digest(_ byte: UInt8) -> Digest { SHA256.hash([byte]) }

    @Test(.rules("REV-6", "REV-8")) func newerListTakesThePlaceOfTheOlder() throws {
        let orders = try #require(AppID("com.example.orders"))
        try fixture.apply(sequence: 1) {
            $0.keys = [digest(1), digest(2)]; $0.minimumBuilds[orders] = 40
        }
        try fixture.apply(sequence: 3) { $0.keys = [digest(2), digest(3)] }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.revocations(ofKey: digest(1)).isEmpty)
            #expect(try snapshot.revocations(ofKey: digest(2)) == [ListReference(issuer: root, sequence: 3)])
            #expect(try snapshot.minimumBuilds(of: orders).isEmpty)
            #expect(try snapshot.listsInForce().map(\.list.sequence) == [3])
            #expect(try snapshot.storedLists().count == 1)
        }
    }

    @Test(.rules("REV-7")) func sameListAgainChangesNothing() throws {
        try fixture.apply(sequence: 2) { $0.keys = [digest(1)] }
        #expect(try fixture.apply(sequence: 2) { $0.keys = [digest(1)] } == .unchanged)
        #expect(try fixture.store.read { try $0.events(after: 0, limit: 9).events.count } == 1)
    }

    @Test(.rules("REV-6")) func everyIssuerCountsForItself() throws {
        try fixture.apply(by: .root, sequence: 9) { $0.packages = [digest(1)] }
        try fixture.apply(by: .secondRoot, sequence: 1) { $0.packages = [digest(1), digest(2)] }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.revocations(ofPackage: digest(1)).count == 2)
            #expect(try snapshot.revocations(ofPackage: digest(2)) == [ListReference(issuer: second, sequence: 1)])
            #expect(try snapshot.listsInForce().count == 2)
        }
        try fixture.apply(by: .root, sequence: 10)
        #expect(try fixture.store.read { try $0.revocations(ofPackage: digest(2)).count } == 1)
    }

    @Test(.rules("REV-10")) func withdrawalIsAddedToTheListInForce() throws {
        let orders = try #require(AppID("com.example.orders"))
        try fixture.apply(sequence: 7) {
            $0.keys = [digest(1)]; $0.minimumBuilds[orders] = 5
        }
        #expect(
            try fixture.apply(sequence: 1) {
                $0.revokesIssuer = true; $0.keys = [digest(2)]
            } == .unites)
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.withdrawals(ofRoot: root).map(\.sequence) == [1])
            #expect(try snapshot.revocations(ofKey: digest(1)).map(\.sequence) == [7])
            #expect(try snapshot.revocations(ofKey: digest(2)).map(\.sequence) == [1])
            #expect(try snapshot.minimumBuilds(of: orders).map(\.build) == [5])
            #expect(try snapshot.listsInForce().map(\.list.sequence) == [1])
            #expect(try snapshot.storedLists().count == 2)
        }
        #expect(code { try fixture.apply(sequence: 8) } == "rootWithdrawn")
    }

    @Test(.rules("REV-9")) func namingARootsHashWithdrawsIt() throws {
        try fixture.apply(by: .secondRoot) { $0.keys = [root] }
        #expect(
            try fixture.store.read { try $0.withdrawals(ofRoot: root) } == [ListReference(issuer: second, sequence: 1)])
    }

    @Test(.rules("REV-13")) func certificateEntriesAreFound() throws {
        let serial = PackageBuilder.serial(7)
        try fixture.apply { $0.certificates = [serial] }
        #expect(try fixture.store.read { try $0.revocations(ofCertificate: serial).count } == 1)
        #expect(try fixture.store.read { try $0.revocations(ofCertificate: PackageBuilder.serial(8)).isEmpty })
    }

    @Test(.rules("REV-13"), arguments: [0, 1, 63, 64, 65, 127, 128, 193])
    func everyEntryOfAListIsStoredHoweverManyThereAre(_ count: Int) throws {
        let digests = (0..<count).map { SHA256.hash([UInt8($0)]) }
        let serials = (0..<count).map { PackageBuilder.serial(UInt8($0)) }
        try fixture.apply {
            ($0.keys, $0.packages) = (SortedSet(digests), SortedSet(digests.reversed()))
            $0.certificates = SortedSet(serials)
        }
        try fixture.store.read { (snapshot) throws in
            let expected = [ListReference(issuer: root, sequence: 1)]
            for (digest, serial) in zip(digests, serials) {
                #expect(try snapshot.revocations(ofKey: digest) == expected)
                #expect(try snapshot.revocations(ofPackage: digest) == expected)
                #expect(try snapshot.revocations(ofCertificate: serial) == expected)
            }
            #expect(try snapshot.revocations(ofKey: SHA256.hash([UInt8(count)])).isEmpty)
        }
        #expect(try fixture.store.problems().isEmpty)
        let stored = try fixture.store.inspect {
            try $0.integer("SELECT count(*) FROM list_entries WHERE value IS NULL")
        }
        #expect(stored == Int64(3 * count))
    }

    @Test(.rules("REV-15")) func ceilingLowersRecordedBuildToItsNumberWithNoContent() throws {
        let orders = try fixture.record(build: (1 << 53) - 1).app.id
        try fixture.record(build: 4, app: "com.example.other")
        try fixture.apply { $0.maximumBuilds[orders] = 6 }
        try fixture.store.read { (snapshot) throws in
            let accepted = try snapshot.acceptedBuild(of: orders)
            #expect(accepted?.build == 6 && accepted?.identity == nil && accepted?.digest == nil)
            #expect(accepted?.publisher.text == "Example Ltd")
            #expect(try snapshot.maximumBuilds(of: orders).map(\.build) == [6])
        }
        try fixture.record(build: 6)
        #expect(try fixture.store.read { try $0.acceptedBuild(of: orders)?.identity } != nil)
    }

    @Test(.rules("REV-16")) func transfersAreFound() throws {
        let orders = try #require(AppID("com.example.orders"))
        try fixture.apply { $0.transfers[orders] = PackageBuilder.text("Käufer GmbH") }
        #expect(try fixture.store.read { try $0.transfers(of: orders).map(\.publisher.text) } == ["Käufer GmbH"])
    }

    @Test(
        .rules("POL-15"),
        arguments: [
            (issuedAt: Int64(100), clock: Int64(200), floor: Int64(100)), (issuedAt: 300, clock: 200, floor: 200),
        ])
    func listMovesTheTimeFloorToTheEarlierOfItsTimeAndTheClock(issuedAt: Int64, clock: Int64, floor: Int64) throws {
        try fixture.apply(sequence: 1, issuedAt: issuedAt, clock: clock)
        #expect(try fixture.store.read { try $0.timeFloor() } == floor)
        try fixture.apply(sequence: 2, issuedAt: 50, clock: 400)
        #expect(try fixture.store.read { try $0.timeFloor() } == floor)
    }

    @Test(.rules("STO-2")) func keepsEnvelopesByteForByte() throws {
        var list = RevocationList(issuer: root, sequence: 1, issuedAt: StoreFixture.now)
        list.keys = [digest(1)]
        let envelope = Array(" \n".utf8) + Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
        #expect(try fixture.apply(envelope) == .replaces)
        let stored = try fixture.store.read { try $0.storedLists() }
        let envelopes = try fixture.store.read { snapshot in
            try stored.map { try snapshot.envelope(ofList: $0.number) }
        }
        #expect(envelopes == [envelope])
        #expect(stored.first?.entryCounts["keys"] == 1)
    }

    @Test(.rules("STO-12")) func forgettingARootsListsIsLogged() throws {
        try fixture.apply {
            $0.revokesIssuer = true; $0.keys = [digest(1)]
        }
        let forgot = try fixture.store.commit {
            try $0.forgetLists(of: root, event: StoreFixture.event(.rootForgotten))
        }
        #expect(forgot)
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.withdrawals(ofRoot: root).isEmpty)
            #expect(try snapshot.revocations(ofKey: digest(1)).isEmpty)
            #expect(try snapshot.events(after: 0, limit: 9).events.map(\.event.kind) == [.revocations, .rootForgotten])
            #expect(try snapshot.timeFloor() > 0)
        }
        #expect(try !fixture.store.commit { try $0.forgetLists(of: root, event: StoreFixture.event(.rootForgotten)) })
    }

    @Test(.rules("STO-15")) func listWhoseApplicationFailsLeavesNoEntry() throws {
        struct Stop: Error {}
        try fixture.apply(sequence: 1) { $0.keys = [digest(1)] }
        #expect(throws: Stop.self) {
            try fixture.store.commit { transaction in
                var list = RevocationList(issuer: root, sequence: 2, issuedAt: StoreFixture.now)
                list.keys = SortedSet((0..<200).map { digest($0) })
                let envelope = Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
                let verified = try VerifiedList.verifying(
                    envelope, roots: [TestKey.root.publicKey], state: transaction, policy: Policy())
                try transaction.apply(
                    verified, succession: .replaces, clock: 0, event: StoreFixture.event(.revocations))
                throw Stop()
            }
        }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.listsInForce().map(\.list.sequence) == [1])
            #expect(try snapshot.revocations(ofKey: digest(1)).map(\.sequence) == [1])
            #expect(try snapshot.revocations(ofKey: digest(9)).isEmpty)
        }
    }

    @Test(.attack("I13", "C21")) func appliesAndReplacesTwentyThousandKeys() throws {
        let keys = (0..<20_000).map { (number: Int) -> Digest in
            SHA256.hash(withUnsafeBytes(of: number) { Array($0) })
        }
        try fixture.apply(sequence: 1) { $0.keys = SortedSet(keys) }
        #expect(try fixture.store.read { try $0.revocations(ofKey: keys[12_345]).count } == 1)
        try fixture.apply(sequence: 2) { $0.keys = SortedSet(keys.dropFirst()) }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.revocations(ofKey: keys[0]).isEmpty)
            #expect(try snapshot.revocations(ofKey: keys[1]).map(\.sequence) == [2])
        }
    }
}
