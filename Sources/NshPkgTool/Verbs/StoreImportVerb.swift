import NshCommandLine
import NshPublishing
import NshTrust

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
        options: [.state, .root, .threshold],
        examples: ["nsh-pkgtool store import store.json --state store --root root.pub"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let file = try invocation.arguments.operand(0)
        let state = try Judging.requiredState(invocation)
        let document = try StoreDocument(
            parsing: try InputFile.read(file, limit: 1 << 30, what: "the export of a store").bytes)
        let judging = try Judging(invocation)
        let core = try PinnedStore.open(state, judging, isReadOnly: false, console)
        let taken = try core.importStore(document)
        for warning in taken.warnings { try console.warning(warning) }
        for note in taken.notes { try console.note(note) }
        try console.answer(
            [
                "file": .text(file), "verdict": .text("done"), "builds": .integer(Int64(taken.builds)),
                "lists": .integer(Int64(taken.lists)), "applied": .integer(Int64(taken.applied)),
            ],
            text: "OK  \(Terminal.safe(file)): \(Amount.count(Int64(taken.builds), "accepted build")), "
                + "\(taken.applied) of \(Amount.count(Int64(taken.lists), "list")) applied")
        return .done
    }
}
