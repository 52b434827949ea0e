import NshCommandLine
import NshPublishing
import NshTrust

/// `keygen`: makes a key pair.
enum KeygenVerb {
    static let verb = Verb(
        name: "keygen",
        operands: [
            Operand(name: "NAME", kind: .file([]), help: "the key's name; NAME.pub and NAME.secret are written")
        ],
        summary: "make a key pair, for a root or for releases",
        details: [
            "NAME.pub is the public half, for everybody. NAME.secret is for its owner alone (mode 0600) and sealed with a "
                + "passphrase, which is asked for on the terminal. Files that are there already are never overwritten.",
            "A root key certifies release keys and revokes them: keep it offline. A release key signs packages.",
        ],
        options: [
            .flag("no-password", nil, "do not seal the secret: whoever reads the file has the key"),
            .passwordFile,
        ],
        choices: [Verb.Choice(names: ["no-password", "password-file"])],
        examples: ["nsh-pkgtool keygen root", "nsh-pkgtool keygen release --password-file passphrase.txt"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let name = try invocation.arguments.operand(0)
        try KeyFiles.checkFree(name)
        try ProcessGuard.forbidCoreDumps()
        let paths: KeyFiles.Paths
        let key: SecretKey
        let isSealed = !invocation.arguments.has("no-password")
        if isSealed {
            let passphrase = try passphrase(for: name, invocation)
            key = try SecretKey.generate()
            try ProcessGuard.warnOfSwap(invocation.console)
            Interruption.remember()
            paths = try KeyFiles.create(key, named: name, sealedWith: passphrase)
        } else {
            key = try SecretKey.generate()
            try ProcessGuard.warnOfSwap(invocation.console)
            Interruption.remember()
            paths = try KeyFiles.createUnsealed(key, named: name)
        }
        let publicKey = key.publicKey
        try invocation.console.answer(
            [
                "verdict": .text("done"), "publicFile": .text(paths.publicKey), "secretFile": .text(paths.secretKey),
                "key": .text(publicKey.hash.hex), "sealed": .boolean(isSealed),
            ],
            text: "OK  key \(publicKey.id)  \(Terminal.safe(paths.publicKey)), \(Terminal.safe(paths.secretKey)) "
                + (isSealed ? "(sealed)" : "(no passphrase)"))
        return .done
    }

    private static func passphrase(for name: String, _ invocation: Invocation) throws -> Passphrase {
        if let file = invocation.arguments.value("password-file") { return try Passphrase(readingFile: file) }
        do {
            return try PassphrasePrompt.askTwice("New passphrase for \(Terminal.safe(name)).secret")
        } catch let trouble as Trouble where trouble.code == .ioFailure {
            throw Failure(
                .error, trouble.code.rawValue, "\(trouble.message)",
                hint: "give --password-file FILE, or --no-password for a key that anybody who reads the file can use")
        }
    }
}
