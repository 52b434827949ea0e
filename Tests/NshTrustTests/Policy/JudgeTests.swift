import TestSupport
import Testing

@testable import NshTrust

/// Rules 2, 3 and 5 to 12, each alone and in their order.
@Suite("Judge")
struct JudgeTests {
    static let root = key(1)
    static let otherRoot = key(2)
    static let list = ListReference(issuer: root.hash, sequence: 7)
    static let now: Int64 = 1_800_000_000

    var state = FakeState()
    var policy = Policy()

    // MARK: - Rule 2

    @Test("none of the pinned roots signed", .rules("POL-2")) func refusesWithoutARoot() {
        #expect(code { try judge().roots([]) } == .untrustedRoot)
    }

    @Test("the threshold counts roots", .rules("POL-2", "POL-16"), arguments: [1, 2, 3])
    func refusesBelowTheThreshold(_ threshold: Int) {
        var test = self
        test.policy.rootThreshold = threshold
        let signers = [Self.root, Self.otherRoot]
        #expect(code { try test.judge().roots(signers) } == (threshold <= 2 ? nil : .untrustedRoot))
    }

    @Test("a threshold below one is taken as one", .rules("POL-16"), arguments: [0, -1])
    func neverNeedsNoRoot(_ threshold: Int) {
        var test = self
        test.policy.rootThreshold = threshold
        #expect(code { try test.judge().roots([]) } == .untrustedRoot)
    }

    @Test("a withdrawn root does not count", .rules("POL-2", "REV-11")) func refusesAWithdrawnRoot() {
        var test = self
        test.state.withdrawn[Self.root.hash] = Self.list
        #expect(code { try test.judge().roots([Self.root]) } == .rootWithdrawn)
        #expect(code { try test.judge().roots([Self.root, Self.otherRoot]) } == nil)
        test.policy.rootThreshold = 2
        #expect(code { try test.judge().roots([Self.root, Self.otherRoot]) } == .rootWithdrawn)
        #expect(code { try test.judge().roots([Self.root]) } == .untrustedRoot)
    }

    // MARK: - Rule 3

    @Test("revoked certificates and keys", .rules("POL-3", "REV-9", "REV-13")) func refusesRevokedCertificates() {
        var test = self
        let certificate = facts().certificate
        #expect(code { try test.judge().certificate(certificate) } == nil)
        test.state.keys[certificate.key.hash] = Self.list
        #expect(code { try test.judge().certificate(certificate) } == .keyRevoked)
        test.state.serials[certificate.serial] = Self.list
        #expect(code { try test.judge().certificate(certificate) } == .certificateRevoked)
    }

    // MARK: - Rules 6 to 12

    @Test("ids outside the patterns", .rules("POL-6")) func refusesAForeignID() {
        #expect(packageCode(facts(app: "net.other.app")) == .appNotCertified)
    }

    @Test("another publisher", .rules("POL-6", "REV-16")) func refusesAChangedPublisherUnlessTransferred() throws {
        var test = self
        test.state.accepted = accepted(build: 1, publisher: "Somebody Else")
        #expect(test.packageCode(facts()) == .publisherChanged)
        test.state.transferred = [Transfer(publisher: try #require(DisplayText("Third")), list: Self.list)]
        #expect(test.packageCode(facts()) == .publisherChanged)
        test.state.transferred = [Transfer(publisher: try #require(DisplayText("Example Ltd")), list: Self.list)]
        #expect(test.packageCode(facts()) == nil)
        test.state.transferred = []
        test.policy.publisherContinuity = .waivedUnsafely
        #expect(test.packageCode(facts()) == nil)
    }

    @Test(
        "the window's ends belong to it", .rules("POL-7", "CRT-2"),
        arguments: [
            (-1, .signedOutsideWindow), (0, nil), (500, nil), (1000, nil), (1001, .signedOutsideWindow),
        ] as [(Int64, RefusalCode?)])
    func judgesTheTimeOfSigning(_ offset: Int64, _ expected: RefusalCode?) {
        let facts = facts(window: (Self.now - 500, Self.now + 500), signedAt: Self.now - 500 + offset)
        var test = self
        test.state.floor = Self.now + 1000
        test.policy.expiry = .atSigningOnly
        #expect(test.packageCode(facts) == expected)
    }

    @Test(
        "five minutes ahead of now", .rules("POL-7", "LIM-24"),
        arguments: [(300, nil), (301, .signedInFuture)] as [(Int64, RefusalCode?)])
    func judgesSignaturesFromTheFuture(_ ahead: Int64, _ expected: RefusalCode?) {
        #expect(packageCode(facts(signedAt: Self.now + ahead)) == expected)
    }

    @Test("the end of the certificate", .rules("POL-8")) func refusesNewPackagesAfterTheWindow() {
        var test = self
        let atEnd = facts(window: (Self.now - 1000, Self.now), signedAt: Self.now - 10)
        #expect(test.packageCode(atEnd) == nil)
        let expired = facts(window: (Self.now - 1000, Self.now - 1), signedAt: Self.now - 10)
        #expect(test.packageCode(expired) == .certificateExpired)
        test.state.seen = [expired.digest]
        #expect(test.packageCode(expired) == nil)
        test.state.seen = []
        test.policy.expiry = .atSigningOnly
        #expect(test.packageCode(expired) == nil)
    }

    @Test("a clock set back does not revive a certificate", .rules("POL-15")) func usesTheTimeFloor() {
        var test = self
        let expired = facts(window: (Self.now - 1000, Self.now - 1), signedAt: Self.now - 10)
        test.state.floor = Self.now
        #expect(test.packageCode(expired, clock: 0) == .certificateExpired)
    }

    @Test("revoked digests and manifests", .rules("POL-9", "REV-12")) func refusesRevokedPackages() {
        for revoked in [facts().digest, facts().manifest] {
            var test = self
            test.state.packages = [revoked: Self.list]
            #expect(test.packageCode(facts()) == .packageRevoked)
        }
    }

    @Test("floors and ceilings of several lists", .rules("POL-9", "REV-14", "REV-15"))
    func honoursTheStrictestBound() {
        var test = self
        test.state.minimum = [BuildBound(build: 3, list: Self.list), BuildBound(build: 6, list: Self.list)]
        #expect(test.packageCode(facts(build: 5)) == .belowMinimumBuild)
        #expect(test.packageCode(facts(build: 6)) == nil)
        test.state.maximum = [BuildBound(build: 9, list: Self.list), BuildBound(build: 7, list: Self.list)]
        #expect(test.packageCode(facts(build: 7)) == nil)
        #expect(test.packageCode(facts(build: 8)) == .aboveMaximumBuild)
    }

    @Test("older builds and other content", .rules("POL-10")) func refusesRollbackAndConflict() {
        var test = self
        test.state.accepted = accepted(build: 5, identity: facts().identity)
        #expect(test.packageCode(facts(build: 4)) == .rolledBack)
        #expect(test.packageCode(facts(build: 5)) == nil)
        let other = ContentIdentity(digest: SHA256.hash([9]))
        #expect(test.packageCode(facts(build: 5, identity: other)) == .buildConflict)
        #expect(test.packageCode(facts(build: 6, identity: other)) == nil)
        test.policy.rebuilding = .allowedUnsafely
        #expect(test.packageCode(facts(build: 5, identity: other)) == nil)
    }

    @Test("a lowered build takes any content", .rules("REV-15")) func acceptsAnyContentAfterLowering() {
        var test = self
        var record = accepted(build: 9_007_199_254_740_991, identity: facts().identity)
        record.lower(to: 5)
        test.state.accepted = record
        #expect(test.packageCode(facts(build: 5, identity: ContentIdentity(digest: SHA256.hash([9])))) == nil)
        #expect(test.packageCode(facts(build: 4)) == .rolledBack)
    }

    @Test("expired lists", .rules("POL-11", "REV-18")) func refusesAfterAListExpired() {
        var test = self
        test.state.lists = [summary(issuedAt: Self.now - 100, expiresAt: Self.now)]
        #expect(test.packageCode(facts()) == nil)
        test.state.lists = [summary(issuedAt: Self.now - 100, expiresAt: Self.now - 1)]
        #expect(test.packageCode(facts()) == .revocationsStale)
        test.policy.listExpiry = .ignoredUnsafely
        #expect(test.packageCode(facts()) == nil)
    }

    @Test("a maximum age needs every root's list", .rules("POL-11", "REV-19", "REV-20"))
    func refusesListsThatAreOldMissingOrFromTheFuture() {
        var test = self
        test.policy.maximumListAgeSeconds = 100
        #expect(test.packageCode(facts(), pinned: [Self.root]) == .revocationsStale)
        for (issuedAt, expected) in [
            (-100, nil), (-101, RefusalCode.revocationsStale), (300, nil), (301, .revocationsStale),
        ] {
            test.state.lists = [summary(issuedAt: Self.now + Int64(issuedAt), expiresAt: nil)]
            #expect(test.packageCode(facts(), pinned: [Self.root]) == expected, "issued \(issuedAt)")
        }
        test.state.lists = [summary(issuedAt: Self.now, expiresAt: nil)]
        #expect(test.packageCode(facts(), pinned: [Self.root, Self.otherRoot]) == .revocationsStale)
        test.state.withdrawn[Self.otherRoot.hash] = Self.list
        #expect(test.packageCode(facts(), pinned: [Self.root, Self.otherRoot]) == nil)
        // Whoever asks for young lists is not content with one that has expired, whatever else is waived.
        test.policy.listExpiry = .ignoredUnsafely
        test.state.lists = [summary(issuedAt: Self.now - 9, expiresAt: Self.now)]
        #expect(test.packageCode(facts()) == nil)
        test.state.lists = [summary(issuedAt: Self.now - 9, expiresAt: Self.now - 1)]
        #expect(test.packageCode(facts()) == .revocationsStale)
    }

    @Test("the host's runtime", .rules("POL-12", "PKG-10")) func refusesAnOlderRuntime() {
        var test = self
        let needs = facts(runtime: "0.5.1")
        #expect(test.packageCode(needs) == nil)
        for (own, expected) in [
            ("0.5.1", nil), ("0.5.0.9", RefusalCode.runtimeTooOld), ("0.10", nil), ("0.5.1.0", nil),
        ] {
            test.policy.runtime = RuntimeVersion(own)
            #expect(test.packageCode(needs) == expected, "host \(own)")
        }
    }

    @Test("of several faults the earliest rule's counts", .rules("POL-14")) func judgesInOrder() {
        var test = self
        test.policy.runtime = RuntimeVersion("0.1")
        test.state.lists = [summary(issuedAt: 0, expiresAt: 1)]
        test.state.accepted = accepted(build: 9, publisher: "Somebody Else")
        test.state.packages = [facts().manifest: Self.list]
        let faulty = facts(
            app: "net.other.app", build: 5, window: (Self.now - 9, Self.now - 5), signedAt: Self.now - 1, runtime: "9")
        #expect(test.packageCode(faulty) == .appNotCertified)
        let covered = facts(build: 5, window: (Self.now - 9, Self.now - 5), signedAt: Self.now - 1, runtime: "9")
        #expect(test.packageCode(covered) == .publisherChanged)
        test.state.accepted = accepted(build: 9)
        #expect(test.packageCode(covered) == .signedOutsideWindow)
        let signed = facts(build: 5, window: (Self.now - 9, Self.now - 5), signedAt: Self.now - 6, runtime: "9")
        #expect(test.packageCode(signed) == .certificateExpired)
        test.policy.expiry = .atSigningOnly
        #expect(test.packageCode(signed) == .packageRevoked)
        test.state.packages = [:]
        #expect(test.packageCode(signed) == .rolledBack)
        test.state.accepted = nil
        #expect(test.packageCode(signed) == .revocationsStale)
        test.state.lists = []
        #expect(test.packageCode(signed) == .runtimeTooOld)
    }

    @Test("what an opened package may still do", .rules("POL-19", "REV-11")) func judgesAgain() {
        var test = self
        test.policy.runtime = RuntimeVersion("0.1")
        test.state.accepted = accepted(build: 9, publisher: "Somebody Else")
        let opened = facts(window: (Self.now - 9, Self.now - 5), signedAt: Self.now - 6, runtime: "9")
        func stillTrusted(_ pinned: [PublicKey] = [Self.root]) -> RefusalCode? {
            code { try test.judge(pinned: pinned).stillTrusted(opened) }
        }
        #expect(stillTrusted() == nil, "rules 6 to 8, 10 and 12 are those of opening")
        #expect(stillTrusted([Self.otherRoot]) == .untrustedRoot)
        test.state.minimum = [BuildBound(build: 8, list: Self.list)]
        #expect(stillTrusted() == .belowMinimumBuild)
        test.state.keys[opened.certificate.key.hash] = Self.list
        #expect(stillTrusted() == .keyRevoked)
        test.state.withdrawn[Self.root.hash] = Self.list
        #expect(stillTrusted() == .rootWithdrawn)
    }

    @Test("a store that cannot answer never means yes", .rules("POL-18")) func throwsWhatTheStoreThrows() {
        var test = self
        test.state.trouble = Trouble(.storeCorrupt, "broken")
        #expect(throws: Trouble.self) { try test.judge() }
    }

    // MARK: - Material

    static func key(_ byte: UInt8) -> PublicKey { PublicKey([UInt8](repeating: byte, count: 32))! }

    func judge(clock: Int64 = now, pinned: [PublicKey] = [root]) throws -> Judge {
        try Judge(policy: policy, pinned: pinned, state: state, clock: clock)
    }

    func code(_ body: () throws -> Void) -> RefusalCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Refusal)?.code
        }
    }

    func packageCode(_ facts: PackageFacts, clock: Int64 = now, pinned: [PublicKey] = [root]) -> RefusalCode? {
        code { try judge(clock: clock, pinned: pinned).package(facts) }
    }

    func summary(issuedAt: Int64, expiresAt: Int64?) -> ListSummary {
        ListSummary(list: Self.list, issuedAt: issuedAt, expiresAt: expiresAt, payloadDigest: SHA256.hash([3]))
    }

    func accepted(build: Int64, publisher: String = "Example Ltd", identity: ContentIdentity? = nil) -> AcceptedBuild {
        AcceptedBuild(
            app: AppID("com.example.orders")!, build: build, publisher: DisplayText(publisher)!, identity: identity,
            digest: nil, acceptedAt: 0)
    }

    func facts(
        app: String = "com.example.orders", build: Int64 = 7, window: (Int64, Int64) = (now - 1000, now + 1000),
        signedAt: Int64 = now - 100, identity: ContentIdentity = ContentIdentity(digest: SHA256.hash([1])),
        runtime: String? = nil
    ) -> PackageFacts {
        let certificate = Certificate(
            apps: [AppPattern("com.example.*")!], content: nil, key: Self.key(3), notBefore: window.0,
            notAfter: window.1, publisher: DisplayText("Example Ltd")!,
            serial: Serial([UInt8](repeating: 4, count: 16))!)
        return PackageFacts(
            roots: [Self.root], certificate: certificate, app: AppID(app)!, build: build, digest: SHA256.hash([5]),
            manifest: SHA256.hash([6]), identity: identity, signedAt: signedAt,
            minimumRuntime: runtime.flatMap { RuntimeVersion($0) })
    }
}
