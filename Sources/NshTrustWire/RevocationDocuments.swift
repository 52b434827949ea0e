package import NshTrust

/// A revocation list in force.
package struct RevocationListDocument: Hashable, Sendable {
    /// The list.
    package var list: NshRevocationList

    /// Makes a document.
    package init(_ list: NshRevocationList) { self.list = list }

    /// The members: `issuer`, `sequence`, `issuedAt`, `expiresAt` where there is one, `appliedAt`, `revokesIssuer`,
    /// `entries` (numbers by the names of the list's members).
    package var object: JSONObject {
        var object: JSONObject = [
            "issuer": .text(list.issuer), "sequence": .integer(list.sequence), "issuedAt": .integer(list.issuedAt),
        ]
        object.add("expiresAt", list.expiresAt.map { .integer($0) })
        object.append("appliedAt", .integer(list.appliedAt))
        object.append("revokesIssuer", .boolean(list.revokesIssuer))
        var entries = JSONObject()
        for (name, count) in list.entryCounts.sorted(by: { $0.key < $1.key }) { entries.append(name, .integer(count)) }
        object.append("entries", .object(entries))
        return object
    }

    /// Reads a list.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        let entries = try reader.reader("entries")
        var counts: [String: Int64] = [:]
        for member in entries.object.members { counts[member.name] = try entries.integer(member.name) }
        list = NshRevocationList(
            issuer: try reader.text("issuer"), sequence: try reader.integer("sequence"),
            issuedAt: try reader.integer("issuedAt"), expiresAt: try reader.integerIfPresent("expiresAt"),
            revokesIssuer: try reader.boolean("revokesIssuer"), appliedAt: try reader.integer("appliedAt"),
            entryCounts: counts)
    }

    /// The list in short: `list 7 of root 1a2b3c4d5e6f7081`.
    package var name: String { "list \(list.sequence) of root \(list.issuer.prefix(16))" }
}

/// All lists in force: the answer to `GET /v1/revocations`.
package struct RevocationsDocument: Hashable, Sendable {
    /// The lists, by issuer.
    package var lists: [RevocationListDocument]

    /// Makes a document.
    package init(lists: [RevocationListDocument]) { self.lists = lists }

    /// The one member: `lists`.
    package var object: JSONObject { ["lists": .array(lists.map { .object($0.object) })] }

    /// Reads the lists.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        lists = try reader.objects("lists").map { reader throws(Trouble) in try RevocationListDocument(reader) }
    }
}

/// What applying a list did, or would do.
package struct RevocationUpdateDocument: Hashable, Sendable {
    /// The file as the command line names it; only the tool says it.
    package var file: String?
    /// What changed.
    package var update: NshRevocationUpdate
    /// Whether nothing was written.
    package var isRehearsal: Bool

    /// Makes a document.
    ///
    /// - Parameters:
    ///   - update: What changed.
    ///   - isRehearsal: Whether nothing was written.
    ///   - file: The file as the command line names it.
    package init(_ update: NshRevocationUpdate, isRehearsal: Bool, file: String? = nil) {
        self.update = update
        self.isRehearsal = isRehearsal
        self.file = file
    }

    /// One line for people.
    package var message: String {
        let what = update.changed ? (isRehearsal ? "would be applied" : "applied") : "in force already"
        return "list \(update.sequence) of root \(update.issuer.prefix(16)) \(what)"
    }

    /// The members: `file` of the tool, `verdict`, `code`, `message`, `issuer`, `sequence`, `changed`, `dryRun`,
    /// `stoppedApps`, `warnings`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("file", file.map { .text($0) })
        object.append("verdict", .text(Verdict.accepted.rawValue))
        object.append("code", .null)
        object.append("message", .text(message))
        object.append("issuer", .text(update.issuer))
        object.append("sequence", .integer(update.sequence))
        object.append("changed", .boolean(update.changed))
        object.append("dryRun", .boolean(isRehearsal))
        object.append("stoppedApps", .array(update.stoppedApps.map { .text($0) }))
        object.append("warnings", .array(update.warnings.map { .text($0) }))
        return object
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        file = try reader.textIfPresent("file")
        isRehearsal = try reader.boolean("dryRun")
        update = NshRevocationUpdate(
            changed: try reader.boolean("changed"), issuer: try reader.text("issuer"),
            sequence: try reader.integer("sequence"), warnings: try reader.texts("warnings"),
            stoppedApps: try reader.texts("stoppedApps"))
    }
}
