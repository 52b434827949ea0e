import NshTrust

/// Removes installed trees and says which.
enum Removal {
    /// Removes what is selected and reports it.
    ///
    /// - Parameters:
    ///   - selection: Which trees go.
    ///   - isRehearsal: Whether to say only what would go.
    ///   - access: The store.
    ///   - console: Where the report goes.
    /// - Returns: What went and what stayed.
    /// - Throws: A code of the store, `OutputFailure`.
    @discardableResult
    static func run(
        _ selection: Trees.Selection, isRehearsal: Bool, _ access: StoreAccess, _ console: Console
    ) throws -> Trees.Pruning {
        let pruning = try Trees(access.state).prune(selection, in: access.store, isRehearsal: isRehearsal) { package in
            access.event(
                .treeRemoved, app: package.app.id, build: package.app.build, digest: package.facts.digest,
                message: "the tree of \(package.app.id) build \(package.app.build) was removed")
        }
        for package in pruning.removed { try report(package, isRehearsal ? "wouldRemove" : "removed", access, console) }
        for package in pruning.inUse { try report(package, "inUse", access, console) }
        for tree in pruning.setAside {
            try console.note("\(Terminal.safe(tree)) is in no record; it was moved to set-aside")
        }
        if pruning.removed.isEmpty, pruning.inUse.isEmpty, !console.isJSON, !console.isQuiet {
            try console.line("nothing to remove")
        }
        return pruning
    }

    private static func report(
        _ package: InstalledPackage, _ outcome: String, _ access: StoreAccess, _ console: Console
    ) throws {
        let words = ["removed": "removed", "wouldRemove": "would remove", "inUse": "in use, stays:"]
        let directory = access.state.path + "/" + package.tree
        try console.answer(
            [
                "outcome": .text(outcome), "id": .text(package.app.id.text), "build": .integer(package.app.build),
                "digest": .text(package.facts.digest.hex), "directory": .text(directory),
                "unpackedSize": .integer(package.unpackedSize),
            ],
            text: "\(words[outcome] ?? outcome) \(package.app.id) build \(package.app.build)  "
                + "\(Amount.bytes(package.unpackedSize))  \(Terminal.safe(directory))")
    }
}
