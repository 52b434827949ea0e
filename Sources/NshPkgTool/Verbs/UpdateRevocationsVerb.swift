import NshCommandLine
import NshPublishing
import NshTrust

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
        options: [.state, .flag("dry-run", nil, "say what would happen, and write nothing"), .root, .threshold],
        examples: [
            "nsh-pkgtool update-revocations list-2.json --state store --root root.pub --dry-run"
        ],
        judgedOperands: 1,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let isRehearsal = invocation.arguments.has("dry-run")
        let state = try Judging.requiredState(invocation)
        let judging = try Judging(invocation)
        do {
            let limit = Int(judging.options.limits.revocationListBytes)
            let bytes = try InputFile.read(file, limit: limit, what: "the revocation list").bytes
            let core = try PinnedStore.open(state, judging, isReadOnly: isRehearsal, console)
            let update = try core.applyRevocations(bytes, dryRun: isRehearsal)
            try report(file, update, isRehearsal: isRehearsal, console)
            return .done
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            var reporter = VerdictReporter(console: console, roots: judging.roots, now: judging.clock.now())
            try reporter.failed(file, error)
            return reporter.status
        }
    }

    private static func report(
        _ file: String, _ update: NshRevocationUpdate, isRehearsal: Bool, _ console: Console
    ) throws(OutputFailure) {
        let what = update.changed ? (isRehearsal ? "would be applied" : "applied") : "in force already"
        let message = "list \(update.sequence) of root \(update.issuer.prefix(16)) \(what)"
        var lines = ["\(console.paint.good("OK"))  \(Terminal.safe(file)): \(message)"]
        for app in update.stoppedApps {
            lines.append("    \(isRehearsal ? "would stop" : "stops") \(Terminal.safe(app))")
        }
        if isRehearsal, update.changed, update.stoppedApps.isEmpty {
            lines.append("    no installed app would be stopped")
        }
        try console.answer(
            [
                "file": .text(file), "verdict": .text("accepted"), "code": .null, "message": .text(message),
                "issuer": .text(update.issuer), "sequence": .integer(update.sequence),
                "changed": .boolean(update.changed), "dryRun": .boolean(isRehearsal),
                "stoppedApps": .array(update.stoppedApps.map { .text($0) }),
                "warnings": .array(update.warnings.map { .text($0) }),
            ],
            text: lines.joined(separator: "\n"))
        for warning in update.warnings { try console.warning(warning) }
    }
}
