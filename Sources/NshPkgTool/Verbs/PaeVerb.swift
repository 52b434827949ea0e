import NshCommandLine
import NshPublishing
import NshTrust

/// `pae`: the bytes to sign.
enum PaeVerb {
    static let verb = Verb(
        name: "pae",
        operands: [
            Operand(
                name: "FILE", kind: .file([".cert", ".json", ".nshpkg"]), help: "a certificate, list, draft or package")
        ],
        summary: "write the bytes that a key elsewhere has to sign: HSM, KMS, air gap",
        details: [
            "They are the pre-authentication encoding of DSSE, to be signed with plain Ed25519. Of a package its header is meant. "
                + "They go to standard output, or to the file that -o names."
        ],
        options: [.value("output", "o", "FILE", .file([]), help: "the file to write instead of standard output")],
        examples: ["nsh-pkgtool pae draft.cert -o to-sign.bin"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let document = try SignedFile.document(try invocation.arguments.operand(0))
        if let path = invocation.arguments.value("output") {
            Interruption.remember()
            try OutputFile.write(document.bytesToSign, to: path)
            try invocation.console.answer(
                [
                    "file": .text(path), "verdict": .text("done"), "bytes": .integer(Int64(document.bytesToSign.count)),
                ],
                text: "OK  \(Terminal.safe(path)): \(Amount.count(Int64(document.bytesToSign.count), "byte")) to sign")
            return .done
        }
        guard !Terminal.isTerminal(1) else {
            throw UsageError(
                "these bytes are not for a terminal", hint: "name a file with -o, or send standard output to one")
        }
        try invocation.console.raw(document.bytesToSign)
        return .done
    }
}
