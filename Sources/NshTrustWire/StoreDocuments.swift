package import NshTrust

/// What removing trees did, or would do.
package struct PruningDocument: Hashable, Sendable {
    /// A package whose tree went or stayed.
    package struct Package: Hashable, Sendable {
        /// The app id.
        package var id: String
        /// The build.
        package var build: Int64
        /// The package digest in hex.
        package var digest: String
        /// The absolute path of its tree.
        package var directory: String
        /// Bytes of all files.
        package var unpackedSize: Int64

        /// Takes a record.
        ///
        /// - Parameters:
        ///   - package: The record.
        ///   - directory: The absolute path of its tree.
        package init(_ package: InstalledPackage, directory: String) {
            id = package.app.id.text
            build = package.app.build
            digest = package.facts.digest.hex
            self.directory = directory
            unpackedSize = package.unpackedSize
        }

        /// The members: `id`, `build`, `digest`, `directory`, `unpackedSize`.
        package var object: JSONObject {
            [
                "id": .text(id), "build": .integer(build), "digest": .text(digest), "directory": .text(directory),
                "unpackedSize": .integer(unpackedSize),
            ]
        }

        fileprivate init(_ reader: WireReader) throws(Trouble) {
            id = try reader.text("id")
            build = try reader.integer("build")
            digest = try reader.text("digest")
            directory = try reader.text("directory")
            unpackedSize = try reader.integer("unpackedSize")
        }
    }

    /// What went.
    package var removed: [Package]
    /// What stayed because a process uses it.
    package var inUse: [Package]
    /// Trees without a record, by their old path, that were moved to `set-aside`.
    package var setAside: [String]

    /// Makes a document of a pruning.
    ///
    /// - Parameters:
    ///   - pruning: What went and what stayed.
    ///   - state: The state directory.
    package init(_ pruning: Trees.Pruning, state: String) {
        removed = pruning.removed.map { Package($0, directory: "\(state)/\($0.tree)") }
        inUse = pruning.inUse.map { Package($0, directory: "\(state)/\($0.tree)") }
        setAside = pruning.setAside
    }

    /// The members: `removed`, `inUse`, `setAside`.
    package var object: JSONObject {
        [
            "removed": .array(removed.map { .object($0.object) }), "inUse": .array(inUse.map { .object($0.object) }),
            "setAside": .array(setAside.map { .text($0) }),
        ]
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        removed = try reader.objects("removed").map { reader throws(Trouble) in try Package(reader) }
        inUse = try reader.objects("inUse").map { reader throws(Trouble) in try Package(reader) }
        setAside = try reader.texts("setAside")
    }
}

/// What a search for damage found.
package struct StoreCheckDocument: Hashable, Sendable {
    /// Something that is wrong.
    package struct Problem: Hashable, Sendable {
        /// The code, such as `manifestMismatch`.
        package var code: String
        /// One line for people.
        package var message: String
    }

    /// What is wrong; empty when everything is whole.
    package var problems: [Problem]
    /// How many installed packages were looked at.
    package var packages: Int64

    /// Makes a document of what was found.
    package init(_ result: StoreCheckResult) {
        problems = result.problems.map { Problem(code: $0.code, message: $0.message) }
        packages = Int64(result.packages)
    }

    /// One line for people.
    package var message: String {
        guard problems.isEmpty else {
            return "\(problems.count) thing\(problems.count == 1 ? " is" : "s are") not as they should be"
        }
        return "the store and \(packages) installed package\(packages == 1 ? "" : "s") are whole"
    }

    /// The members: `verdict`, `code` (that of the first problem), `message`, `problems` (`code`, `message`), `packages`.
    package var object: JSONObject {
        [
            "verdict": .text((problems.isEmpty ? Verdict.accepted : .refused).rawValue),
            "code": problems.first.map { .text($0.code) } ?? .null, "message": .text(message),
            "problems": .array(
                problems.map { .object(["code": .text($0.code), "message": .text($0.message)]) }),
            "packages": .integer(packages),
        ]
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        problems = try reader.objects("problems").map { reader throws(Trouble) in
            Problem(code: try reader.text("code"), message: try reader.text("message"))
        }
        packages = try reader.integer("packages")
    }
}

/// What taking over another store's floors and lists did.
package struct ImportDocument: Hashable, Sendable {
    /// Accepted builds that the export holds.
    package var builds: Int64
    /// Lists that it holds.
    package var lists: Int64
    /// Lists of it that changed something.
    package var applied: Int64
    /// What looks odd, a sentence each.
    package var warnings: [String]
    /// What was passed over for good reason, a sentence each.
    package var notes: [String]

    /// Makes a document of what was taken over.
    package init(_ result: StoreImport) {
        builds = Int64(result.builds)
        lists = Int64(result.lists)
        applied = Int64(result.applied)
        warnings = result.warnings
        notes = result.notes
    }

    /// The members: `builds`, `lists`, `applied`, `warnings`, `notes`.
    package var object: JSONObject {
        [
            "builds": .integer(builds), "lists": .integer(lists), "applied": .integer(applied),
            "warnings": .array(warnings.map { .text($0) }), "notes": .array(notes.map { .text($0) }),
        ]
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        builds = try reader.integer("builds")
        lists = try reader.integer("lists")
        applied = try reader.integer("applied")
        warnings = try reader.texts("warnings")
        notes = try reader.textsIfPresent("notes")
    }
}
