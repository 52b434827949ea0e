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
            "One file that cannot be used makes every verification an error until it is mended or removed.",
        ],
        options: [.root, .state],
        examples: ["nsh-pkgtool roots", "nsh-pkgtool roots --root root.pub --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let found = RootLookup.find(options: invocation.arguments.values("root"), environment: invocation.environment)
        let withdrawn = try Judging.state(invocation).map { try self.withdrawn(of: found.keys, in: $0) }
        for root in found.roots {
            let isWithdrawn = withdrawn?.contains(root.key)
            var object: JSONObject = [
                "file": .text(root.path), "key": .text(root.key.hash.hex), "publicKey": .text(root.key.base64),
                "verdict": .text(isWithdrawn == true ? "refused" : "accepted"),
                "code": isWithdrawn == true ? .text(RefusalCode.rootWithdrawn.rawValue) : .null,
            ]
            object.add("withdrawn", isWithdrawn.map { .boolean($0) })
            let word = isWithdrawn == true ? console.paint.bad("REFUSED") + " rootWithdrawn" : console.paint.good("OK")
            try console.answer(object, text: "\(word)  root \(root.key.id)  \(Terminal.safe(root.path))")
        }
        for bad in found.bad {
            if console.isJSON {
                try console.json(
                    VerdictReporter.object(file: bad.path, failure: bad.failure, report: nil, extra: .init()))
            } else {
                try console.line(VerdictReporter.line(bad.failure, file: bad.path, paint: console.paint))
            }
        }
        if found.roots.isEmpty, found.bad.isEmpty { throw RootLookup.nothingFound(found) }
        return found.bad.isEmpty ? .done : .undecided
    }

    /// The keys that a list in force in the store withdraws.
    private static func withdrawn(of keys: [PublicKey], in state: String) throws -> Set<PublicKey> {
        try StoreAccess.open(state, isReadOnly: true).store.read { snapshot in
            Set(try keys.filter { try !snapshot.withdrawals(ofRoot: $0.hash).isEmpty })
        }
    }
}
