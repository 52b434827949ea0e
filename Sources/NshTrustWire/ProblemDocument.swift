package import NshTrust

/// An error as the daemon answers it: RFC 9457, with our stable `code`.
package struct ProblemDocument: Hashable, Sendable {
    /// Its media type.
    package static let contentType = "application/problem+json"

    /// The HTTP status.
    package var status: Int
    /// The status in words.
    package var title: String
    /// The stable code.
    package var code: String
    /// One line for people, safe to show.
    package var detail: String
    /// The member of the request's body or query that is wrong.
    package var member: String?
    /// The oldest event still kept, with `eventsGone`.
    package var oldest: Int64?
    /// What had been established of a package that was refused.
    package var report: NshReport?

    /// Makes a problem.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - title: The status in words.
    ///   - code: The stable code.
    ///   - detail: One line for people, safe to show.
    ///   - member: The member of the request that is wrong.
    ///   - oldest: The oldest event still kept.
    ///   - report: What had been established of a refused package.
    package init(
        status: Int, title: String, code: String, detail: String, member: String? = nil, oldest: Int64? = nil,
        report: NshReport? = nil
    ) {
        self.status = status
        self.title = title
        self.code = code
        self.detail = detail
        self.member = member
        self.oldest = oldest
        self.report = report
    }

    /// The members: `type`, `title`, `status`, `detail`, `code`, then `member`, `oldest` where they say something, and of a
    /// refused package the same members as a verdict has, as far as they were established.
    package var object: JSONObject {
        var object: JSONObject = [
            "type": .text("about:blank"), "title": .text(title), "status": .integer(Int64(status)),
            "detail": .text(detail), "code": .text(code),
        ]
        object.add("member", member.map { .text($0) })
        object.add("oldest", oldest.map { .integer($0) })
        report?.append(to: &object)
        report?.appendDetails(to: &object)
        return object
    }

    /// Reads a problem.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        status = Int(try reader.integer("status"))
        title = try reader.text("title")
        code = try reader.text("code")
        detail = try reader.text("detail")
        member = try reader.textIfPresent("member")
        oldest = try reader.integerIfPresent("oldest")
        let report = try NshReport(reader)
        self.report = report.isEmpty ? nil : report
    }

    /// The error that a client throws for it.
    package var error: NshError { NshError(code: NshError.Code(rawValue: code), message: detail, report: report) }
}

extension NshReport {
    /// Whether nothing was established.
    fileprivate var isEmpty: Bool { roots.isEmpty && certificate == nil && info == nil && digest == nil }
}
