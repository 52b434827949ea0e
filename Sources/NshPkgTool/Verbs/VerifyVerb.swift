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
                + "the lists and accepted builds of its store count too; nothing is written there, and none is made.",
            "With a socket the daemon judges: with its store, its roots and its policy.",
        ],
        options: Judging.unrecorded + [.state, .socket],
        choices: [.store],
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
        let door = try PackageDoors.find(invocation, try StorePlace.named(by: invocation), .reads)
        try door.prepare()
        var reporter = VerdictReporter(
            console: console, rootFiles: console.isVerbose ? try door.rootFiles() : [:], now: door.now)
        Interruption.remember()
        for file in files where Interruption.signal == 0 {
            let bar = ProgressBar(Terminal.safe(file), isWanted: !console.isQuiet)
            do {
                let report = try door.verify(file, bar.monitor)
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
}
