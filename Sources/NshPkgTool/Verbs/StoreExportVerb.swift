import NshCommandLine
import NshPublishing
import NshTrust

/// `store export`: what a new machine should not forget.
enum StoreExportVerb {
    static let verb = Verb(
        name: "store export",
        summary: "write accepted builds and lists to a file, for a new machine",
        details: [
            "Trees and the log stay behind. Whoever imports the file believes it: bring it over a trusted way."
        ],
        options: [.state, .socket, .output],
        choices: [.store],
        examples: ["nsh-pkgtool store export --state store -o store.json"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let export = try StoreDoors.open(invocation, isReadOnly: true).export()
        let path = try invocation.arguments.required("output")
        Interruption.remember()
        try OutputFile.write(export.serialized + [0x0A], to: path)
        try invocation.console.answer(
            [
                "file": .text(path), "verdict": .text("done"), "builds": .integer(Int64(export.builds.count)),
                "lists": .integer(Int64(export.lists.count)),
            ],
            text: "OK  \(Terminal.safe(path)): \(Amount.count(Int64(export.builds.count), "accepted build")), "
                + Amount.count(Int64(export.lists.count), "list"))
        return .done
    }
}
