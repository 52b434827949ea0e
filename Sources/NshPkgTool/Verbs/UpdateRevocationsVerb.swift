import NshCommandLine
import NshPublishing
import NshTrust
import NshTrustWire

/// `update-revocations`: a list comes into force.
enum UpdateRevocationsVerb {
    static let verb = Verb(
        name: "update-revocations",
        operands: [Operand(name: "LIST", kind: .file([".json"]), help: "a revocation list")],
        summary: "apply a revocation list to a trust store, and say which installed apps it stops",
        details: [
            "A list counts when a trusted root has issued and signed it and it is newer than that root’s list in force. Once "
                + "applied it stays in force for every program that uses the store."
        ],
        options: [
            .state, .socket, .flag("dry-run", nil, "say what would happen, and write nothing"), .root, .threshold,
        ],
        choices: [.store],
        examples: [
            "nsh-pkgtool update-revocations list-2.json --state store --root root.pub --dry-run"
        ],
        judgedOperands: 1,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let isRehearsal = invocation.arguments.has("dry-run")
        let place = try StorePlace.required(by: invocation)
        let door = try PackageDoors.find(invocation, place, isRehearsal ? .reads : .writes)
        do {
            let bytes = try InputFile.read(
                file, limit: Int(Limits().revocationListBytes), what: "the revocation list")
            try door.prepare()
            let update = try door.applyRevocations(consume bytes)
            try report(RevocationUpdateDocument(update, isRehearsal: isRehearsal, file: file), console)
            return .done
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            var reporter = VerdictReporter(console: console, rootFiles: [:], now: door.now)
            try reporter.failed(file, error)
            return reporter.status
        }
    }

    private static func report(
        _ document: RevocationUpdateDocument, _ console: Console
    ) throws(OutputFailure) {
        let (update, isRehearsal) = (document.update, document.isRehearsal)
        var lines = ["\(console.paint.good("OK"))  \(Terminal.safe(document.file ?? "")): \(document.message)"]
        for app in update.stoppedApps {
            lines.append("    \(isRehearsal ? "would stop" : "stops") \(Terminal.safe(app))")
        }
        if isRehearsal, update.changed, update.stoppedApps.isEmpty {
            lines.append("    no installed app would be stopped")
        }
        try console.answer(document.object, text: lines.joined(separator: "\n"))
        for warning in update.warnings { try console.warning(warning) }
    }
}
