import NshCommandLine
import NshTrust
import NshTrustWire

/// `store prune`: trees of older builds go.
enum StorePruneVerb {
    static let verb = Verb(
        name: "store prune",
        summary: "remove the trees of older builds that no process uses",
        details: ["Accepted builds stay accepted: what is removed here is still refused as older."],
        options: [
            .state, .socket,
            .value("keep", nil, "N", help: "how many installed builds of each app stay; 1 by default"),
            .flag("dry-run", nil, "say what would go, and remove nothing"),
        ],
        choices: [.store],
        examples: ["nsh-pkgtool store prune --state store --keep 2 --dry-run"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let keep = try arguments.value("keep").map { Int(try OptionValue.integer($0, "keep", in: 1...1000)) } ?? 1
        let store = try StoreDoors.open(invocation, isReadOnly: false)
        let isRehearsal = arguments.has("dry-run")
        let pruning = try store.prune(keeping: keep, isRehearsal: isRehearsal)
        try Removal.report(pruning, isRehearsal: isRehearsal, invocation.console)
        return .done
    }
}
