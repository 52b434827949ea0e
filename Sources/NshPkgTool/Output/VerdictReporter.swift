import NshTrust
import NshTrustWire

/// Reports the verdict on each file and keeps the greatest exit status.
struct VerdictReporter {
    private let console: Console
    private let rootFiles: [String: String]
    private let now: Int64
    /// How it ended so far.
    private(set) var status = ExitStatus.done

    /// Prepares the reports of one run.
    ///
    /// - Parameters:
    ///   - console: Where they go.
    ///   - rootFiles: The files that name the trusted roots, by key hash; the chain shows them.
    ///   - now: The time, in seconds since 1970 UTC; what runs out soon after it is warned of.
    init(console: Console, rootFiles: [String: String], now: Int64) {
        self.console = console
        self.rootFiles = rootFiles
        self.now = now
    }

    /// Reports a file that was accepted, and the directory where its files lie now.
    mutating func accepted(_ file: String, _ report: NshReport, directory: String? = nil) throws(OutputFailure) {
        if console.isJSON {
            try console.json(VerdictDocument(accepted: report, directory: directory, file: file).object)
        } else if !console.isQuiet {
            try console.line(console.paint.good("OK") + "  " + VerdictDocument.summary(report))
            if let directory { try console.line("    " + Terminal.safe(directory)) }
            if console.isVerbose {
                for line in ChainTree.lines(of: report, rootFiles: rootFiles) { try console.line("    " + line) }
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
            try console.json(failure.object(file: file, report: report))
        } else {
            try console.line(Self.line(failure, file: file, paint: console.paint))
            if console.isVerbose, let report, report.certificate != nil {
                try console.line("    established before that:")
                for line in ChainTree.lines(of: report, rootFiles: rootFiles) { try console.line("    " + line) }
            }
        }
        try console.hint(failure.advice)
    }

    /// The line of a failure: `REFUSED rolledBack  orders-5.nshpkg: build 5 is older …`.
    static func line(_ failure: Failure, file: String, paint: Paint) -> String {
        let word = failure.kind == .refused ? paint.bad("REFUSED") : paint.odd("ERROR")
        return "\(word) \(failure.code)  \(Terminal.safe(file)): \(failure.message)"
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
    /// The window for people.
    static func window(_ certificate: NshReport.Certificate) -> String {
        "\(Timestamp.text(certificate.notBefore)) to \(Timestamp.text(certificate.notAfter))"
    }
}
