package import NshTrust

/// An app's accepted build and what of it is installed.
package struct AppDocument: Hashable, Sendable {
    /// An installed package.
    package struct Installed: Hashable, Sendable {
        /// Its build.
        package var build: Int64
        /// Its version, for people.
        package var version: String
        /// The package digest in hex.
        package var digest: String
        /// The absolute path of its tree.
        package var directory: String
        /// Lines of `SHA256SUMS`.
        package var files: Int64
        /// Bytes of all files.
        package var unpackedSize: Int64

        /// Takes a record.
        ///
        /// - Parameters:
        ///   - package: The record.
        ///   - directory: The absolute path of its tree.
        package init(_ package: InstalledPackage, directory: String) {
            build = package.app.build
            version = package.app.version.text
            digest = package.facts.digest.hex
            self.directory = directory
            files = package.files
            unpackedSize = package.unpackedSize
        }

        /// The members: `build`, `version`, `digest`, `directory`, `files`, `unpackedSize`.
        package var object: JSONObject {
            [
                "build": .integer(build), "version": .text(version), "digest": .text(digest),
                "directory": .text(directory), "files": .integer(files), "unpackedSize": .integer(unpackedSize),
            ]
        }

        /// Reads an installed package.
        package init(_ reader: WireReader) throws(Trouble) {
            build = try reader.integer("build")
            version = try reader.text("version")
            digest = try reader.text("digest")
            directory = try reader.text("directory")
            files = try reader.integer("files")
            unpackedSize = try reader.integer("unpackedSize")
        }
    }

    /// The accepted build.
    package var accepted: NshAcceptedBuild
    /// What is installed, by rising build.
    package var installed: [Installed]

    /// Makes a document of its parts.
    package init(accepted: NshAcceptedBuild, installed: [Installed]) {
        self.accepted = accepted
        self.installed = installed
    }

    /// The members: `id`, `build`, `publisher`, `digest` unless a root lowered the build, `acceptedAt`, `installed`.
    package var object: JSONObject {
        var object: JSONObject = [
            "id": .text(accepted.app), "build": .integer(Int64(accepted.build)),
            "publisher": .text(accepted.publisher),
        ]
        object.add("digest", accepted.digest.map { .text($0) })
        object.append("acceptedAt", .integer(accepted.acceptedAt))
        object.append("installed", .array(installed.map { .object($0.object) }))
        return object
    }

    /// Reads an app.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        accepted = NshAcceptedBuild(
            app: try reader.text("id"), build: Int(try reader.integer("build")),
            publisher: try reader.text("publisher"), digest: try reader.textIfPresent("digest"),
            acceptedAt: try reader.integer("acceptedAt"))
        installed = try reader.objects("installed").map { reader throws(Trouble) in try Installed(reader) }
    }
}

/// A page of apps.
package struct AppPageDocument: Hashable, Sendable {
    /// The apps, by id.
    package var apps: [AppDocument]
    /// The id to ask after for more; nil when there are no more.
    package var next: String?

    /// Makes a page.
    package init(apps: [AppDocument], next: String?) {
        self.apps = apps
        self.next = next
    }

    /// The members: `apps`, `next`.
    package var object: JSONObject {
        var object: JSONObject = ["apps": .array(apps.map { .object($0.object) })]
        object.add("next", next.map { .text($0) })
        return object
    }

    /// Reads a page.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        apps = try reader.objects("apps").map { reader throws(Trouble) in try AppDocument(reader) }
        next = try reader.textIfPresent("next")
    }
}
