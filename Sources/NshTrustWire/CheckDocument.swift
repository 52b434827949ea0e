package import NshTrust

/// The answer to `check`, the question whether an installed package may start now.
package struct CheckDocument: Hashable, Sendable {
    /// `accepted` or `refused`.
    package var verdict: Verdict
    /// The refusal's code; nil when accepted.
    package var code: String?
    /// One line for people.
    package var message: String
    /// The app.
    package var app: NshPackage.Info
    /// Whom the app belongs to.
    package var publisher: String
    /// The package digest in hex.
    package var digest: String
    /// Where the files lie.
    package var directory: String
    /// The file in `directory` on which whoever uses it holds a shared `flock`.
    package var lease: String

    /// Makes the answer about an installed package.
    ///
    /// - Parameters:
    ///   - package: The record.
    ///   - directory: The absolute path of its tree.
    ///   - refusal: Why it may not start; nil when it may.
    package init(_ package: InstalledPackage, directory: String, refusal: Refusal?) {
        app = NshPackage.Info(package.app)
        verdict = refusal == nil ? .accepted : .refused
        code = refusal?.code.rawValue
        message = refusal?.message ?? VerdictDocument.summary(app)
        publisher = package.facts.certificate.publisher.text
        digest = package.facts.digest.hex
        self.directory = directory
        lease = directory + "/" + TreeLease.fileName
    }

    /// The members: `verdict`, `code`, `message`, `app`, `publisher`, `digest`, `directory`, `lease`.
    package var object: JSONObject {
        [
            "verdict": .text(verdict.rawValue), "code": code.map { .text($0) } ?? .null, "message": .text(message),
            "app": .object(app.object), "publisher": .text(publisher), "digest": .text(digest),
            "directory": .text(directory), "lease": .text(lease),
        ]
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        code = try reader.textIfPresent("code")
        guard let verdict = Verdict(rawValue: try reader.text("verdict")), verdict != .error,
            (code == nil) == (verdict == .accepted)
        else { throw reader.wrong("verdict", "what its code asks for") }
        self.verdict = verdict
        message = try reader.text("message")
        app = try NshPackage.Info(reader.reader("app"))
        publisher = try reader.text("publisher")
        digest = try reader.text("digest")
        directory = try reader.text("directory")
        lease = try reader.text("lease")
    }
}
