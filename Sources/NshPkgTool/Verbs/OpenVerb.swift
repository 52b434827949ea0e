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
                + "opened from its header, whatever its size. A refusal is written into the log, and changes nothing else.",
            "With a socket the daemon judges and keeps the files: with its store, its roots and its policy.",
        ],
        options: [.state, .socket] + Judging.shared,
        choices: [.store],
        examples: ["nsh-pkgtool open orders-6.nshpkg --state store --root root.pub"],
        judgedOperands: 1,
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let door = try PackageDoors.find(invocation, try StorePlace.required(by: invocation), .writes)
        // A file that is not there must not leave an empty store behind.
        _ = try PackageFile.open(file)
        try door.prepare()
        var reporter = VerdictReporter(
            console: console, rootFiles: console.isVerbose ? try door.rootFiles() : [:], now: door.now)
        let bar = ProgressBar(Terminal.safe(file), isWanted: !console.isQuiet)
        Interruption.remember()
        do {
            let (report, directory) = try door.open(file, bar.monitor)
            bar.finish()
            try reporter.accepted(file, report, directory: directory)
        } catch let failure as OutputFailure {
            throw failure
        } catch {
            bar.finish()
            try reporter.failed(file, error)
        }
        return reporter.status
    }
}
