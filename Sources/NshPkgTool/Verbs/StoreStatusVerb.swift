import NshTrust
import NshTrustWire

/// `store status`: what a store holds, and what in it needs attention.
enum StoreStatusVerb {
    static let verb = Verb(
        name: "store status",
        summary: "say what a trust store holds, and what runs out soon",
        details: ["Needs no root and writes nothing."],
        options: [.state],
        examples: ["nsh-pkgtool store status --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let path = try Judging.requiredState(invocation)
        let access = try StoreAccess(path, isReadOnly: true)
        let status = try access.store.read(StoreStatus.init)
        let console = invocation.console
        try console.answer(status.object(path), text: status.lines(path).joined(separator: "\n"))
        for warning in status.warnings(now: WallClock.system.now()) { try console.warning(warning) }
        return .done
    }
}

/// What `store status` says.
private struct StoreStatus {
    private var builds: Int64
    private var packages: [InstalledPackage]
    private var lists: [StoredList]
    private var roots: [(key: PublicKey, since: Int64, withdrawal: ListReference?)]
    private var threshold: Int
    private var oldestEvent: Int64

    init(_ snapshot: any StoreSnapshot) throws {
        builds = try snapshot.acceptedBuildCount()
        packages = try snapshot.installedPackages(of: nil)
        lists = try snapshot.listEnvelopes()
        roots = try snapshot.rootsSeen().map { ($0.key, $0.since, try snapshot.withdrawals(ofRoot: $0.key.hash).first) }
        threshold = try snapshot.greatestThreshold()
        oldestEvent = try snapshot.events(after: 0, limit: 1).oldest
    }

    private var unpackedSize: Int64 { packages.reduce(0) { $0 + $1.unpackedSize } }

    func lines(_ path: String) -> [String] {
        var lines = [
            "store      \(Terminal.safe(path))",
            "apps       \(Amount.count(builds, "app")) with an accepted build",
            "installed  \(Amount.count(Int64(packages.count), "package")), \(Amount.bytes(unpackedSize))",
            "threshold  \(Amount.count(Int64(threshold), "root")) must have signed a certificate",
        ]
        for root in roots {
            let withdrawal = root.withdrawal.map { "  withdrawn by \($0)" } ?? ""
            lines.append("root       \(root.key.id)  seen since \(Timestamp.text(root.since))\(withdrawal)")
        }
        for list in lists {
            let summary = list.summary
            let end = summary.expiresAt.map { ", expires \(Timestamp.text($0))" } ?? ""
            let entries = list.entryCounts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
                .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            lines.append(
                "list       \(summary.list.sequence) of root \(summary.list.issuer.shortHex)  issued "
                    + "\(Timestamp.text(summary.issuedAt))\(end)  \(entries.isEmpty ? "revokes nothing" : entries)"
                    + (list.revokesIssuer ? ", withdraws its issuer" : ""))
        }
        if lists.isEmpty { lines.append("list       none") }
        return lines
    }

    func object(_ path: String) -> JSONObject {
        let roots = roots.map { root in
            JSONValue.object([
                "key": .text(root.key.hash.hex), "since": .integer(root.since),
                "withdrawn": .boolean(root.withdrawal != nil),
            ])
        }
        let lists = lists.map { list in
            var object: JSONObject = [
                "issuer": .text(list.summary.list.issuer.hex), "sequence": .integer(list.summary.list.sequence),
                "issuedAt": .integer(list.summary.issuedAt),
            ]
            object.add("expiresAt", list.summary.expiresAt.map { .integer($0) })
            object.append("appliedAt", .integer(list.appliedAt))
            object.append("revokesIssuer", .boolean(list.revokesIssuer))
            var entries = JSONObject()
            for (name, count) in list.entryCounts.sorted(by: { $0.key < $1.key }) {
                entries.append(name, .integer(count))
            }
            object.append("entries", .object(entries))
            return JSONValue.object(object)
        }
        return [
            "state": .text(path), "apps": .integer(builds), "packages": .integer(Int64(packages.count)),
            "unpackedSize": .integer(unpackedSize), "threshold": .integer(Int64(threshold)), "roots": .array(roots),
            "lists": .array(lists), "oldestEvent": .integer(oldestEvent),
        ]
    }

    func warnings(now: Int64) -> [String] {
        var warnings: [String] = []
        for list in lists {
            guard let end = list.summary.expiresAt, let text = Expiry.warning(end, now: now) else { continue }
            warnings.append("\(list.summary.list) \(text); get a newer one from its issuer")
        }
        var newest: [AppID: InstalledPackage] = [:]
        for package in packages { newest[package.app.id] = package }
        for (app, package) in newest.sorted(by: { $0.key < $1.key }) {
            guard let text = Expiry.warning(package.facts.certificate.notAfter, now: now) else { continue }
            warnings.append("certificate \(package.facts.certificate.serial) of \(app) \(text)")
        }
        return warnings
    }
}
