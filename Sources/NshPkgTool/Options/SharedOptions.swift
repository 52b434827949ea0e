import NshCommandLine
import NshTrust

extension Option {
    /// Trusted roots.
    static let root = value(
        "root", nil, "FILE", .file([".pub"]), repeatable: true,
        help: "trust this root: a .pub file, or a directory of them; else see nsh-pkgtool roots")
    /// How many roots must have signed.
    static let threshold = value(
        "threshold", nil, "N", help: "ask for the signatures of this many roots on a certificate")
    /// Lists to honour.
    static let revocations = value(
        "revocations", nil, "FILE", .file([".json", ".list"]), repeatable: true,
        help: "honour this revocation list too; of one root the newest counts")
    /// The trust store.
    static let state = value(
        "state", nil, "DIR", .directory, help: "the state directory of the trust store; else $NSH_TRUST_STATE")
    /// The daemon that keeps the trust store.
    static let socket = value(
        "socket", nil, "PATH", .file([".sock"]),
        help: "ask the daemon at this socket instead; else $NSH_TRUST_SOCKET where no state directory is named")
    /// The time of the decision.
    static let at = value("at", nil, "TIME", help: "judge as of this time instead of now")
    /// Expiry at signing.
    static let atSigning = flag("at-signing", nil, "accept a certificate that has expired since it signed")
    /// The host's runtime.
    static let runtime = value("runtime", nil, "V", help: "the host's runtime version, such as 0.5.0")
    /// Freshness of lists.
    static let maximumListAge = value(
        "max-list-age", nil, "DURATION", help: "ask for a list of each root that is not older, such as 7d")
    /// Where the result goes.
    static let output = value(
        "output", "o", "FILE", .file([]), required: true,
        help: "the file to write; replaced when it is there")
    /// The passphrase.
    static let passwordFile = value(
        "password-file", nil, "FILE", .file([]), help: "read the passphrase from this file")
}
