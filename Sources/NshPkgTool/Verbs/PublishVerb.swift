import NshPublishing
import NshTrust

/// `publish`: a directory or an archive becomes a signed package.
enum PublishVerb {
    static let verb = Verb(
        name: "publish",
        operands: [
            Operand(
                name: "DIR|ARCHIVE", kind: .file([".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".zip"]),
                help: "what a build wrote: a directory, a tar or a zip")
        ],
        summary: "sign a directory or archive into a package",
        details: [
            "The app’s id, name, version and build come from its app.json; options replace them in the package’s copy. The "
                + "directory itself is never written. What a host would refuse is refused here: an id, time or content that the "
                + "certificate does not cover, symbolic links, stray files, names that no reader takes; each is named. The same "
                + "files, key and SOURCE_DATE_EPOCH give the same bytes."
        ],
        options: [
            .value("key", nil, "FILE", .file([".secret"]), required: true, help: "the release key’s secret"),
            .value("certificate", nil, "FILE", .file([".cert"]), required: true, help: "the certificate of that key"),
            .value("id", nil, "ID", help: "the app id"),
            .value("name", nil, "TEXT", help: "the app’s name for people"),
            .value("version", nil, "V", help: "the version for people"),
            .value("build", nil, "N", help: "the build; a changed app needs a higher one"),
            .value("min-runtime", nil, "V", help: "the lowest runtime that can run it, such as 0.5.0"),
            .value("annotate", nil, "NAME=TEXT", repeatable: true, help: "add a signed note"),
            .value(
                "compression", nil, "KIND", .words(["zstd", "none"]), help: "how the files are stored; zstd by default"),
            .value("level", nil, "N", help: "the zstd level, 1 to 19; 9 by default"),
            .flag("include-stray", nil, "pack files that editors, desktops and version control leave behind"),
            .flag("follow-links", nil, "pack what a symbolic link leads to, when it lies inside"),
            .value(
                "root", nil, "FILE", .file([".pub"]), repeatable: true,
                help: "check that this root has signed the certificate"),
            .value("threshold", nil, "N", help: "with --root: how many of them must have signed"),
            .passwordFile, .output,
        ],
        examples: [
            "nsh-pkgtool publish build/orders --key release.secret --certificate release.cert --build 5 -o orders-5.nshpkg"
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        let options = try options(arguments)
        let source = try arguments.operand(0)
        let output = try arguments.required("output")
        let certificate = try SignedDocument(readingFile: try arguments.required("certificate"))
        let time = try SigningTime.current()
        let key = try Signer.secret(try arguments.required("key"), invocation)

        let remarks = Locked<[PackagingRemark]>([])
        let bar = ProgressBar("packing \(Terminal.safe(source))", isWanted: !console.isQuiet)
        var observer = PackagingObserver()
        observer.remark = { remark in remarks.withLock { $0.append(remark) } }
        observer.progress = { done, total in bar.update(done: done, total: total) }
        observer.isCancelled = { Interruption.signal != 0 }
        Interruption.remember()
        let package: PublishedPackage
        do {
            package = try PackagePublisher(certificate: certificate, options: options)
                .publish(source, to: output, signedBy: key, at: time, observer: observer)
        } catch {
            bar.finish()
            try report(remarks.withLock { $0 }, console)
            throw error
        }
        bar.finish()
        try report(remarks.withLock { $0 }, console)
        try console.answer(object(package, output), text: text(package, output))
        if console.isVerbose, case .notChecked = package.certificate {
            try console.note("whether a root that hosts trust signed the certificate was not checked; --root checks it")
        }
        return .done
    }

    private static func options(_ arguments: Arguments) throws -> PackageOptions {
        var options = PackageOptions()
        options.id = arguments.value("id")
        options.name = arguments.value("name")
        options.version = arguments.value("version")
        if let text = arguments.value("build") {
            options.build = try OptionValue.integer(text, "build", in: 0...JSONReader.maximumInteger)
        }
        options.minimumRuntime = arguments.value("min-runtime")
        for note in arguments.values("annotate") {
            let (name, text) = try OptionValue.pair(note, "annotate", "NAME=TEXT")
            options.annotations[name] = text
        }
        let level = try arguments.value("level").map { Int(try OptionValue.integer($0, "level", in: 1...19)) }
        if arguments.value("compression") == "none" {
            guard level == nil else { throw UsageError("--level belongs to --compression zstd") }
            options.compression = .none
        } else if let level {
            options.compression = .zstd(level: level)
        }
        if arguments.has("include-stray") { options.strayFiles = .included }
        if arguments.has("follow-links") { options.symbolicLinks = .followed }
        options.trust.roots = try arguments.values("root").map { try KeyFiles.publicKeyText(readingFile: $0) }
        if let text = arguments.value("threshold") {
            guard !options.trust.roots.isEmpty else { throw UsageError("--threshold counts the roots that --root names") }
            options.trust.threshold = Int(try OptionValue.integer(text, "threshold", in: 1...16))
        }
        return options
    }

    /// Says what was seen on the way; each file that stands in the way is named.
    private static func report(_ remarks: [PackagingRemark], _ console: Console) throws(OutputFailure) {
        for remark in remarks {
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

    private static func object(_ package: PublishedPackage, _ path: String) -> JSONObject {
        [
            "file": .text(path), "verdict": .text("done"),
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

    private static func text(_ package: PublishedPackage, _ path: String) -> String {
        "OK  \(Terminal.safe(path)): \(package.id) \(Terminal.safe(package.version)) (build \(package.build))  "
            + "\(Amount.count(package.files, "file")), \(Amount.bytes(package.packageSize))"
    }
}
