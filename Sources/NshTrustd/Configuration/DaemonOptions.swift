import NshCommandLine
import NshTrust
import NshTrustWire

/// What the command line asks of the daemon.
struct DaemonOptions: Sendable {
    /// The state directory.
    var state: String
    /// The directory of root keys.
    var roots: String
    /// The directory of revocation lists; nil for none.
    var revocations: String?
    /// Where to listen, unless the service manager hands over a socket.
    var socket: String
    /// Permissions of the socket file.
    var socketMode: UInt32
    /// The name of the socket file's group.
    var socketGroup: String?
    /// Who may open and check: `USER` or `@GROUP`.
    var engines: [String]
    /// Who may change the store: `USER` or `@GROUP`.
    var admins: [String]
    /// Bytes that a package may have.
    var maximumPackageBytes: Int64
    /// How many packages are worked on at once.
    var workers: Int
    /// How many connections there may be at once.
    var connections: Int
    /// How long a client may keep the daemon waiting, in seconds.
    var clientSeconds: Double
    /// What the library is asked for.
    var trust: NshTrust.Options
    /// How the log is written.
    var logFormat: Log.Format

    /// How the command line is written.
    static let syntax = CommandSyntax(
        invocation: "nsh-trustd", name: "nsh-trustd", operands: [],
        options: [
            .value("state", nil, "DIR", .directory, help: "the state directory of the trust store; made when missing"),
            .value(
                "roots", nil, "DIR", .directory,
                help: "trust the root keys *.pub in this directory; \(defaultRoots) by default"),
            .value(
                "revocations", nil, "DIR", .directory,
                help: "apply the revocation lists *.json and *.list that lie or are dropped in this directory"),
            .value(
                "socket", nil, "PATH",
                help: "listen on this Unix socket; \(DaemonSocket.defaultPath) by default, or what the service manager "
                    + "hands over"),
            .value("socket-mode", nil, "MODE", help: "permissions of the socket, in octal; 0660 by default"),
            .value("socket-group", nil, "GROUP", help: "the group of the socket"),
            .value(
                "engine", nil, "USER|@GROUP", repeatable: true,
                help: "who may open packages and ask whether they may run, besides administrators"),
            .value(
                "admin", nil, "USER|@GROUP", repeatable: true,
                help: "who may apply lists and change the store, besides root and the daemon’s own user"),
            .value("threshold", nil, "N", help: "ask for the signatures of this many roots on a certificate"),
            .value(
                "max-list-age", nil, "DURATION", help: "ask for a list of each root that is not older, such as 7d"),
            .value(
                "max-package", nil, "BYTES",
                help: "refuse larger packages; \(ServiceSettings().maximumPackageBytes) by default"),
            .value("workers", nil, "N", help: "how many packages are worked on at once; one a processor by default"),
            .value(
                "max-connections", nil, "N",
                help: "how many connections there may be at once; \(ServerLimits().connections) by default"),
            .value(
                "client-timeout", nil, "DURATION",
                help: "how long a client may be idle or take to send a request; 30s by default"),
            .value("log-format", nil, "FORMAT", .words(Log.Format.allCases.map(\.rawValue)), help: "text or json"),
            .flag("openapi", nil, "print the description of the interface (OpenAPI 3.1) and leave"),
            .flag("manual", nil, "print the manual page and leave"),
            .flag("version", "V", "print the version and leave"),
            .flag("help", "h", "explain the options and leave"),
        ],
        commonOptions: [], choices: [], help: "nsh-trustd --help")

    /// Where roots are looked for unless the command line says otherwise.
    static let defaultRoots = "/etc/nsh-trust/roots.d"

    /// Reads a command line that the parser has taken apart.
    ///
    /// - Throws: `UsageError`.
    init(_ arguments: Arguments) throws(UsageError) {
        guard let state = arguments.value("state") else {
            throw UsageError("nsh-trustd needs --state DIR", hint: "nsh-trustd --help")
        }
        self.state = try Self.absolute(state, "state")
        roots = try Self.absolute(arguments.value("roots") ?? Self.defaultRoots, "roots")
        revocations = try arguments.value("revocations").map { text throws(UsageError) in
            try Self.absolute(text, "revocations")
        }
        socket = try Self.absolute(arguments.value("socket") ?? DaemonSocket.defaultPath, "socket")
        socketMode = try Self.mode(arguments.value("socket-mode") ?? "0660")
        socketGroup = arguments.value("socket-group")
        engines = arguments.values("engine")
        admins = arguments.values("admin")
        maximumPackageBytes =
            try Self.number(arguments, "max-package", in: 1...1 << 40)
            ?? ServiceSettings().maximumPackageBytes
        workers = Int(try Self.number(arguments, "workers", in: 1...256) ?? Int64(Processors.count))
        connections =
            try Self.number(arguments, "max-connections", in: 1...65_536).map { Int($0) }
            ?? ServerLimits().connections
        clientSeconds = try Self.duration(arguments, "client-timeout").map { Double($0) } ?? ServerLimits().headSeconds
        guard (1...3600).contains(clientSeconds) else {
            throw UsageError("--client-timeout is 1s to 1h", hint: "nsh-trustd --help")
        }
        logFormat = arguments.value("log-format").flatMap(Log.Format.init) ?? .text
        trust = NshTrust.Options()
        // A client of the daemon has a time limit of its own; a busy store is said sooner than to an operator's tool.
        trust.busyTimeoutSeconds = 10
        if let threshold = try Self.number(arguments, "threshold", in: 1...16) { trust.rootThreshold = Int(threshold) }
        trust.maximumListAgeSeconds = try Self.duration(arguments, "max-list-age")
    }

    private static func absolute(_ path: String, _ name: String) throws(UsageError) -> String {
        guard path.utf8.first == 0x2F else {
            throw UsageError("--\(name) must be an absolute path, not “\(Printable.escaped(path))”")
        }
        return path
    }

    private static func mode(_ text: String) throws(UsageError) -> UInt32 {
        guard let mode = UInt32(text, radix: 8), (3...4).contains(text.utf8.count), mode <= 0o777, mode & 0o600 == 0o600
        else {
            throw UsageError(
                "--socket-mode is three octal digits that let the owner read and write, such as 0660, not "
                    + "“\(Printable.escaped(text))”")
        }
        return mode
    }

    private static func number(
        _ arguments: Arguments, _ name: String, in range: ClosedRange<Int64>
    ) throws(UsageError) -> Int64? {
        try arguments.value(name).map { text throws(UsageError) in try OptionValue.integer(text, name, in: range) }
    }

    private static func duration(_ arguments: Arguments, _ name: String) throws(UsageError) -> Int64? {
        try arguments.value(name).map { text throws(UsageError) in try OptionValue.duration(text, name) }
    }
}
