import NshTrust
import NshTrustWire

/// Reports the verdict on each file and keeps the greatest exit status.
struct VerdictReporter {
    /// More that a verb has to say about an accepted file.
    struct Extra {
        /// Where the files lie now.
        var directory: String?
    }

    private let console: Console
    private let roots: TrustedRoots
    private let now: Int64
    /// How it ended so far.
    private(set) var status = ExitStatus.done

    /// Prepares the reports of one run.
    ///
    /// - Parameters:
    ///   - console: Where they go.
    ///   - roots: The trusted roots, whose files are named in the chain.
    ///   - now: The time, in seconds since 1970 UTC; what runs out soon after it is warned of.
    init(console: Console, roots: TrustedRoots, now: Int64) {
        self.console = console
        self.roots = roots
        self.now = now
    }

    /// Reports a file that was accepted.
    mutating func accepted(_ file: String, _ report: NshReport, _ extra: Extra = Extra()) throws(OutputFailure) {
        if console.isJSON {
            try console.json(Self.object(file: file, failure: nil, report: report, extra: extra))
        } else if !console.isQuiet {
            try console.line(console.paint.good("OK") + "  " + Self.summary(report))
            if let directory = extra.directory { try console.line("    " + Terminal.safe(directory)) }
            if console.isVerbose {
                for line in ChainTree.lines(of: report, roots: roots) { try console.line("    " + line) }
            }
        }
        if console.isVerbose { try warnOfExpiry(report) }
    }

    /// Reports a file that was refused or could not be judged.
    mutating func failed(_ file: String, _ error: any Error) throws(OutputFailure) {
        let failure = Failure(error)
        let report = (error as? NshError)?.report
        status = max(status, failure.status)
        if console.isJSON {
            try console.json(Self.object(file: file, failure: failure, report: report, extra: Extra()))
        } else {
            try console.line(Self.line(failure, file: file, paint: console.paint))
            if console.isVerbose, let report, report.certificate != nil {
                try console.line("    established before that:")
                for line in ChainTree.lines(of: report, roots: roots) { try console.line("    " + line) }
            }
        }
        try console.hint(failure.advice)
    }

    /// The line of a failure: `REFUSED rolledBack  orders-5.nshpkg: build 5 is older …`.
    static func line(_ failure: Failure, file: String, paint: Paint) -> String {
        let word = failure.kind == .refused ? paint.bad("REFUSED") : paint.odd("ERROR")
        return "\(word) \(failure.code)  \(Terminal.safe(file)): \(failure.message)"
    }

    /// What an accepted package is, in one line.
    private static func summary(_ report: NshReport) -> String {
        var parts: [String] = []
        if let info = report.info {
            parts.append("\(Terminal.safe(info.id)) \(Terminal.safe(info.version)) (build \(info.build))")
        }
        if let certificate = report.certificate {
            parts += [Terminal.safe(certificate.publisher), "key \(certificate.keyID)"]
        }
        return parts.joined(separator: "  ")
    }

    /// The documented object: what was not established is absent.
    static func object(file: String, failure: Failure?, report: NshReport?, extra: Extra) -> JSONObject {
        var object = JSONObject()
        object.append("file", .text(file))
        object.append("verdict", .text(failure?.kind.rawValue ?? "accepted"))
        object.append("code", failure.map { .text($0.code) } ?? .null)
        object.append("message", .text(failure?.message ?? report.map(summary) ?? ""))
        guard let report else { return object }
        if let info = report.info {
            object.append(
                "app",
                .object([
                    "id": .text(info.id), "name": .text(info.name), "version": .text(info.version),
                    "build": .integer(Int64(info.build)),
                ]))
        }
        object.add("publisher", report.certificate.map { .text($0.publisher) })
        object.add("digest", report.digest.map { .text($0) })
        object.add("signedAt", report.signedAt.map { .integer($0) })
        object.add("key", report.certificate.map { .text($0.keyHash) })
        object.add("certificate", report.certificate.map { .object(CertificateView.object($0)) })
        if !report.roots.isEmpty { object.append("roots", .array(report.roots.map { .text($0.keyHash) })) }
        object.add("files", report.files.map { .integer($0) })
        object.add("unpackedSize", report.unpackedSize.map { .integer($0) })
        object.add("directory", extra.directory.map { .text($0) })
        return object
    }

    private func warnOfExpiry(_ report: NshReport) throws(OutputFailure) {
        guard let certificate = report.certificate, let text = Expiry.warning(certificate.notAfter, now: now) else {
            return
        }
        try console.warning("certificate \(certificate.serial) \(text)")
    }
}

/// A certificate as answers show it.
enum CertificateView {
    /// The members of the object.
    static func object(_ certificate: NshReport.Certificate) -> JSONObject {
        [
            "serial": .text(certificate.serial), "notBefore": .integer(certificate.notBefore),
            "notAfter": .integer(certificate.notAfter), "apps": .array(certificate.apps.map { .text($0) }),
            "content": .array(certificate.content.map { .text($0) }),
        ]
    }

    /// The window for people.
    static func window(_ certificate: NshReport.Certificate) -> String {
        "\(Timestamp.text(certificate.notBefore)) to \(Timestamp.text(certificate.notAfter))"
    }
}
