import NshCommandLine
import NshPublishing
import NshTrust

/// Watches a package being made for the verbs that make one, and reports it.
struct Packaging {
    /// What the work reports to.
    private(set) var observer = PackagingObserver()
    private let remarks = Locked<[PackagingRemark]>([])
    private let bar: ProgressBar
    private let console: Console

    /// Begins to watch, and to remember an interruption.
    init(_ label: String, _ console: Console) {
        let bar = ProgressBar(label, isWanted: !console.isQuiet)
        let remarks = remarks
        self.bar = bar
        self.console = console
        observer.remark = { remark in remarks.withLock { $0.append(remark) } }
        observer.progress = { done, total in bar.update(done: done, total: total) }
        observer.isCancelled = { Interruption.signal != 0 }
        Interruption.remember()
    }

    /// Does the work, says what was seen on the way, and reports the package.
    ///
    /// - Parameters:
    ///   - path: The package to write.
    ///   - isDraft: Whether a key elsewhere is still to sign it.
    ///   - work: Makes the package.
    /// - Throws: What the work throws, `OutputFailure`.
    func run(_ path: String, isDraft: Bool = false, _ work: () throws -> PublishedPackage) throws {
        let made: PublishedPackage
        do {
            made = try work()
        } catch {
            bar.finish()
            try reportRemarks()
            throw error
        }
        bar.finish()
        try reportRemarks()
        let kind = isDraft ? "draft of " : ""
        try console.answer(
            Self.object(made, path, isDraft: isDraft),
            text: "OK  \(Terminal.safe(path)): \(kind)\(made.id) \(Terminal.safe(made.version)) "
                + "(build \(made.build))  \(Amount.count(made.files, "file")), \(Amount.bytes(made.packageSize))"
        )
        if isDraft { try console.hint(Self.nextStep(path)) }
        if console.isVerbose, case .notChecked = made.certificate {
            try console.note("whether a root that hosts trust signed the certificate was not checked; --root checks it")
        }
    }

    /// What is to be done with a draft.
    static func nextStep(_ path: String) -> String {
        let shown = Terminal.safe(path)
        return "let the key sign the bytes of nsh-pkgtool pae \(shown), then "
            + "nsh-pkgtool attach \(shown) --signature BASE64 --key FILE.pub"
    }

    /// Says what was seen on the way; each file that stands in the way is named.
    private func reportRemarks() throws(OutputFailure) {
        for remark in remarks.withLock({ $0 }) {
            switch remark {
            case .note(let text): try console.note(text)
            case .problem(let path, let code, let message):
                if console.isJSON {
                    try console.json([
                        "file": .text(path), "verdict": .text("refused"), "code": .text(code),
                        "message": .text(message),
                    ])
                } else {
                    try console.error("\(code)  \(Terminal.safe(path)): \(message)")
                }
            }
        }
    }

    private static func object(_ package: PublishedPackage, _ path: String, isDraft: Bool) -> JSONObject {
        [
            "file": .text(path), "verdict": .text("done"), "draft": .boolean(isDraft),
            "app": .object([
                "id": .text(package.id), "name": .text(package.name), "version": .text(package.version),
                "build": .integer(package.build),
            ]),
            "digest": .text(package.digest), "manifest": .text(package.manifest),
            "signedAt": .integer(package.signedAt),
            "files": .integer(package.files), "unpackedSize": .integer(package.unpackedSize),
            "packageSize": .integer(package.packageSize),
        ]
    }

    /// The options that say which roots must have signed the certificate.
    static let trustOptions: [Option] = [
        .value(
            "root", nil, "FILE", .file([".pub"]), repeatable: true,
            help: "check that this root has signed the certificate"),
        .value("threshold", nil, "N", help: "with --root: how many of them must have signed"),
    ]

    /// Reads those options.
    ///
    /// - Throws: `UsageError`, or what reading a key file throws.
    static func trust(_ arguments: Arguments) throws -> CertificateTrust {
        var trust = CertificateTrust()
        trust.roots = try arguments.values("root").map { try KeyFiles.publicKeyText(readingFile: $0) }
        if let text = arguments.value("threshold") {
            guard !trust.roots.isEmpty else { throw UsageError("--threshold counts the roots that --root names") }
            trust.threshold = Int(try OptionValue.integer(text, "threshold", in: 1...16))
        }
        return trust
    }
}
