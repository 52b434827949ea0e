import NshTrust

/// `store check`: looks for damage in a store and in what it has installed.
enum StoreCheckVerb {
    static let verb = Verb(
        name: "store check",
        summary: "look for damage in a trust store and in the installed files",
        details: [
            "Reads the whole database and every installed file, and writes nothing. A tree that is damaged is extracted again "
                + "when its package is opened next. Exit status 1 when something is wrong."
        ],
        options: [.state],
        examples: ["nsh-pkgtool store check --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let access = try StoreAccess(try Judging.requiredState(invocation), isReadOnly: true)
        var problems = try access.store.problems().map { (code: TroubleCode.storeCorrupt.rawValue, message: $0) }
        let trees = Trees(access.state)
        let packages = try access.store.read { try $0.installedPackages(of: nil) }
        var patience = Backoff(seconds: 2)
        for package in packages where Interruption.signal == 0 {
            if try isDamaged(package, trees, access, &patience) {
                problems.append(
                    (
                        RefusalCode.manifestMismatch.rawValue,
                        "\(access.state.path)/\(package.tree) is not as it was installed; open its package again"
                    ))
            }
        }
        for problem in problems {
            let object: JSONObject = [
                "verdict": .text("refused"), "code": .text(problem.code), "message": .text(problem.message),
            ]
            if console.isJSON {
                try console.json(object)
            } else {
                try console.line("\(console.paint.bad("REFUSED")) \(problem.code)  \(Terminal.safe(problem.message))")
            }
        }
        guard problems.isEmpty else { return .refused }
        let count = Amount.count(Int64(packages.count), "installed package")
        try console.answer(
            ["verdict": .text("accepted"), "code": .null, "message": .text("the store and \(count) are whole")],
            text: "\(console.paint.good("OK"))  the store and \(count) are whole")
        return .done
    }

    /// Tells whether a tree is other than it was installed; not one that another process has removed since.
    private static func isDamaged(
        _ package: InstalledPackage, _ trees: Trees, _ access: StoreAccess, _ patience: inout Backoff
    ) throws -> Bool {
        while true {
            if try trees.isIntact(package.tree, manifest: package.facts.manifest) { return false }
            let isRecorded = try access.store.read {
                try $0.installedPackage(package.facts.digest)?.tree == package.tree
            }
            if !isRecorded { return false }
            // A tree is moved away before its record goes with the commit, and it may have come back meanwhile.
            if !patience.pause() { return true }
        }
    }
}
