import NshTrust
import NshTrustWire

/// Says which installed trees were removed.
enum Removal {
    /// Reports what went and what stayed.
    ///
    /// - Parameters:
    ///   - pruning: What was done.
    ///   - isRehearsal: Whether it was only looked at.
    ///   - console: Where the report goes.
    /// - Throws: `OutputFailure`.
    static func report(
        _ pruning: PruningDocument, isRehearsal: Bool, _ console: Console
    ) throws(OutputFailure) {
        for package in pruning.removed { try report(package, isRehearsal ? "wouldRemove" : "removed", console) }
        for package in pruning.inUse { try report(package, "inUse", console) }
        for tree in pruning.setAside {
            try console.note("\(Terminal.safe(tree)) is in no record; it was moved to set-aside")
        }
        if pruning.removed.isEmpty, pruning.inUse.isEmpty, !console.isJSON, !console.isQuiet {
            try console.line("nothing to remove")
        }
    }

    private static func report(
        _ package: PruningDocument.Package, _ outcome: String, _ console: Console
    ) throws(OutputFailure) {
        let words = ["removed": "removed", "wouldRemove": "would remove", "inUse": "in use, stays:"]
        var object: JSONObject = ["outcome": .text(outcome)]
        for member in package.object.members { object.append(member.name, member.value) }
        try console.answer(
            object,
            text: "\(words[outcome] ?? outcome) \(Terminal.safe(package.id)) build \(package.build)  "
                + "\(Amount.bytes(package.unpackedSize))  \(Terminal.safe(package.directory))")
    }
}
