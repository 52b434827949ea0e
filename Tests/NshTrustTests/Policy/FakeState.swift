@testable import NshTrust

/// A snapshot that a test fills by hand.
struct FakeState: TrustState {
    var floor: Int64 = 0
    var lists: [ListSummary] = []
    var withdrawn: [Digest: ListReference] = [:]
    var serials: [Serial: ListReference] = [:]
    var keys: [Digest: ListReference] = [:]
    var packages: [Digest: ListReference] = [:]
    var minimum: [BuildBound] = []
    var maximum: [BuildBound] = []
    var transferred: [Transfer] = []
    var accepted: AcceptedBuild?
    var seen: Set<Digest> = []
    var threshold = 1
    /// Thrown by every question, for the tests that nothing unreadable is taken for harmless.
    var trouble: Trouble?

    private func answer<Value>(_ value: Value) throws -> Value {
        if let trouble { throw trouble }
        return value
    }

    func greatestThreshold() throws -> Int { try answer(threshold) }
    func timeFloor() throws -> Int64 { try answer(floor) }
    func listsInForce() throws -> [ListSummary] { try answer(lists) }
    func withdrawals(ofRoot root: Digest) throws -> [ListReference] { try answer([withdrawn[root]].compactMap { $0 }) }
    func revocations(ofCertificate serial: Serial) throws -> [ListReference] {
        try answer([serials[serial]].compactMap { $0 })
    }
    func revocations(ofKey hash: Digest) throws -> [ListReference] { try answer([keys[hash]].compactMap { $0 }) }
    func revocations(ofPackage digest: Digest) throws -> [ListReference] {
        try answer([packages[digest]].compactMap { $0 })
    }
    func minimumBuilds(of app: AppID) throws -> [BuildBound] { try answer(minimum) }
    func maximumBuilds(of app: AppID) throws -> [BuildBound] { try answer(maximum) }
    func transfers(of app: AppID) throws -> [Transfer] { try answer(transferred) }
    func acceptedBuild(of app: AppID) throws -> AcceptedBuild? { try answer(accepted) }
    func hasAccepted(package digest: Digest) throws -> Bool { try answer(seen.contains(digest)) }
}
