import NshCommandLine
import NshTrust
import NshTrustWire

/// `roots`: what this machine trusts.
enum RootsVerb {
    static let verb = Verb(
        name: "roots",
        summary: "list the trusted roots, and the files that name them",
        details: [
            "Roots are taken from --root, else from $NSH_TRUST_ROOTS (files or directories, “:” between), else from the user’s "
                + "roots.d ($XDG_CONFIG_HOME/nsh-trust/roots.d, by default ~/.config/nsh-trust/roots.d), else from "
                + "/etc/nsh-trust/roots.d. Of a directory the files *.pub count. With a state directory it is said which roots "
                + "a revocation list has withdrawn.",
            "With a socket the roots are those of the daemon, and the files of its roots directory name them.",
            "One file that cannot be used makes every verification an error until it is mended or removed.",
        ],
        options: [.root, .state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool roots", "nsh-pkgtool roots --root root.pub --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let found = try look(invocation)
        for root in found.roots { try report(root, console) }
        for bad in found.bad {
            if console.isJSON {
                try console.json(bad.failure.object(file: bad.path))
            } else {
                try console.line(VerdictReporter.line(bad.failure, file: bad.path, paint: console.paint))
            }
        }
        if found.roots.isEmpty, found.bad.isEmpty { throw found.nothing }
        return found.bad.isEmpty ? .done : .undecided
    }

    /// A root and the file that names it.
    private struct Row {
        var file: String
        var key: String
        var publicKey: String
        /// Whether a list in force withdraws it; nil when there is no store to say so.
        var isWithdrawn: Bool?
    }

    /// What was found, and what is said when that is nothing.
    private struct Found {
        var roots: [Row]
        var bad: [TrustedRoots.BadFile]
        var nothing: Trouble
    }

    private static func look(_ invocation: Invocation) throws -> Found {
        let place = try StorePlace.named(by: invocation)
        if case .socket(let path) = place { return try look(in: DaemonDoor(path), path) }
        let found = RootLookup.find(options: invocation.arguments.values("root"), environment: invocation.environment)
        var withdrawn: Set<PublicKey>?
        if case .state(let state) = place { withdrawn = try self.withdrawn(of: found.keys, in: state) }
        let roots = found.roots.map { root in
            Row(
                file: root.path, key: root.key.hash.hex, publicKey: root.key.base64,
                isWithdrawn: withdrawn?.contains(root.key))
        }
        return Found(roots: roots, bad: found.bad, nothing: RootLookup.nothingFound(found))
    }

    /// The roots that a daemon trusts.
    private static func look(in daemon: DaemonDoor, _ path: String) throws -> Found {
        try daemon.prepare()
        let status = try daemon.daemonStatus()
        let roots = status.roots.map { root in
            Row(file: root.file, key: root.key, publicKey: root.publicKey, isWithdrawn: root.isWithdrawn)
        }
        let bad = status.badRoots.map { bad in
            TrustedRoots.BadFile(
                path: bad.file, failure: Failure(.error, RefusalCode.malformed.rawValue, Terminal.safe(bad.message)))
        }
        let nothing = Trouble(.noTrustedRoots, "the daemon at \(Terminal.safe(path)) trusts no root key")
        return Found(roots: roots, bad: bad, nothing: nothing)
    }

    private static func report(_ root: Row, _ console: Console) throws(OutputFailure) {
        let isRefused = root.isWithdrawn == true
        var object: JSONObject = [
            "file": .text(root.file), "key": .text(root.key), "publicKey": .text(root.publicKey),
            "verdict": .text(isRefused ? "refused" : "accepted"),
            "code": isRefused ? .text(RefusalCode.rootWithdrawn.rawValue) : .null,
        ]
        object.add("withdrawn", root.isWithdrawn.map { .boolean($0) })
        let word = isRefused ? console.paint.bad("REFUSED") + " rootWithdrawn" : console.paint.good("OK")
        let name = Terminal.safe(String(root.key.prefix(16)))
        try console.answer(object, text: "\(word)  root \(name)  \(Terminal.safe(root.file))")
    }

    /// The keys that a list in force in the store withdraws.
    private static func withdrawn(of keys: [PublicKey], in state: String) throws -> Set<PublicKey> {
        try StoreAccess.open(state, isReadOnly: true).store.read { snapshot in
            Set(try keys.filter { try !snapshot.withdrawals(ofRoot: $0.hash).isEmpty })
        }
    }
}
