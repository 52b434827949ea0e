import NshCommandLine
import NshTrust
import NshTrustWire

/// The daemon's manual page, in the macros of man(7).
enum DaemonManual {
    /// The page.
    static var text: String {
        var lines = [
            ".\\\" Made by `nsh-trustd --manual`; do not edit.",
            ".TH NSH\\-TRUSTD 8 \"\" \"nsh\\-trustd \(NshTrust.version)\" \"System Administration\"",
            ".ad l", ".SH NAME", "nsh\\-trustd \\- decide which signed packages may be opened and run",
            ".SH SYNOPSIS", ".B nsh\\-trustd", "\\-\\-state", ".I DIR", "[options]", ".SH DESCRIPTION",
        ]
        lines += paragraphs.flatMap { [Roff.escape($0), ".PP"] }.dropLast()
        lines += [".SH OPTIONS"] + DaemonOptions.syntax.options.flatMap(Roff.entry)
        for (title, rows) in [("SIGNALS", signals), ("EXIT STATUS", statuses), ("FILES", files)] {
            lines.append(".SH \(title)")
            for (name, meaning) in rows { lines += [".TP", ".B \(Roff.escape(name))", Roff.escape(meaning)] }
        }
        lines += [".SH SEE ALSO", ".BR nsh\\-pkgtool (1)"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static let paragraphs = [
        "Engines ask the daemon before they run a package, a distribution backend asks it about uploads, builds and "
            + "revocations, operators watch it. It speaks HTTP/1.1 with JSON over a Unix socket and listens nowhere else; "
            + "curl --unix-socket and nsh-pkgtool --socket are clients. It runs in the foreground, logs to standard error, and "
            + "tells a service manager when it is ready and that it is alive.",
        "Who may do what is decided by the user and the groups that the kernel names for a connection. Whoever can connect "
            + "may verify packages and read; engines may also open packages and ask whether they may run; administrators may "
            + "also apply revocation lists and change the store. Root and the daemon’s own user are administrators. A path "
            + "that a client names is opened with the client’s rights, which takes root or the capabilities CAP_SETUID and "
            + "CAP_SETGID; without them only the daemon’s own user may name paths, everybody else sends the bytes.",
        "Roots and lists are read at the start, at SIGHUP, and within about a second of a change of their files. A file "
            + "that cannot be used is passed over, logged, and named by the request /v1/status. Write such files beside and rename "
            + "them: a half-written one is passed over, too. What the system or a busy store keeps from being read is tried again "
            + "after two seconds, and then at intervals that grow up to some minutes.",
    ]

    private static let signals = [
        ("SIGHUP", "Reads roots and lists again."),
        ("SIGTERM, SIGINT", "Takes no more requests, finishes what is under way, and leaves."),
    ]

    private static let statuses = [
        ("0", "It was told to stop, or has printed what was asked for."), ("2", "The command line is wrong."),
        ("3", "It could not start; the last line of the log says why."),
    ]

    private static let files = [
        (DaemonSocket.defaultPath, "The socket."),
        (
            DaemonOptions.defaultRoots,
            "The root keys, *.pub: the directory and the files belong to root or to the daemon’s "
                + "user and nobody else may write them."
        ),
        ("/etc/nsh-trust/revocations.d", "Revocation lists, when the service is installed as it is shipped."),
        ("/etc/default/nsh-trustd", "NSH_TRUSTD_OPTIONS, further options for the service."),
    ]
}
