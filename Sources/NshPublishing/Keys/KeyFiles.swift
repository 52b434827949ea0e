package import NshTrust

/// The two files of a key: `NAME.pub` and `NAME.secret`.
///
/// - Spec: KEY-1, KEY-6, KEY-9
public enum KeyFiles {
    /// Where a new key was written.
    public struct Paths: Hashable, Sendable {
        /// `NAME.pub`.
        public let publicKey: String
        /// `NAME.secret`.
        public let secretKey: String
    }

    /// Writes a new key, sealed under a passphrase.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - name: Path and name of both files without their endings.
    ///   - passphrase: What will open the file.
    ///   - cost: How much work a guess costs.
    /// - Returns: The paths of both files.
    /// - Throws: `exists` when either file is there: nothing is overwritten, and no file is left without the other;
    ///   `ioFailure`, `noSuchFile`.
    @discardableResult
    public static func create(
        _ key: borrowing SecretKey, named name: String, sealedWith passphrase: borrowing Passphrase,
        cost: KeyDerivationCost = .standard
    ) throws -> Paths {
        try publicly {
            let salt = try Sodium.randomBytes(SeedSeal.saltCount)
            let nonce = try Sodium.randomBytes(SeedSeal.nonceCount)
            let open = SecretKeyDocument(
                protection: .sealed(cost), nonce: nonce, salt: salt, publicKey: key.publicKey, secret: [])
            let seal = SeedSeal(salt: salt, nonce: nonce, cost: cost, associatedData: open.associatedData)
            let document = SecretKeyDocument(
                protection: .sealed(cost), nonce: nonce, salt: salt, publicKey: key.publicKey,
                secret: try seal.seal(key, under: passphrase))
            let text = document.serialized + [0x0A]
            return try write({ try text.withUnsafeBytes($0) }, of: document, named: name)
        }
    }

    /// Writes a new key as it is: whoever can read the file has the key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - name: Path and name of both files without their endings.
    /// - Returns: The paths of both files.
    /// - Throws: As `create(_:named:sealedWith:cost:)`.
    @discardableResult
    public static func createUnsealed(_ key: borrowing SecretKey, named name: String) throws -> Paths {
        try publicly {
            let document = SecretKeyDocument(
                protection: .none, nonce: [UInt8](repeating: 0, count: SeedSeal.nonceCount),
                salt: [UInt8](repeating: 0, count: SeedSeal.saltCount), publicKey: key.publicKey, secret: [])
            let text = try SecretKeyText.text(of: document.serialized, holding: key)
            return try write({ try text.withBuffer($0) }, of: document, named: name)
        }
    }

    /// Tells whether a key of that name can be written, before anybody is asked for a passphrase.
    ///
    /// - Throws: `exists` when either file is there.
    public static func checkFree(_ name: String) throws {
        try publicly {
            let paths = try paths(of: name)
            for path in [paths.publicKey, paths.secretKey] {
                if OutputFile.isTaken(path) { throw taken(path) }
            }
        }
    }

    /// Reads a public key file.
    ///
    /// - Parameter path: The file, `NAME.pub`.
    /// - Returns: The key in base64.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`, `limitExceeded`; `malformed` for anything but the base64
    ///   of 32 bytes and at most one line feed.
    public static func publicKeyText(readingFile path: String) throws -> String {
        try publicly { try publicKey(at: path).base64 }
    }

    /// Reads a public key file.
    ///
    /// - Throws: As `publicKeyText(readingFile:)`.
    package static func publicKey(at path: String) throws -> PublicKey {
        let content = try InputFile.read(path, limit: 1024, what: "the public key file")
        guard let key = PublicKey(fileContent: content) else {
            throw Refusal.malformed(
                "\(Printable.escaped(path)) is no public key file: the base64 of 32 bytes and at most one line feed")
        }
        return key
    }

    private static func paths(of name: String) throws -> Paths {
        _ = try OutputFile.split(name)
        return Paths(publicKey: name + ".pub", secretKey: name + ".secret")
    }

    /// Writes both files.
    ///
    /// - Parameters:
    ///   - lend: Lends the text of the secret one, a line feed included.
    ///   - document: What it says.
    ///   - name: Path and name of both without their endings.
    /// - Returns: Their paths.
    /// - Throws: As `create(_:named:sealedWith:cost:)`.
    private static func write(
        _ lend: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void, of document: SecretKeyDocument,
        named name: String
    ) throws -> Paths {
        let paths = try paths(of: name)
        let secret = try make(paths.secretKey, mode: 0o600)
        let open = try make(paths.publicKey, mode: 0o644)
        try lend { try secret.write($0) }
        try open.write(Array(document.statedPublicKey.base64.utf8) + [0x0A])
        // The secret comes first: should the process end between the two, no public key is there that nobody can use.
        try place(secret)
        do {
            try place(open)
            do {
                try open.syncDirectory(orSay: "cannot write the directory of \(Printable.escaped(name))")
            } catch {
                open.takeAway()
                throw error
            }
        } catch {
            secret.takeAway()
            throw error
        }
        return paths
    }

    private static func make(_ path: String, mode: UInt32) throws -> OutputFile {
        // Before it is asked what stands there: whatever it is, it is in the way.
        if OutputFile.isTaken(path) { throw taken(path) }
        return try OutputFile(at: path, mode: mode, isExact: true)
    }

    private static func place(_ file: borrowing OutputFile) throws {
        do {
            try file.place()
        } catch let trouble as Trouble where trouble.code == .exists {
            throw taken(file.path)
        }
    }

    private static func taken(_ path: String) -> Trouble {
        let shown = Printable.escaped(path)
        return Trouble(.exists, "\(shown) is there already, and keys are never overwritten; choose another name")
    }
}
