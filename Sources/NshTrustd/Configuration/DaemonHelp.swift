import NshCommandLine

/// What the daemon says about its command line.
enum DaemonHelp {
    private static let column = 32

    /// The text of `--help`.
    static var text: String {
        var lines = [
            "usage: nsh-trustd --state DIR [options]", "",
            "Answers, over a Unix socket, whether packages may be opened and run, and keeps the trust store they are",
            "judged by.", "", "options:",
        ]
        for option in DaemonOptions.syntax.options {
            lines += HelpLayout.row(HelpLayout.label(option), HelpLayout.help(option), column: column)
        }
        lines += ["", "Signals: SIGHUP reads roots and lists again, SIGTERM finishes what is under way and leaves."]
        return lines.joined(separator: "\n") + "\n"
    }
}
