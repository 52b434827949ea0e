import NshCommandLine
import NshPublishing
import NshTrust

/// The key that an option names: secret, to sign with, or public, to draft what a key elsewhere signs.
enum Signer: ~Copyable {
    /// A secret key, opened.
    case secret(SecretKey)
    /// A public key; its secret half is in an HSM, a KMS or behind an air gap.
    case elsewhere(PublicKey)

    /// Reads a key file of either kind.
    ///
    /// - Parameters:
    ///   - path: A `.secret` or a `.pub` file.
    ///   - invocation: Says where the passphrase comes from.
    /// - Returns: The key.
    /// - Throws: What reading and opening key files throws.
    static func read(_ path: String, _ invocation: Invocation) throws -> Signer {
        if let key = PublicKey(fileContent: try head(path)) { return .elsewhere(key) }
        return .secret(try secret(path, invocation))
    }

    /// Opens a secret key file.
    ///
    /// - Throws: As `read`; a public key is refused with a word on what it is.
    static func secret(_ path: String, _ invocation: Invocation) throws -> SecretKey {
        if PublicKey(fileContent: try head(path)) != nil {
            throw Refusal.malformed("\(Terminal.safe(path)) is a public key, a .secret file is needed")
        }
        try ProcessGuard.forbidCoreDumps()
        let file = try SecretKeyFile(reading: path)
        if let warning = file.warning { try invocation.console.warning(warning) }
        try ProcessGuard.warnOfSwap(invocation.console)
        return try file.open {
            if let passwordFile = invocation.arguments.value("password-file") {
                return try Passphrase(readingFile: passwordFile)
            }
            return try PassphrasePrompt.ask("Passphrase of \(Terminal.safe(path))")
        }
    }

    /// The public half.
    var publicKey: PublicKey {
        switch self {
        case .secret(let key): key.publicKey
        case .elsewhere(let key): key
        }
    }

    private static func head(_ path: String) throws -> [UInt8] {
        let file = try PlainFile.open(path, name: Terminal.safe(path))
        // A longer one is no public key, and what is secret in it is not for this memory.
        guard file.status.size <= 45 else { return [] }
        return try file.take().contents(limit: 45, Terminal.safe(path))
    }
}
