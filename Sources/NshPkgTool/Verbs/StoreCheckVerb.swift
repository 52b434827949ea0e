import NshTrust
import NshTrustWire

/// `store check`: looks for damage in a store and in what it has installed.
enum StoreCheckVerb {
    static let verb = Verb(
        name: "store check",
        summary: "look for damage in a trust store and in the installed files",
        details: [
            "Reads the whole database and every installed file, and writes nothing. A tree that is damaged is extracted again "
                + "when its package is opened next. Exit status 1 when something is wrong."
        ],
        options: [.state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool store check --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let store = try StoreDoors.open(invocation, isReadOnly: true)
        let found = try store.check()
        for problem in found.problems {
            let object: JSONObject = [
                "verdict": .text("refused"), "code": .text(problem.code), "message": .text(problem.message),
            ]
            if console.isJSON {
                try console.json(object)
            } else {
                try console.line("\(console.paint.bad("REFUSED")) \(problem.code)  \(Terminal.safe(problem.message))")
            }
        }
        guard found.problems.isEmpty else { return .refused }
        try console.answer(
            ["verdict": .text("accepted"), "code": .null, "message": .text(found.message)],
            text: "\(console.paint.good("OK"))  \(found.message)")
        return .done
    }
}
