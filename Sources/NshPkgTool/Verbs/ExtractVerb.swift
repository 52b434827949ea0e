import NshCommandLine
import NshTrust

/// `extract`: verified files, and no store.
enum ExtractVerb {
    static let verb = Verb(
        name: "extract",
        operands: [
            Operand(name: "FILE", kind: .file([".nshpkg"]), help: "a package; - reads standard input"),
            Operand(name: "DIR", kind: .directory, help: "the directory to make; it must not be there"),
        ],
        summary: "check a package and extract it into a new directory; no store is asked or written",
        details: [
            "The directory appears under its name when everything has been checked, and not before. Older builds are not "
                + "refused: nothing is remembered."
        ],
        options: Judging.unrecorded,
        examples: ["nsh-pkgtool extract orders-6.nshpkg orders --root root.pub"],
        judgedOperands: 1,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let target = try invocation.arguments.operand(1)
        let judging = try Judging(invocation)
        let verification = try judging.verification()
        var reporter = VerdictReporter(console: console, rootFiles: judging.roots.files, now: judging.clock.now())
        let bar = ProgressBar(Terminal.safe(file), isWanted: !console.isQuiet)
        Interruption.remember()
        do {
            let tree = try NewTree(at: target)
            let report: NshReport
            if file == "-" {
                var input = StandardInput()
                report = try verification.report(&input, store: nil, sink: try tree.makeSink(), monitor: bar.monitor)
            } else {
                var input = FileInput(try PackageFile.open(file))
                report = try verification.report(&input, store: nil, sink: try tree.makeSink(), monitor: bar.monitor)
            }
            try tree.keep()
            bar.finish()
            try reporter.accepted(file, report, directory: target)
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            bar.finish()
            try reporter.failed(file, error)
        }
        return reporter.status
    }
}
