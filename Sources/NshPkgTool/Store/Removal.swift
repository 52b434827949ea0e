import NshTrust

/// Says which installed trees were removed.
enum Removal {
    /// Reports what went and what stayed.
    ///
    /// - Parameters:
    ///   - pruning: What was done.
    ///   - isRehearsal: Whether it was only looked at.
    ///   - path: The state directory.
    ///   - console: Where the report goes.
    /// - Throws: `OutputFailure`.
    static func report(
        _ pruning: Trees.Pruning, isRehearsal: Bool, in path: String, _ console: Console
    ) throws(OutputFailure) {
        for package in pruning.removed { try report(package, isRehearsal ? "wouldRemove" : "removed", path, console) }
        for package in pruning.inUse { try report(package, "inUse", path, console) }
        for tree in pruning.setAside {
            try console.note("\(Terminal.safe(tree)) is in no record; it was moved to set-aside")
        }
        if pruning.removed.isEmpty, pruning.inUse.isEmpty, !console.isJSON, !console.isQuiet {
            try console.line("nothing to remove")
        }
    }

    private static func report(
        _ package: InstalledPackage, _ outcome: String, _ path: String, _ console: Console
    ) throws(OutputFailure) {
        let words = ["removed": "removed", "wouldRemove": "would remove", "inUse": "in use, stays:"]
        let directory = path + "/" + package.tree
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
