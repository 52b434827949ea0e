import NshCommandLine
import NshTrust

/// The manual page, in the macros of man(7), made from the table of verbs.
enum ManualPage {
    /// The page.
    static var text: String {
        var lines = [
            ".\\\" Made by `nsh-pkgtool document man`; do not edit.",
            ".TH NSH\\-PKGTOOL 1 \"\" \"nsh\\-pkgtool \(NshTrust.version)\" \"User Commands\"",
            ".ad l", ".SH NAME", "nsh\\-pkgtool \\- make, check and open signed packages",
            ".SH SYNOPSIS", ".B nsh\\-pkgtool", ".I VERB", "[operands] [options]",
            ".SH DESCRIPTION",
            Roff.escape(
                "A publisher signs a directory into one .nshpkg file. A host that pins the publisher's root key verifies the "
                    + "file, extracts it, and from then on refuses tampered, revoked and older ones. Options and operands may "
                    + "come in any order after the verb; “--” ends the options. Names of options are never abbreviated."
            ),
            ".SH VERBS",
        ]
        for verb in VerbTable.shown { lines += section(of: verb) }
        lines += [".SH OPTIONS OF EVERY VERB"] + Option.common.flatMap(Roff.entry)
        lines += [
            ".SH TIMES",
            Roff.escape(
                "A TIME is seconds since 1970 or RFC 3339 with “Z”, such as 2026-11-03T10:00:00Z. A DURATION is seconds, "
                    + "or a number with s, m, h or d."),
            ".SH EXIT STATUS",
        ]
        for (status, meaning) in statuses { lines += [".TP", ".B \(status)", Roff.escape(meaning)] }
        lines += [
            Roff.escape("Of several files the greatest counts."),
            ".SH ENVIRONMENT",
        ]
        for (name, meaning) in variables { lines += [".TP", ".B \(name)", Roff.escape(meaning)] }
        lines += [".SH FILES"]
        for (name, meaning) in files { lines += [".TP", ".I \(Roff.escape(name))", Roff.escape(meaning)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let statuses = [
        ("0", "Everything was accepted or done."), ("1", "Something was refused."), ("2", "The command line is wrong."),
        ("3", "It could not be decided: reading or writing failed, the store stood in the way, or no root is trusted."),
    ]

    /// The variables that the tool reads, with what they mean.
    static let variables = [
        ("NSH_TRUST_ROOTS", "Root key files or directories of them, with “:” between, when no --root is given."),
        ("NSH_TRUST_STATE", "The state directory of the trust store, when neither --state nor --socket is given."),
        (
            "NSH_TRUST_SOCKET",
            "The socket of the daemon that keeps the trust store, when neither of these nor $NSH_TRUST_STATE says where one is."
        ),
        ("NO_COLOR", "When set, nothing is coloured."),
        (
            "SOURCE_DATE_EPOCH",
            "The time at which publish says it signs, for packages that can be made again byte for byte."
        ),
        ("XDG_CONFIG_HOME, HOME", "Where the user's roots.d is."),
    ]

    private static let files = [
        ("~/.config/nsh-trust/roots.d/*.pub", "Roots that the user trusts."),
        ("/etc/nsh-trust/roots.d/*.pub", "Roots that the machine trusts, when the user has none."),
    ]

    private static func section(of verb: Verb) -> [String] {
        var lines = [".SS \(Roff.escape(verb.name))", ".nh", ".RS", Roff.escape(verb.usage), ".RE", ".hy", ".PP"]
        lines.append(Roff.escape(Help.sentence(verb.summary)))
        for paragraph in verb.details { lines += [".PP", Roff.escape(paragraph)] }
        for operand in verb.operands {
            lines += [".TP", ".I \(Roff.escape(operand.synopsis))", Roff.escape(operand.help)]
        }
        lines += verb.options.flatMap(Roff.entry)
        if !verb.examples.isEmpty {
            lines += [".PP", ".nf"] + verb.examples.flatMap(Help.example).map(Roff.escape) + [".fi"]
        }
        return lines
    }
}
