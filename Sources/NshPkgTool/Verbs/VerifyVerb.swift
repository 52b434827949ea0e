import NshCommandLine
import NshTrust

/// `verify`: judges packages whole and changes nothing.
enum VerifyVerb {
    static let verb = Verb(
        name: "verify",
        operands: [
            Operand(
                name: "FILE", kind: .file([".nshpkg"]), count: .oneOrMore, help: "a package; - reads standard input")
        ],
        summary: "check packages whole, and change nothing",
        details: [
            "Everything is checked: roots, certificate, signature, rules, and every byte of the payload. With a state directory "
                + "the lists and accepted builds of its store count too; nothing is written there, and none is made."
        ],
        options: Judging.unrecorded + [.state],
        examples: [
            "nsh-pkgtool verify orders-6.nshpkg",
            "nsh-pkgtool verify -v *.nshpkg --root root.pub --revocations list-2.json",
            "curl -s https://example.com/orders.nshpkg | nsh-pkgtool verify - --json",
        ],
        judgedOperands: .max,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let files = invocation.arguments.operands
        guard files.filter({ $0 == "-" }).count <= 1 else { throw UsageError("standard input can be read once") }
        let judging = try Judging(invocation)
        let core = try Judging.state(invocation).map {
            try PinnedStore.open($0, judging, isReadOnly: true, console)
        }
        var reporter = VerdictReporter(console: console, roots: judging.roots, now: judging.clock.now())
        Interruption.remember()
        for file in files where Interruption.signal == 0 {
            let bar = ProgressBar(Terminal.safe(file), isWanted: !console.isQuiet)
            do {
                let report = try verify(file, judging, core, bar.monitor)
                bar.finish()
                try reporter.accepted(file, report)
            } catch let failure as OutputFailure {
                throw failure
            } catch {
                bar.finish()
                try reporter.failed(file, error)
            }
        }
        return reporter.status
    }

    private static func verify(
        _ file: String, _ judging: Judging, _ core: TrustCore?, _ monitor: Monitor
    ) throws -> NshReport {
        let isStandardInput = file == "-"
        if let core {
            guard isStandardInput else { return try core.verify(path: file, lists: judging.lists, monitor: monitor) }
            var input = StandardInput()
            return try core.verify(&input, lists: judging.lists, monitor: monitor)
        }
        let verification = try judging.verification()
        if isStandardInput {
            var input = StandardInput()
            return try verification.report(&input, store: nil, monitor: monitor)
        }
        var input = FileInput(try PackageFile.open(file))
        return try verification.report(&input, store: nil, monitor: monitor)
    }
}
