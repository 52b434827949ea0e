import Glibc
import NshCommandLine
import NshTrust

/// The command-line tool: finds the verb, runs it, reports how it ended.
package enum Tool {
    /// Runs a command line.
    ///
    /// - Parameter words: The program's name and its arguments; nil for one that is not UTF-8.
    /// - Returns: The exit status: 0 accepted or done, 1 refused, 2 wrong usage, 3 could not decide.
    package static func run(_ words: [String?]) -> Int32 {
        prepareProcess()
        let environment = Environment.process
        var arguments = Arguments()
        do {
            let words = try checked(words.dropFirst())
            let (verb, rest) = try select(words)
            arguments = try ArgumentParser.arguments(rest, of: verb.syntax)
            let console = Console(arguments, environment: environment)
            return run(
                Invocation(verb: verb, arguments: arguments, console: console, environment: environment)
            ).rawValue
        } catch {
            Console.standardError("nsh-pkgtool: \(error.message)")
            if let hint = error.hint { Console.standardError("hint: \(hint)") }
            return ExitStatus.usage.rawValue
        }
    }

    private static func run(_ invocation: Invocation) -> ExitStatus {
        let console = invocation.console
        do {
            let status: ExitStatus
            do {
                if invocation.arguments.has("help") {
                    try console.raw(Array(Help.text(of: invocation.verb).utf8))
                    status = .done
                } else {
                    status = try invocation.verb.run(invocation)
                }
            } catch let failure as OutputFailure {
                throw failure
            } catch {
                status = try report(error, invocation)
            }
            try console.flush()
            // An interrupted run ends as the signal would have ended it, now that everything is cleaned up.
            if status == .undecided { Interruption.resume() }
            return status
        } catch {
            let what = "cannot write to standard output"
            let text = (error as? OutputFailure).map { SystemCall.trouble($0.number, what).message } ?? "\(error)"
            Console.standardError("nsh-pkgtool: \(text)")
            return .undecided
        }
    }

    /// Reports what ended a verb as a whole.
    private static func report(_ error: any Error, _ invocation: Invocation) throws(OutputFailure) -> ExitStatus {
        let console = invocation.console
        if let error = error as? UsageError {
            try console.error(error.message)
            try console.hint(error.hint ?? "nsh-pkgtool help \(invocation.verb.name)")
            return .usage
        }
        let failure = Failure(error)
        if console.isJSON, invocation.verb.judgedOperands > 0 {
            for file in invocation.arguments.operands.prefix(invocation.verb.judgedOperands) {
                try console.json(failure.object(file: file))
            }
        } else if console.isJSON {
            try console.json([
                "verb": .text(invocation.verb.name), "verdict": .text(failure.kind.rawValue),
                "code": .text(failure.code), "message": .text(failure.message),
            ])
        }
        try console.error("\(failure.code): \(failure.message)")
        // What a refused input needs depends on the verb; the code's own advice is for those who verify.
        let help = failure.status == .usage ? "nsh-pkgtool help \(invocation.verb.name)" : nil
        try console.hint(help ?? (failure.kind == .error ? failure.advice : failure.hint))
        return failure.status
    }

    private static func select(_ words: [String]) throws(UsageError) -> (Verb, [String]) {
        switch words.first {
        case "--help", "-h": (HelpVerb.verb, Array(words.dropFirst()))
        case "--version", "-V": (HelpVerb.version, Array(words.dropFirst()))
        default: try CommandLineParser.verb(words, among: VerbTable.all)
        }
    }

    private static func checked(_ words: ArraySlice<String?>) throws(UsageError) -> [String] {
        var checked: [String] = []
        for (index, word) in words.enumerated() {
            guard let word else { throw UsageError("argument \(index + 1) is not UTF-8 text") }
            checked.append(word)
        }
        return checked
    }

    private static func prepareProcess() {
        // A reader that goes away is an error of writing, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that grows over the process's limit.
        signal(SIGXFSZ, SIG_IGN)
        // Swift's runtime takes SIGQUIT for its crash reports, which wait for a key on a terminal.
        signal(SIGQUIT, SIG_DFL)
        // Without these three, the next file opened would be standard output. Reading alone: writing to it fails.
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
            guard open("/dev/null", O_RDONLY) == descriptor else { exit(ExitStatus.undecided.rawValue) }
        }
    }
}
