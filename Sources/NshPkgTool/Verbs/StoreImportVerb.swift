import NshCommandLine
import NshPublishing
import NshTrust
import NshTrustWire

/// `store import`: a new machine takes over what an old one knew.
enum StoreImportVerb {
    static let verb = Verb(
        name: "store import",
        operands: [Operand(name: "FILE", kind: .file([".json"]), help: "what store export wrote")],
        summary: "take over accepted builds and lists from another store; nothing is ever lowered",
        details: [
            "The lists are verified like any other. The accepted builds are believed: bring the file over a trusted way. The "
                + "store is made when there is none."
        ],
        options: [.state, .socket, .root, .threshold],
        choices: [.store],
        examples: ["nsh-pkgtool store import store.json --state store --root root.pub"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let place = try StorePlace.required(by: invocation)
        let document = try StoreDocument(
            parsing: try InputFile.read(file, limit: 1 << 30, what: "the export of a store"))
        let door = try PackageDoors.find(invocation, place, .writes)
        try door.prepare()
        let taken = try door.importStore(document)
        for warning in taken.warnings { try console.warning(warning) }
        for note in taken.notes { try console.note(note) }
        try console.answer(
            [
                "file": .text(file), "verdict": .text("done"), "builds": .integer(taken.builds),
                "lists": .integer(taken.lists), "applied": .integer(taken.applied),
            ],
            text: "OK  \(Terminal.safe(file)): \(Amount.count(taken.builds, "accepted build")), "
                + "\(taken.applied) of \(Amount.count(taken.lists, "list")) applied")
        return .done
    }
}
