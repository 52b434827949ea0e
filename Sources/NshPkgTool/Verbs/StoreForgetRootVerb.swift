import NshCommandLine
import NshPublishing
import NshTrust

/// `store forget-root`: an administrator takes a root's lists out of force.
enum StoreForgetRootVerb {
    static let verb = Verb(
        name: "store forget-root",
        operands: [
            Operand(name: "KEY", kind: .file([".pub"]), help: "the root: its .pub file or 64 hex digits of its hash")
        ],
        summary: "take a root's revocation lists out of force; what they revoked is no longer revoked",
        details: [
            "Lists stay in force for every program that uses the store, also when their root is no longer pinned. This is the "
                + "way to end that, for a root that is gone for good. It is logged."
        ],
        options: [.state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool store forget-root old-root.pub --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let name = try invocation.arguments.operand(0)
        let issuer = try Digest(hex: name) ?? KeyFiles.publicKey(at: name).hash
        let store = try StoreDoors.open(invocation, isReadOnly: false)
        guard try store.forgetRoot(issuer) else {
            throw Failure(
                .error, TroubleCode.notInstalled.rawValue, "no list of root \(issuer.shortHex) is in force here",
                hint: "nsh-pkgtool store status shows the lists in force")
        }
        try invocation.console.answer(
            ["verdict": .text("done"), "key": .text(issuer.hex)],
            text: "OK  root \(issuer.shortHex): its lists are no longer in force; what they revoked may be opened again"
        )
        return .done
    }
}
