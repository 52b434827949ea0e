import NshCommandLine
import NshTrust

/// `inspect`: what a file says, and whether that is verified.
enum InspectVerb {
    static let verb = Verb(
        name: "inspect",
        operands: [
            Operand(
                name: "FILE", kind: .file([".nshpkg", ".cert", ".pub", ".secret", ".json"]), count: .oneOrMore,
                help: "a package, certificate, revocation list or key file; - reads standard input")
        ],
        summary: "show what a file says, verified or not, and say which",
        details: [
            "The first line says whether the signatures were verified. Without --root nothing is: what follows is only what the "
                + "file claims. The payload of a package is not read; nsh-pkgtool verify reads it."
        ],
        options: [.root, .threshold, .at],
        examples: ["nsh-pkgtool inspect release.cert --root root.pub", "nsh-pkgtool inspect app.nshpkg"],
        judgedOperands: .max,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        // One of the files may be a secret key.
        try ProcessGuard.forbidCoreDumps()
        let roots = RootLookup.find(options: invocation.arguments.values("root"), environment: invocation.environment)
        for bad in roots.bad { try invocation.console.warning("\(Terminal.safe(bad.path)): \(bad.failure.message)") }
        let inspection = Inspection(
            roots: roots, policy: try Judging.options(invocation.arguments).policy(),
            clock: try Judging.clock(invocation.arguments).now())
        var status = ExitStatus.done
        for (index, file) in invocation.arguments.operands.enumerated() {
            if index > 0, !invocation.console.isJSON { try invocation.console.line("") }
            status = max(status, try inspect(file, inspection, invocation.console))
        }
        return status
    }

    private static func inspect(
        _ file: String, _ inspection: Inspection, _ console: Console
    ) throws(OutputFailure) -> ExitStatus {
        do {
            let inspected = try InspectedFile.read(file)
            let description = try inspected.description()
            let finding = inspection.judge(inspected)
            if console.isJSON {
                try console.json(object(file, description, finding))
            } else {
                try show(file, description, finding, console)
            }
            if case .refused = finding { return .refused }
            return .done
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            let failure = Failure(error)
            if console.isJSON {
                try console.json(failure.object(file: file))
            } else {
                try console.line(VerdictReporter.line(failure, file: file, paint: console.paint))
            }
            try console.hint(failure.code == RefusalCode.unsupportedFormat.rawValue ? nil : failure.advice)
            return failure.status
        }
    }

    private static func show(
        _ file: String, _ description: Description, _ finding: Inspection.Finding, _ console: Console
    ) throws(OutputFailure) {
        switch finding {
        case .verified(let text): try console.line(console.paint.good("verified") + ": \(text)")
        case .refused(let failure):
            try console.line(console.paint.bad("not verified") + ": \(failure.code): \(failure.message)")
            try console.hint(failure.advice)
        case .unverified(let text): try console.line(console.paint.odd("not verified") + ": \(text)")
        case .unsigned: break
        }
        try console.line("\(Terminal.safe(file)): \(description.title)")
        let column = (description.rows.map(\.label.count).max() ?? 0) + 4
        for row in description.rows {
            let label = row.value.isEmpty ? "  \(row.label)" : HelpLayout.pad("  \(row.label)", to: column)
            try console.line(label + row.value)
        }
    }

    private static func object(
        _ file: String, _ description: Description, _ finding: Inspection.Finding
    ) -> JSONObject {
        var object = JSONObject()
        object.append("file", .text(file))
        object.append("kind", .text(description.kind))
        switch finding {
        case .verified(let text):
            object.append("verdict", .text("accepted"))
            object.append("code", .null)
            object.append("message", .text(text))
        case .refused(let failure):
            object.append("verdict", .text(failure.kind.rawValue))
            object.append("code", .text(failure.code))
            object.append("message", .text(failure.message))
        case .unverified(let text):
            object.append("verdict", .text("unverified"))
            object.append("code", .null)
            object.append("message", .text(text))
        case .unsigned:
            object.append("verdict", .text("unsigned"))
            object.append("code", .null)
            object.append("message", .text("a key file is not signed by anybody"))
        }
        object.append("says", .object(description.object))
        return object
    }
}
