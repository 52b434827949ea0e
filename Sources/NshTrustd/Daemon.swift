import Glibc
import NshCommandLine
import NshTrust

/// The daemon: reads its command line, brings everything up, serves until it is told to stop.
package enum Daemon {
    /// Runs the daemon.
    ///
    /// - Parameter words: The program's name and its arguments; nil for one that is not UTF-8.
    /// - Returns: The exit status: 0 after it was told to stop or has answered, 2 wrong usage, 3 when it could not start.
    package static func run(_ words: [String?]) -> Int32 {
        // Before anything else: threads inherit what is held back here.
        Signals.hold()
        ProcessMemory.keepSmall()
        keepStandardDescriptors()
        do {
            let words = try words.dropFirst().map { word throws(UsageError) in
                guard let word else { throw UsageError("an argument is not UTF-8 text") }
                return word
            }
            let arguments = try ArgumentParser.arguments(words, of: DaemonOptions.syntax)
            if let text = answer(arguments) {
                print(text, terminator: "")
                return 0
            }
            return serve(try DaemonOptions(arguments))
        } catch {
            say("nsh-trustd: \(error.message)")
            if let hint = error.hint { say("hint: \(hint)") }
            return 2
        }
    }

    /// What is asked for instead of serving, or nil.
    private static func answer(_ arguments: Arguments) -> String? {
        if arguments.has("help") { return DaemonHelp.text }
        if arguments.has("version") { return "nsh-trustd \(NshTrust.version)\n" }
        if arguments.has("manual") { return DaemonManual.text }
        if arguments.has("openapi") { return String(decoding: OpenAPI.document, as: UTF8.self) }
        return nil
    }

    private static func serve(_ options: DaemonOptions) -> Int32 {
        let log = Log(format: options.logFormat)
        do {
            let running = try RunningDaemon(options, log)
            running.untilToldToStop()
            return 0
        } catch {
            let error = NshError(wrapping: error)
            log.write(.error, "cannot start: \(error.message)", ["code": .text(error.code.rawValue)])
            return 3
        }
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Without these three, the next file opened would be standard error.
    private static func keepStandardDescriptors() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
            guard open("/dev/null", O_RDWR) == descriptor else { exit(3) }
        }
    }
}
