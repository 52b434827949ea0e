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
        let status = try StoreAccess.open(path, isReadOnly: true).status()
        let console = invocation.console
        try console.answer(status.object(path), text: status.lines(path).joined(separator: "\n"))
        for warning in status.warnings { try console.warning(warning) }
        return .done
    }
}

extension StoreStatus {
    fileprivate func lines(_ path: String) -> [String] {
        var lines = [
            "store      \(Terminal.safe(path))",
            "apps       \(Amount.count(builds, "app")) with an accepted build",
            "installed  \(Amount.count(packages, "package")), \(Amount.bytes(unpackedSize))",
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

    fileprivate func object(_ path: String) -> JSONObject {
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
            "state": .text(path), "apps": .integer(builds), "packages": .integer(packages),
            "unpackedSize": .integer(unpackedSize), "threshold": .integer(Int64(threshold)), "roots": .array(roots),
            "lists": .array(lists), "oldestEvent": .integer(oldestEvent),
        ]
    }
}
