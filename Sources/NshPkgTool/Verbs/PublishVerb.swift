import NshCommandLine
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
            .value(
                "key", nil, "FILE", .file([".secret", ".pub"]), required: true,
                help: "the release key’s secret, or .pub for a draft"),
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
        ] + Packaging.trustOptions + [
            .passwordFile, .output,
        ],
        examples: [
            "nsh-pkgtool publish build/orders --key release.secret --certificate release.cert --build 5 -o orders-5.nshpkg"
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let options = try options(arguments)
        let source = try arguments.operand(0)
        let output = try arguments.required("output")
        let certificate = try SignedDocument(readingFile: try arguments.required("certificate"))
        let time = try SigningTime.current()
        let key = try Signer.read(try arguments.required("key"), invocation)
        let packaging = Packaging("packing \(Terminal.safe(source))", invocation.console)
        let publisher = PackagePublisher(certificate: certificate, options: options)
        switch key {
        case .secret(let key):
            try packaging.run(output) {
                try publisher.publish(source, to: output, signedBy: key, at: time, observer: packaging.observer)
            }
        case .elsewhere(let key):
            try packaging.run(output, isDraft: true) {
                try publisher.publishDraft(
                    source, to: output, forKey: key.base64, at: time, observer: packaging.observer)
            }
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
        options.trust = try Packaging.trust(arguments)
        return options
    }
}
