import NshCommandLine
import NshTrust
import NshTrustWire

/// `store remove`: an app's files go, its floor stays.
enum StoreRemoveVerb {
    static let verb = Verb(
        name: "store remove",
        operands: [Operand(name: "ID", kind: .text, help: "the app id")],
        summary: "remove an app’s installed trees; its accepted build stays, so that older ones are still refused",
        options: [.state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool store remove com.example.orders --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let text = try invocation.arguments.operand(0)
        guard let app = AppID(text) else { throw UsageError("“\(Terminal.safe(text))” is no app id") }
        let store = try StoreDoors.open(invocation, isReadOnly: false)
        let pruning = try store.remove(app)
        try Removal.report(pruning, isRehearsal: false, invocation.console)
        guard pruning.inUse.isEmpty else {
            throw Failure(
                .error, TroubleCode.storeBusy.rawValue, "a process uses \(app); its tree stays",
                hint: "end the app, then remove it again")
        }
        return .done
    }
}
