import NshTrust
import NshTrustWire

/// `store status`: what a store holds, and what in it needs attention.
enum StoreStatusVerb {
    static let verb = Verb(
        name: "store status",
        summary: "say what a trust store holds, and what runs out soon",
        details: ["Needs no root and writes nothing."],
        options: [.state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool store status --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let status = try StoreDoors.open(invocation, isReadOnly: true).status()
        let console = invocation.console
        try console.answer(status.object, text: lines(status).joined(separator: "\n"))
        for warning in status.warnings { try console.warning(warning) }
        return .done
    }

    private static func lines(_ status: StoreStatusDocument) -> [String] {
        var lines = [
            "store      \(Terminal.safe(status.state))",
            "apps       \(Amount.count(status.apps, "app")) with an accepted build",
            "installed  \(Amount.count(status.packages, "package")), \(Amount.bytes(status.unpackedSize))",
            "threshold  \(Amount.count(status.threshold, "root")) must have signed a certificate",
        ]
        for root in status.roots {
            let withdrawal = root.withdrawnBy.map { "  withdrawn by \(Terminal.safe($0))" } ?? ""
            lines.append(
                "root       \(Terminal.safe(String(root.key.prefix(16))))  seen since \(Timestamp.text(root.since))\(withdrawal)"
            )
        }
        for list in status.lists.map(\.list) {
            let end = list.expiresAt.map { ", expires \(Timestamp.text($0))" } ?? ""
            let entries = list.entryCounts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
                .map { "\(Terminal.safe($0.key)) \($0.value)" }.joined(separator: ", ")
            lines.append(
                "list       \(list.sequence) of root \(Terminal.safe(String(list.issuer.prefix(16))))  issued "
                    + "\(Timestamp.text(list.issuedAt))\(end)  \(entries.isEmpty ? "revokes nothing" : entries)"
                    + (list.revokesIssuer ? ", withdraws its issuer" : ""))
        }
        if status.lists.isEmpty { lines.append("list       none") }
        return lines
    }
}
