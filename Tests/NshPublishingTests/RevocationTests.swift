import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct RevocationTests {
    private let hash = String(repeating: "ab", count: 32)
    private let other = String(repeating: "cd", count: 32)
    private let serial = String(repeating: "01", count: 16)

    private func first(_ change: (inout RevocationRequest) -> Void = { _ in }) throws -> SignedDocument {
        var request = RevocationRequest()
        change(&request)
        return try request.signFirst(with: TestKeys.key(1), at: 1000)
    }

    private func next(
        after previous: SignedDocument, at time: Int64 = 2000, _ change: (inout RevocationRequest) -> Void
    ) throws -> RevocationList {
        var request = RevocationRequest()
        change(&request)
        return try request.sign(after: previous, with: TestKeys.key(1), at: time).revocationList()
    }

    @Test(.rules("REV-1", "REV-4", "REV-6")) func theFirstListIsNumberOneAndVerifies() throws {
        let document = try first { $0.keys = [hash] }
        let list = try document.revocationList()
        #expect(list.sequence == 1)
        #expect(list.issuedAt == 1000)
        #expect(list.expiresAt == nil)
        #expect(list.issuer == (try TestKeys.key(1).publicKey.hash))
        #expect(document.isSigned(by: try TestKeys.key(1).publicKey))
    }

    @Test(.rules("REV-6")) func theNextListCarriesEveryEntryForwardAndAdds() throws {
        let previous = try first {
            $0.keys = [hash]
            $0.certificates = [serial]
            $0.packages = [other]
            $0.minimumBuilds = ["com.example.a": 4]
            $0.maximumBuilds = ["com.example.a": 9]
            $0.transfers = ["com.example.b": "New Ltd"]
            $0.annotations = ["why": "leak"]
            $0.expiry = .at(5000)
        }
        let list = try next(after: previous) {
            $0.keys = [other, hash]
            $0.minimumBuilds = ["com.example.a": 5, "com.example.c": 1]
        }
        #expect(list.sequence == 2)
        #expect(list.issuedAt == 2000)
        #expect(list.keys.map(\.hex) == [hash, other])
        #expect(list.certificates.map(\.hex) == [serial])
        #expect(list.packages.map(\.hex) == [other])
        #expect(list.minimumBuilds.count == 2)
        #expect(list.minimumBuilds[AppID("com.example.a")!] == 5)
        #expect(list.maximumBuilds[AppID("com.example.a")!] == 9)
        #expect(list.transfers[AppID("com.example.b")!]?.text == "New Ltd")
        #expect(list.annotations.entries.map(\.name) == ["why"])
        #expect(list.expiresAt == 5000)
    }

    @Test func restoresWhatIsNamed() throws {
        let previous = try first {
            $0.keys = [hash]
            $0.certificates = [serial]
            $0.packages = [other]
            $0.minimumBuilds = ["com.example.a": 4, "com.example.b": 4]
            $0.maximumBuilds = ["com.example.a": 9, "com.example.b": 9]
            $0.transfers = ["com.example.b": "New Ltd"]
        }
        let list = try next(after: previous) {
            $0.restored = [hash, serial, other, "minimumBuilds:com.example.a", "com.example.b"]
            $0.minimumBuilds = ["com.example.b": 1]
        }
        #expect(list.keys.isEmpty && list.certificates.isEmpty && list.packages.isEmpty && list.transfers.isEmpty)
        #expect(list.minimumBuilds == [AppID("com.example.b")!: 1])
        #expect(list.maximumBuilds == [AppID("com.example.a")!: 9])
    }

    @Test(arguments: ["com.example.z", "ff", "maximumBuilds:com.example.a", "x:com.example.a", "a:b:c"])
    func refusesToRestoreWhatIsNotThere(entry: String) throws {
        let previous = try first { $0.minimumBuilds = ["com.example.a": 4] }
        expectTrouble(.badRequest) { _ = try next(after: previous) { $0.restored = [entry] } }
    }

    @Test(.rules("REV-14")) func lowersNoFloorByAccident() throws {
        let previous = try first { $0.minimumBuilds = ["com.example.a": 4] }
        expectTrouble(.badRequest) { _ = try next(after: previous) { $0.minimumBuilds = ["com.example.a": 3] } }
    }

    @Test(.rules("REV-5")) func refusesAPreviousListOfAnotherRoot() throws {
        let strangers = try RevocationRequest().signFirst(with: TestKeys.key(2), at: 1000)
        expectRefusal(.untrustedRoot) { _ = try next(after: strangers) { _ in } }
    }

    @Test(.rules("REV-5")) func refusesAPreviousListThatItsIssuerDidNotSign() throws {
        let request = RevocationRequest()
        let draft = try request.draftFirst(issuer: TestKeys.key(1).publicKeyText, at: 1000)
        let forged = try draft.signed(by: TestKeys.key(2))
        expectRefusal(.untrustedRoot) { _ = try next(after: forged) { _ in } }
        expectRefusal(.untrustedRoot) { _ = try next(after: draft) { _ in } }
    }

    @Test(.rules("REV-10")) func nothingFollowsAWithdrawal() throws {
        let last = try first { $0.withdrawsIssuer = true }
        #expect(try last.revocationList().revokesIssuer)
        expectRefusal(.rootWithdrawn) { _ = try next(after: last) { _ in } }
    }

    @Test func aRootIsNotWithdrawnByNamingItsOwnKey() throws {
        let own = try TestKeys.key(1).publicKey.hash.hex
        expectTrouble(.badRequest) { _ = try first { $0.keys = [own] } }
    }

    @Test(.rules("REV-4")) func asksForANewExpiryWhenTheOldOneHasPassed() throws {
        let previous = try first { $0.expiry = .at(1500) }
        expectTrouble(.badRequest) { _ = try next(after: previous) { _ in } }
        #expect(try next(after: previous) { $0.expiry = .never }.expiresAt == nil)
        #expect(try next(after: previous) { $0.expiry = .at(2000) }.expiresAt == 2000)
        expectTrouble(.badRequest) { _ = try next(after: previous) { $0.expiry = .at(1999) } }
    }

    @Test(
        .rules("REV-2", "REV-3", "JSN-10"),
        arguments: [
            { $0.keys = ["AB"] }, { $0.keys = [String(repeating: "AB", count: 32)] }, { $0.certificates = ["01"] },
            { $0.packages = ["x"] }, { $0.minimumBuilds = ["single": 1] }, { $0.minimumBuilds = ["a.b": -1] },
            { $0.maximumBuilds = ["a.b": 1 << 53] }, { $0.transfers = ["a.b": ""] }, { $0.annotations = ["A": ""] },
        ] as [@Sendable (inout RevocationRequest) -> Void])
    func refusesToMakeWhatNoReaderTakes(change: @Sendable (inout RevocationRequest) -> Void) throws {
        expectRefusal(.malformed) { _ = try first(change) }
    }

    @Test(.rules("REV-17")) func aSecondRootMayCosign() throws {
        let list = try first { $0.maximumBuilds = ["com.example.a": 9] }.cosigned(by: TestKeys.key(2))
        #expect(list.signatureCount == 2)
        expectTrouble(.exists) { _ = try list.cosigned(by: TestKeys.key(2)) }
    }

    @Test func theSameRequestGivesTheSameBytes() throws {
        let make = { @Sendable in
            try first { $0.minimumBuilds = ["a.b": 1, "c.d": 2, "e.f": 3] }.bytes
        }
        #expect(try make() == make())
    }
}

@Suite struct SigningTimeTests {
    @Test(
        .rules("PKG-17"),
        arguments: [("0", 0), ("1764470000", 1_764_470_000), ("9007199254740991", 1 << 53 - 1)] as [(String, Int64)])
    func readsTheVariable(text: String, seconds: Int64) throws {
        #expect(try SigningTime.seconds(from: text) == seconds)
    }

    @Test(arguments: ["", "-1", "+1", " 1", "1.5", "1e3", "9007199254740992", "99999999999999999999", "now"])
    func refusesAnythingElse(text: String) {
        expectTrouble(.badRequest) { _ = try SigningTime.seconds(from: text) }
    }
}
