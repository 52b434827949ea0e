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
        var applied: Int64 = 0
        for (index, list) in document.lists.enumerated() {
            do {
                let update = try core.applyRevocations(list)
                if update.changed { applied += 1 }
                for warning in update.warnings { try console.warning("list \(index + 1): \(warning)") }
            } catch let refusal as Refusal where refusal.code == .revocationsOlder {
                try console.note("list \(index + 1): \(refusal.message)")
            }
        }
        let access = try StoreAccess(state, isReadOnly: false)
        try access.store.commit { transaction in
            try document.raiseFloors(in: transaction) { build in
                access.event(
                    .buildImported, app: build.app, build: build.build, digest: build.digest,
                    message: "build \(build.build) of \(build.app) was taken over from another store")
            }
        }
        try console.answer(
            [
                "file": .text(file), "verdict": .text("done"), "builds": .integer(Int64(document.builds.count)),
                "lists": .integer(Int64(document.lists.count)), "applied": .integer(applied),
            ],
            text: "OK  \(Terminal.safe(file)): \(Amount.count(Int64(document.builds.count), "accepted build")), "
                + "\(applied) of \(Amount.count(Int64(document.lists.count), "list")) applied")
        return .done
    }
}
