import NshCommandLine
import NshPublishing
import NshTrust

/// `cosign`: a further root signs.
enum CosignVerb {
    static let verb = Verb(
        name: "cosign",
        operands: [Operand(name: "FILE", kind: .file([".cert", ".json"]), help: "a certificate or revocation list")],
        summary: "add a further root's signature to a certificate or revocation list",
        details: [
            "What was signed before is not changed. A host that asks for several roots counts each of them once."
        ],
        options: [
            .value("root", nil, "FILE", .file([".secret"]), required: true, help: "the further root's secret key"),
            .passwordFile, .output,
        ],
        examples: ["nsh-pkgtool cosign release.cert --root root2.secret -o release.cert"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let document = try SignedDocument(readingFile: try arguments.operand(0))
        let root = try Signer.secret(try arguments.required("root"), invocation)
        let signed = try document.cosigned(by: root)
        try MadeDocument.write(signed, to: try arguments.required("output"), signer: root.publicKey, invocation)
        return .done
    }
}
