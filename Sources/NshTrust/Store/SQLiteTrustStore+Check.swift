/// Looking for damage, for `store check`.
extension SQLiteTrustStore {
    /// Looks at every page and restores every row.
    ///
    /// - Returns: One sentence for each thing that is wrong, at most a hundred from SQLite; none when all is well.
    /// - Throws: `storeCorrupt` when it cannot even be looked at; `storeBusy`, `ioFailure`.
    package func problems() throws -> [String] {
        var problems = try inspect { connection in
            let pages = try connection.rows("PRAGMA integrity_check(100)") { (row) throws(Trouble) in row.text(0) }
            let references = try connection.rows("PRAGMA foreign_key_check") { (row) throws(Trouble) in
                "a row of \(row.text(0)) refers to none in \(row.text(2))"
            }
            let strays = try connection.integer(
                "SELECT count(*) FROM list_entries WHERE list NOT IN (SELECT id FROM lists)")
            return pages.filter { $0 != "ok" }.map { Printable.escaped($0) } + references
                + (strays == 0 ? [] : ["\(strays) entries belong to no revocation list"])
        }
        problems += try read { snapshot in try Self.rowProblems(snapshot) }
        return problems
    }

    /// Restores every row, and holds the kept documents to what the rows say of them.
    private static func rowProblems(_ snapshot: any StoreSnapshot) throws -> [String] {
        var problems: [String] = []
        func attempt(_ what: String, _ body: () throws -> Void) throws {
            do {
                try body()
            } catch let refusal as Refusal {
                problems.append("\(what): \(refusal.message)")
            } catch let trouble as Trouble where trouble.code == .storeCorrupt {
                problems.append(trouble.message)
            }
        }
        try attempt("packages") {
            var last: AppID?
            while true {
                let page = try snapshot.installedPackages(after: last, apps: StorePage.apps)
                for package in page where try !snapshot.hasAccepted(package: package.facts.digest) {
                    problems.append("package \(package.facts.digest.shortHex) is installed and not accepted")
                }
                guard let app = page.last?.app.id else { break }
                last = app
            }
        }
        try attempt("builds") { try check(snapshot, pageSize: 1000) }
        try attempt("certificates") {
            var last: Int64 = 0
            while let row = try snapshot.certificates(afterRow: last, ofInstalled: false, limit: StorePage.apps).last?
                .row
            {
                last = row
            }
        }
        try attempt("lists") {
            for stored in try snapshot.storedLists() {
                let envelope = try Envelope(parsing: try snapshot.envelope(ofList: stored.number), as: .revocations)
                if SHA256.hash(envelope.payload) != stored.summary.payloadDigest {
                    problems.append("\(stored.summary.list) is not the one that was applied")
                }
            }
        }
        try attempt("roots") { _ = try snapshot.rootsSeen() }
        try attempt("events") {
            var next: Int64 = 0
            while true {
                let page = try snapshot.events(after: next, limit: 1000)
                guard !page.events.isEmpty else { break }
                next = page.next
            }
        }
        return problems
    }

    private static func check(_ snapshot: any StoreSnapshot, pageSize: Int) throws {
        var last: AppID?
        while true {
            let builds = try snapshot.acceptedBuilds(after: last, limit: pageSize)
            guard let app = builds.last?.app else { return }
            last = app
        }
    }
}
