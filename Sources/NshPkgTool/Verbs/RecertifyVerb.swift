import NshCommandLine
import NshPublishing

/// `recertify`: a package gets a renewed certificate.
enum RecertifyVerb {
    static let verb = Verb(
        name: "recertify",
        operands: [Operand(name: "PACKAGE", kind: .file([".nshpkg"]), help: "a package that exists")],
        summary: "put a renewed or cosigned certificate into a package; its signature and digest stay the same",
        details: [
            "The certificate must be for the same release key, and the time of signing must lie in its window (certify --renew "
                + "keeps the beginning). The result is verified before it is kept; it may replace PACKAGE."
        ],
        options: [
            .value("certificate", nil, "FILE", .file([".cert"]), required: true, help: "the certificate to put in")
        ] + Packaging.trustOptions + [.output],
        examples: ["nsh-pkgtool recertify orders-6.nshpkg --certificate renewed.cert -o orders-6.nshpkg"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let path = try arguments.operand(0)
        let output = try arguments.required("output")
        let certificate = try SignedDocument(readingFile: try arguments.required("certificate"))
        let trust = try Packaging.trust(arguments)
        let package = try PackageFile(reading: path)
        let packaging = Packaging(Terminal.safe(path), invocation.console)
        try packaging.run(output) {
            try package.recertify(with: certificate, to: output, trust: trust, observer: packaging.observer)
        }
        return .done
    }
}
