import NshCommandLine
import NshPublishing
import NshTrust
import NshTrustWire

/// `rotate --check`: who would be stranded when hosts pin other roots.
enum RotateVerb {
    static let verb = Verb(
        name: "rotate",
        summary: "say which certificates and packages would be refused when hosts change their roots",
        details: [
            "Hosts that pin the old roots today will pin the new ones. A certificate that the new roots have not signed strands "
                + "its publisher: let a new root cosign it, and put it into packages that exist with recertify, before hosts "
                + "change. Nothing is written."
        ],
        options: [
            .flag("check", nil, "check; this is all that rotate does"),
            .value(
                "old", nil, "FILE", .file([".pub"]), required: true, repeatable: true,
                help: "a root that hosts pin today"),
            .value(
                "new", nil, "FILE", .file([".pub"]), required: true, repeatable: true,
                help: "a root that hosts will pin"),
            .value("certificate", nil, "FILE", .file([".cert"]), repeatable: true, help: "a certificate in use"),
            .value("package", nil, "FILE", .file([".nshpkg"]), repeatable: true, help: "a package in use"),
            .threshold,
        ],
        examples: [
            "nsh-pkgtool rotate --check --old root.pub --new root2.pub --certificate release.cert --package orders-6.nshpkg"
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        guard arguments.has("check") else {
            throw UsageError("rotate needs --check: it says who would be stranded, and changes nothing")
        }
        let files = arguments.values("certificate") + arguments.values("package")
        guard !files.isEmpty else { throw UsageError("rotate needs --certificate or --package: what is in use") }
        let rotation = try RotationCheck(
            oldRoots: try arguments.values("old").map { try KeyFiles.publicKeyText(readingFile: $0) },
            newRoots: try arguments.values("new").map { try KeyFiles.publicKeyText(readingFile: $0) },
            threshold: try Judging.options(arguments).rootThreshold)
        var status = ExitStatus.done
        for file in files { status = max(status, try report(file, rotation, invocation.console)) }
        return status
    }

    private static func report(
        _ file: String, _ rotation: RotationCheck, _ console: Console
    ) throws(OutputFailure) -> ExitStatus {
        let row: RotationCheck.Row?
        let failure: Failure?
        do {
            row = try rotation.rows([(file, try SignedFile.certificate(file))]).first
            // Who is not trusted today loses nothing; who will not be any more is stranded.
            let isStranded = row.map { $0.outcome == .stranded || $0.outcome == .untrusted } ?? false
            failure = isStranded ? Failure(.refused, RefusalCode.untrustedRoot.rawValue, row?.message ?? "") : nil
        } catch {
            row = nil
            failure = Failure(error)
        }
        if console.isJSON {
            var object =
                failure?.object(file: file)
                ?? [
                    "file": .text(file), "verdict": .text(Verdict.accepted.rawValue), "code": .null,
                    "message": .text(""),
                ]
            if let row {
                object["message"] = .text(row.message)
                object.append("outcome", .text(row.outcome.rawValue))
                object.append("oldSigners", .array(row.oldSigners.map { .text($0) }))
                object.append("newSigners", .array(row.newSigners.map { .text($0) }))
            }
            try console.json(object)
        } else if let failure {
            try console.line(VerdictReporter.line(failure, file: file, paint: console.paint))
        } else if let row, !console.isQuiet {
            let word = row.outcome == .newOnly ? console.paint.odd("OK") : console.paint.good("OK")
            try console.line("\(word)  \(Terminal.safe(file)): \(row.message)")
        }
        return failure?.status ?? .done
    }
}
