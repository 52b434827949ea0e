import NshCommandLine
import NshPublishing
import NshTrust

/// `attach`: a signature made elsewhere joins its document.
enum AttachVerb {
    static let verb = Verb(
        name: "attach",
        operands: [
            Operand(
                name: "FILE", kind: .file([".cert", ".json", ".nshpkg"]),
                help: "the certificate, list or draft that was signed")
        ],
        summary: "add a signature that was made elsewhere over the bytes of pae",
        details: ["The signature is verified first. Without -o the file itself is replaced."],
        options: [
            .value("signature", nil, "BASE64", required: true, help: "the 64 bytes of the signature in base64"),
            .value("key", nil, "FILE", .file([".pub"]), required: true, help: "the .pub file of the key that signed"),
        ] + Packaging.trustOptions + [
            .value("output", "o", "FILE", .file([]), help: "the file to write instead")
        ],
        examples: [
            "nsh-pkgtool attach draft.cert --signature \"$(base64 -w0 signature.bin)\" --key root.pub -o release.cert"
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let path = try arguments.operand(0)
        let key = try KeyFiles.publicKey(at: try arguments.required("key"))
        let signature = try arguments.required("signature")
        let output = arguments.value("output") ?? path
        if case .package = try SignedFile.kind(path) {
            let package = try PackageFile(reading: path)
            let trust = try Packaging.trust(arguments)
            let packaging = Packaging(Terminal.safe(path), invocation.console)
            try packaging.run(output) {
                try package.attach(
                    signature: signature, by: key.base64, to: output, trust: trust, observer: packaging.observer)
            }
            return .done
        }
        guard !arguments.has("root") else { throw UsageError("--root is for packages") }
        let signed = try SignedDocument(readingFile: path).attaching(signature: signature, by: key.base64)
        try MadeDocument.write(signed, to: output, signer: key, invocation)
        return .done
    }
}
