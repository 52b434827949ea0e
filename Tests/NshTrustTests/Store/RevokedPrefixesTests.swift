import TestSupport
import Testing

@testable import NshTrust

/// What is kept in memory of the lists never hides what they say, in whatever state the store is.
@Suite struct RevokedPrefixesTests {
    let fixture: StoreFixture
    let root = TestKey.root.publicKey.hash
    let second = TestKey.secondRoot.publicKey.hash
    init() throws { fixture = try StoreFixture() }

    private func digest(_ byte: UInt8) -> Digest { SHA256.hash([byte]) }

    /// A digest that begins as another does.
    private func twin(of digest: Digest) -> Digest {
        Digest(digest.bytes[..<8] + SHA256.hash(digest.bytes).bytes[8...])!
    }

    /// The answers of the store to all questions about some digests: by list.
    private func answers(_ fixture: StoreFixture? = nil) throws -> [[ListReference]] {
        try (fixture ?? self.fixture).store.read { (snapshot) throws in try Self.answers(of: snapshot) }
    }

    private static func answers(of snapshot: any StoreSnapshot) throws -> [[ListReference]] {
        try (UInt8(0)..<12).flatMap { byte in
            [
                try snapshot.revocations(ofKey: SHA256.hash([byte])),
                try snapshot.revocations(ofPackage: SHA256.hash([byte])),
                try snapshot.revocations(ofCertificate: PackageBuilder.serial(byte)),
            ]
        }
    }

    /// The answers by SQLite alone: those inside a transaction that changes nothing.
    private func answersBySQLite() throws -> [[ListReference]] {
        try fixture.store.commit { transaction in try Self.answers(of: transaction) }
    }

    @Test("gathered in whichever state, it answers as SQLite does in every other", .rules("REV-8", "STO-1"))
    func answersAsSQLiteDoesInEveryState() throws {
        let changes: [() throws -> Void] = [
            {},
            {
                try fixture.apply(sequence: 1) {
                    $0.keys = [digest(1), digest(2)]; $0.packages = [digest(3)]
                }
            },
            { try fixture.apply(sequence: 2) { $0.keys = [digest(2), twin(of: digest(1))] } },
            { try fixture.apply(by: .secondRoot, sequence: 1) { $0.keys = [digest(1), digest(2)] } },
            { try fixture.apply(sequence: 3) { $0.certificates = [PackageBuilder.serial(4)] } },
            { try fixture.apply(by: .secondRoot, sequence: 2) { $0.packages = [digest(5), twin(of: digest(6))] } },
            { try fixture.record(build: 5) },
            {
                try fixture.apply(by: .secondRoot, sequence: 3) {
                    $0.revokesIssuer = true; $0.keys = [digest(7), root]
                }
            },
            {
                _ = try fixture.store.commit {
                    try $0.forgetLists(of: second, event: StoreFixture.event(.rootForgotten))
                }
            },
            {
                _ = try fixture.store.commit { try $0.forgetLists(of: root, event: StoreFixture.event(.rootForgotten)) }
            },
            { try fixture.apply(sequence: 2) { $0.keys = [digest(8)] } },
        ]
        for change in changes {
            try change()
            let expected = try answersBySQLite()
            #expect(try answers() == expected)
            fixture.store.gatherRevoked()
            #expect(fixture.store.revoked.areKept)
            #expect(try answers() == expected)
            #expect(fixture.store.revoked.areKept)
        }
    }

    @Test(.rules("REV-8")) func whatOnlyBeginsLikeARevokedKeyIsNotRevoked() throws {
        try fixture.apply {
            $0.keys = [digest(1)]; $0.packages = [twin(of: digest(2)), digest(2)]
        }
        fixture.store.gatherRevoked()
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.revocations(ofKey: twin(of: digest(1))).isEmpty)
            #expect(try snapshot.revocations(ofPackage: twin(of: digest(1))).isEmpty)
            #expect(try snapshot.revocations(ofKey: digest(1)).count == 1)
            #expect(try snapshot.revocations(ofPackage: digest(2)).count == 1)
            #expect(try snapshot.revocations(ofPackage: twin(of: digest(2))).count == 1)
        }
    }

    @Test("a list that another process applies counts with the next look-up", .rules("STO-8"))
    func anotherProcessesListCountsAtOnce() throws {
        let other = try StoreFixture(fixture.directory)
        try fixture.apply(sequence: 1) { $0.keys = [digest(1)] }
        fixture.store.gatherRevoked()
        #expect(try fixture.store.read { try $0.revocations(ofKey: digest(2)).isEmpty })
        try other.apply(sequence: 2) { $0.keys = [digest(2)] }
        #expect(try fixture.store.read { try $0.revocations(ofKey: digest(2)).map(\.sequence) } == [2])
        #expect(try fixture.store.read { try $0.revocations(ofKey: digest(1)).isEmpty })
        #expect(!fixture.store.revoked.areKept, "of the list before nothing stays in memory")
    }

    @Test func aTransactionSeesTheListThatItHasJustApplied() throws {
        fixture.store.gatherRevoked()
        try fixture.apply(sequence: 1) { $0.keys = [digest(1)] }
        fixture.store.gatherRevoked()
        var list = RevocationList(issuer: root, sequence: 2, issuedAt: StoreFixture.now)
        list.keys = [digest(2)]
        let envelope = Envelope.signed(.revocations, list.serialized, by: [.root]).serialized
        try fixture.store.commit { (transaction) throws in
            let list = try VerifiedList.verifying(
                envelope, roots: [TestKey.root.publicKey], state: transaction, policy: Policy())
            try transaction.apply(
                list, succession: .replaces, clock: StoreFixture.now, event: StoreFixture.event(.revocations))
            #expect(try transaction.revocations(ofKey: digest(2)).count == 1)
            #expect(try transaction.revocations(ofKey: digest(1)).isEmpty)
        }
    }

    @Test("entries of many pages, in several lists, are all gathered") func gathersEveryPage() throws {
        let digests = (0..<9000).map { SHA256.hash(Array("\($0)".utf8)) }
        try fixture.apply(sequence: 1) {
            $0.keys = SortedSet(digests[..<8192]); $0.packages = SortedSet(digests[..<4096])
        }
        try fixture.apply(by: .secondRoot) { $0.keys = SortedSet(digests[4000...]) }
        fixture.store.gatherRevoked()
        try fixture.store.read { (snapshot) throws in
            for (number, digest) in digests.enumerated() {
                #expect(try snapshot.revocations(ofKey: digest).count == ((4000..<8192).contains(number) ? 2 : 1))
                #expect(try snapshot.revocations(ofPackage: digest).count == (number < 4096 ? 1 : 0))
            }
        }
        #expect(fixture.store.revoked.areKept)
    }

    @Test("it is gathered once look-ups are many, and not before") func isGatheredWhenWorthWhile() throws {
        try fixture.apply { $0.keys = [digest(1)] }
        let few = RevokedPrefixes.enoughLookUps - 1
        try fixture.store.read { (snapshot) throws in
            for _ in 0..<few { #expect(try snapshot.revocations(ofKey: digest(1)).count == 1) }
        }
        #expect(!fixture.store.revoked.areKept)
        // The next one starts it, on a thread of its own.
        while !fixture.store.revoked.areKept {
            #expect(try fixture.store.read { try $0.revocations(ofKey: digest(1)).count } == 1)
        }
    }

    @Test("a list that is applied while entries are gathered is never hidden by them", .rules("STO-8"))
    func gatheringHidesNoListThatComesMeanwhile() throws {
        let other = try StoreFixture(fixture.directory)
        let (store, isOver) = (fixture.store, CancellationFlag())
        try OwnThread.whileRunning({ while !isOver.isRaised { store.gatherRevoked() } }) {
            defer { isOver.raise() }
            for sequence in Int64(1)...60 {
                let byte = UInt8(sequence)
                try (byte % 2 == 0 ? fixture : other).apply(sequence: sequence) {
                    $0.keys = [digest(byte), digest(200)]
                }
                try store.read { (snapshot) throws in
                    #expect(try snapshot.revocations(ofKey: digest(byte)).map(\.sequence) == [sequence])
                    #expect(try snapshot.revocations(ofKey: digest(byte - 1)).isEmpty)
                    #expect(try snapshot.revocations(ofKey: digest(200)).map(\.sequence) == [sequence])
                }
            }
        }
    }

    @Test func anAcceptedBuildDropsNothing() throws {
        try fixture.apply { $0.keys = [digest(1)] }
        fixture.store.gatherRevoked()
        try fixture.record(build: 5)
        #expect(try fixture.store.read { try $0.revocations(ofKey: digest(1)).count } == 1)
        #expect(fixture.store.revoked.areKept)
    }

    @Test("damage that could hide an entry keeps nothing in memory") func damagedEntriesAreNotKept() throws {
        try fixture.apply { $0.keys = [digest(1)] }
        try fixture.store.inspect { connection in
            try connection.run("UPDATE list_entries SET subject = x'0102' WHERE kind = 2")
        }
        fixture.store.gatherRevoked()
        #expect(!fixture.store.revoked.areKept)
    }
}
