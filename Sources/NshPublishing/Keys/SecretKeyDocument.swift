internal import NshTrust

/// What a secret key file says, before anything in it has been opened.
///
/// - Spec: KEY-6, KEY-7, LIM-25
struct SecretKeyDocument: Sendable {
    /// How the seed is kept.
    enum Protection: Sendable {
        /// As it is: whoever reads the file has the key.
        case none
        /// Sealed under a passphrase.
        case sealed(KeyDerivationCost)
    }

    /// The greatest `memory`, in bytes.
    static let memoryMax: Int64 = 1 << 30
    /// The greatest `operations`, in passes.
    static let operationsMax: Int64 = 16
    /// What Argon2id needs at least, in bytes and passes.
    private static let (memoryMin, operationsMin): (Int64, Int64) = (8192, 1)

    /// What the member “format” of every secret key file says.
    static let format = "nsh-secret-key-1"
    private static let cipher = "xchacha20poly1305"
    private static let derivation = "argon2id"
    private static let nothing = "none"

    private enum Name: String, CaseIterable {
        case cipher, format, kdf, memory, nonce, operations, `public`, salt, secret
    }

    let protection: Protection
    let nonce: [UInt8]
    let salt: [UInt8]
    /// The public half as the file states it: shown, and compared with the computed one.
    let statedPublicKey: PublicKey
    /// The 48 sealed bytes; of a file that was read, as many zeros as `SecretKeyText` holds bytes.
    let secret: [UInt8]

    /// Makes the document of a new key file.
    init(protection: Protection, nonce: [UInt8], salt: [UInt8], publicKey: PublicKey, secret: [UInt8]) {
        self.protection = protection
        self.nonce = nonce
        self.salt = salt
        statedPublicKey = publicKey
        self.secret = secret
    }

    /// Reads the document.
    ///
    /// - Throws: `malformed` for anything that breaks the format.
    init(parsing bytes: [UInt8]) throws(Refusal) {
        self = try JSONReader.read(bytes, subject: "the secret key file") {
            (reader: inout JSONReader) throws(Refusal) in
            try SecretKeyDocument(&reader)
        }
    }

    private init(_ reader: inout JSONReader) throws(Refusal) {
        var words: (cipher: String, kdf: String, format: String) = ("", "", "")
        var cost: (memory: Int64, operations: Int64) = (0, 0)
        var (nonce, salt, secret): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        var key: PublicKey?
        try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .cipher: words.cipher = try reader.text()
            case .format: words.format = try reader.text()
            case .kdf: words.kdf = try reader.text()
            case .memory: cost.memory = try reader.integer(in: 0...Self.memoryMax)
            case .nonce: nonce = try reader.base64(count: SeedSeal.nonceCount)
            case .operations: cost.operations = try reader.integer(in: 0...Self.operationsMax)
            case .public: key = try reader.publicKey()
            case .salt: salt = try reader.base64(count: SeedSeal.saltCount)
            case .secret: secret = try reader.base64()
            }
        }
        guard words.format == Self.format else { throw reader.malformed("“format” is not “\(Self.format)”") }
        let protection: Protection
        let count: Int
        switch (words.cipher, words.kdf) {
        case (Self.nothing, Self.nothing):
            protection = .none
            count = SecretKey.seedCount
        case (Self.cipher, Self.derivation):
            guard cost.memory >= Self.memoryMin, cost.operations >= Self.operationsMin else {
                throw reader.malformed("argon2id takes at least \(Self.memoryMin) bytes and one pass")
            }
            protection = .sealed(KeyDerivationCost(operations: cost.operations, memory: cost.memory))
            count = SecretKey.seedCount + SeedSeal.overhead
        default:
            throw reader.malformed("“cipher” and “kdf” are “\(Self.cipher)” with “\(Self.derivation)”, or both “none”")
        }
        guard secret.count == count else {
            throw reader.malformed("“secret” has \(secret.count) bytes, \(count) are expected")
        }
        guard let key else { throw reader.malformed("“public” is missing") }
        self.init(protection: protection, nonce: nonce, salt: salt, publicKey: key, secret: secret)
    }

    /// What the seal covers: the document with `secret` empty, names sorted, no white space.
    var associatedData: [UInt8] { serialized(secret: []) }

    /// The document as it is written, without a line end.
    var serialized: [UInt8] { serialized(secret: secret) }

    private func serialized(secret: [UInt8]) -> [UInt8] {
        var (cipher, kdf, cost) = (Self.nothing, Self.nothing, KeyDerivationCost(operations: 0, memory: 0))
        if case .sealed(let sealedCost) = protection {
            (cipher, kdf, cost) = (Self.cipher, Self.derivation, sealedCost)
        }
        return JSONValue.object([
            "cipher": .text(cipher),
            "format": .text(Self.format),
            "kdf": .text(kdf),
            "memory": .integer(cost.memory),
            "nonce": .text(Base64.encode(nonce)),
            "operations": .integer(cost.operations),
            "public": .text(statedPublicKey.base64),
            "salt": .text(Base64.encode(salt)),
            "secret": .text(Base64.encode(secret)),
        ]).serialized
    }
}

extension SecretKeyDocument: CustomStringConvertible, CustomReflectable {
    var description: String { "secret key document" }

    /// No children: a dump shows no secret.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
