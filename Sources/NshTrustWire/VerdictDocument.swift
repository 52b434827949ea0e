package import NshTrust

/// What answers say of a decision in their member `verdict`.
package enum Verdict: String, Sendable {
    /// Judged and allowed.
    case accepted
    /// Judged and not allowed.
    case refused
    /// Not decided.
    case error
}

/// The verdict on one package: an object of the tool's `verify` and `open`, and the daemon's answer to both.
package struct VerdictDocument: Hashable, Sendable {
    /// The file as the command line names it; only the tool says it.
    package var file: String?
    /// The verdict.
    package var verdict: Verdict
    /// The code of a refusal or an error; nil when accepted.
    package var code: String?
    /// One line for people.
    package var message: String
    /// What was established; nil when nothing can be said.
    package var report: NshReport?
    /// Where the files lie after `open`.
    package var directory: String?
    /// The file in `directory` on which whoever uses it holds a shared `flock`; only the daemon says it.
    package var lease: String?

    /// Makes the verdict of an accepted package.
    ///
    /// - Parameters:
    ///   - report: What was verified.
    ///   - directory: Where the files lie, after `open`.
    ///   - lease: The lease file in it.
    ///   - file: The file as the command line names it.
    package init(accepted report: NshReport, directory: String? = nil, lease: String? = nil, file: String? = nil) {
        self.file = file
        verdict = .accepted
        message = Self.summary(report)
        self.report = report
        self.directory = directory
        self.lease = lease
    }

    /// Makes the verdict of a package that was refused or could not be judged.
    ///
    /// - Parameters:
    ///   - verdict: Which of the two.
    ///   - code: The stable code.
    ///   - message: One line, safe to show.
    ///   - report: What had been established before that.
    ///   - file: The file as the command line names it.
    package init(_ verdict: Verdict, code: String, message: String, report: NshReport?, file: String? = nil) {
        self.file = file
        self.verdict = verdict
        self.code = code
        self.message = message
        self.report = report
    }

    /// The object as the tool prints it: `file`, `verdict`, `code`, `message`, what was established, `directory`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("file", file.map { .text($0) })
        object.append("verdict", .text(verdict.rawValue))
        object.append("code", code.map { .text($0) } ?? .null)
        object.append("message", .text(message))
        report?.append(to: &object)
        object.add("directory", directory.map { .text($0) })
        return object
    }

    /// The daemon's answer: the same members, `lease`, and the details of the report.
    package var answer: JSONObject {
        var object = object
        object.add("lease", lease.map { .text($0) })
        report?.appendDetails(to: &object)
        return object
    }

    /// Reads an answer.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        guard let verdict = Verdict(rawValue: try reader.text("verdict")) else {
            throw reader.wrong("verdict", "a verdict")
        }
        self.verdict = verdict
        file = try reader.textIfPresent("file")
        code = try reader.textIfPresent("code")
        guard (code == nil) == (verdict == .accepted) else { throw reader.wrong("code", "what the verdict asks for") }
        message = try reader.text("message")
        report = try NshReport(reader)
        directory = try reader.textIfPresent("directory")
        lease = try reader.textIfPresent("lease")
    }

    /// What an accepted package is, in one line: `com.example.orders 1.4.0 (build 42)  Example Ltd  key 1a2b3c4d5e6f7081`.
    package static func summary(_ report: NshReport) -> String {
        var parts: [String] = []
        if let info = report.info { parts.append(summary(info)) }
        if let certificate = report.certificate {
            parts += [Printable.escaped(certificate.publisher, limit: 1024), "key \(certificate.keyID)"]
        }
        return parts.joined(separator: "  ")
    }

    /// What an app is, in a few words: `com.example.orders 1.4.0 (build 42)`.
    package static func summary(_ info: NshPackage.Info) -> String {
        let (id, version) = (Printable.escaped(info.id, limit: 1024), Printable.escaped(info.version, limit: 1024))
        return "\(id) \(version) (build \(info.build))"
    }
}
