import NshPublishing
import NshTrust

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
        let rotation = Rotation(
            old: try arguments.values("old").map { try KeyFiles.publicKey(at: $0) },
            new: try arguments.values("new").map { try KeyFiles.publicKey(at: $0) },
            policy: try Judging.options(arguments).policy(), clock: WallClock.system.now())
        var status = ExitStatus.done
        for file in files { status = max(status, try report(file, rotation, invocation.console)) }
        return status
    }

    private static func report(
        _ file: String, _ rotation: Rotation, _ console: Console
    ) throws(OutputFailure) -> ExitStatus {
        var object = JSONObject()
        object.append("file", .text(file))
        do {
            let found = try SignedFile.read(file)
            let certificate = found.certificate ?? found.document
            let outcome = try rotation.judge(certificate)
            object.append("verdict", .text(outcome.failure == nil ? "accepted" : "refused"))
            object.append("code", outcome.failure.map { .text($0.code) } ?? .null)
            object.append("message", .text(outcome.message))
            object.append("old", .array(outcome.old.map { .text($0.hash.hex) }))
            object.append("new", .array(outcome.new.map { .text($0.hash.hex) }))
            if console.isJSON {
                try console.json(object)
            } else if let failure = outcome.failure {
                try console.line(VerdictReporter.line(failure, file: file, paint: console.paint))
            } else if !console.isQuiet {
                try console.line("\(console.paint.good("OK"))  \(Terminal.safe(file)): \(outcome.message)")
            }
            guard outcome.failure != nil else { return .done }
            try console.hint(
                "before hosts change: nsh-pkgtool cosign CERTIFICATE --root NEW.secret, then nsh-pkgtool recertify each package"
            )
            return .refused
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            let failure = Failure(error)
            if console.isJSON {
                try console.json(VerdictReporter.object(file: file, failure: failure, report: nil, extra: .init()))
            } else {
                try console.line(VerdictReporter.line(failure, file: file, paint: console.paint))
            }
            return failure.status
        }
    }
}

/// A change of roots, and what it does to a certificate.
private struct Rotation {
    let old: [PublicKey]
    let new: [PublicKey]
    let policy: Policy
    let clock: Int64

    struct Outcome {
        let old: [PublicKey]
        let new: [PublicKey]
        let failure: Failure?
        let message: String
    }

    /// Judges a certificate under both sets of roots.
    ///
    /// - Throws: `malformed` when it is no certificate.
    func judge(_ document: SignedDocument) throws -> Outcome {
        let publisher = Terminal.safe(try document.certificate().publisher.text)
        let signedOld = Signers(of: document.envelope, among: old).keys
        let signedNew = Signers(of: document.envelope, among: new).keys
        let names = "signed by \(named(signedOld, "old")), \(named(signedNew, "new"))"
        do {
            try verify(document, under: new)
            return Outcome(old: signedOld, new: signedNew, failure: nil, message: "\(publisher): \(names)")
        } catch let refusal as Refusal {
            let more = refusal.code == .untrustedRoot ? "" : "; \(refusal.message)"
            let message = "\(publisher) would be stranded: \(names)\(more)"
            return Outcome(
                old: signedOld, new: signedNew, failure: Failure(.refused, refusal.code.rawValue, message),
                message: message)
        }
    }

    private func verify(_ document: SignedDocument, under roots: [PublicKey]) throws {
        let judge = try Judge(policy: policy, pinned: roots, state: EmptyTrustState(), clock: clock)
        var established = Established()
        _ = try Examination(roots: roots, judge: judge).verifyCertificate(document.bytes, established: &established)
    }

    private func named(_ keys: [PublicKey], _ which: String) -> String {
        keys.isEmpty ? "no \(which) root" : "\(which) root " + keys.map(\.id).joined(separator: " and ")
    }
}
