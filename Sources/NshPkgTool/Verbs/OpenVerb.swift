import FoundationEssentials
import NshCommandLine
import NshTrust

/// `open`: verify, extract, accept.
enum OpenVerb {
    static let verb = Verb(
        name: "open",
        operands: [Operand(name: "FILE", kind: .file([".nshpkg"]), help: "a package")],
        summary: "check a package, extract it and accept its build: older ones are refused from then on",
        details: [
            "The files lie in the state directory afterwards; the answer names where. A package that is installed already is "
                + "opened from its header, whatever its size. A refusal is written into the log, and changes nothing else."
        ],
        options: [.state] + Judging.shared,
        examples: ["nsh-pkgtool open orders-6.nshpkg --state store --root root.pub"],
        judgedOperands: 1,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let state = try Judging.requiredState(invocation)
        let judging = try Judging(invocation)
        // A file that is not there must not leave an empty store behind.
        _ = try PackageFile.open(file)
        let core = try PinnedStore.open(state, judging, isReadOnly: false, console)
        var reporter = VerdictReporter(console: console, roots: judging.roots, now: judging.clock.now())
        let bar = ProgressBar(Terminal.safe(file), isWanted: !console.isQuiet)
        Interruption.remember()
        do {
            let package = try core.open(path: file, lists: judging.lists, monitor: bar.monitor)
            bar.finish()
            try reporter.accepted(file, package.report, .init(directory: package.directory.path))
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            bar.finish()
            try reporter.failed(file, error)
        }
        return reporter.status
    }
}
