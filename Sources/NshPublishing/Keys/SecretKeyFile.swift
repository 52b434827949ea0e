package import NshTrust

/// A secret key file that has been read and not been opened.
///
/// Of a file without a passphrase this value holds the seed in memory that is not locked: let go of it once the key is
/// open. Printing or reflecting it shows the path and nothing else.
///
/// - Spec: KEY-6, KEY-7, KEY-8
public struct SecretKeyFile: Sendable {
    /// Where it was read.
    public let path: String
    /// Something the owner should mend, such as permissions that let others read the file; nil when all is well.
    public let warning: String?
    private let document: SecretKeyDocument

    /// Bytes that a key file may have.
    static let maximumCount = 16 << 10

    /// Reads a key file; nothing in it is believed yet.
    ///
    /// - Parameter path: The file, `NAME.secret`.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`, `limitExceeded`; `malformed` for anything that is not
    ///   exactly the format.
    public init(reading path: String) throws {
        self = try publicly { try SecretKeyFile(fromFile: path) }
    }

    private init(fromFile path: String) throws {
        let content = try InputFile.read(path, limit: Self.maximumCount, what: "the secret key file")
        document = try SecretKeyDocument(parsing: content.bytes)
        self.path = path
        warning =
            content.isOpenToOthers
            ? "the secret key file \(Printable.escaped(path)) has mode \(String(content.mode, radix: 8)): "
                + "others may use the key; chmod 600 it, or revoke the key if others had access" : nil
    }

    /// Whether a passphrase is needed to open it.
    public var isSealed: Bool {
        if case .sealed = document.protection { return true }
        return false
    }

    /// The public half as the file states it, in base64; only `open` shows that it is true.
    public var statedPublicKeyText: String { document.statedPublicKey.base64 }

    /// The public half as the file states it; only `open` shows that it is true.
    package var statedPublicKey: PublicKey { document.statedPublicKey }

    /// Opens the key.
    ///
    /// - Parameter passphrase: Asked only when the file is sealed.
    /// - Returns: The key, whose public half was computed again and is the one that the file states.
    /// - Throws: `wrongPassphrase` when the seal does not open, for whatever reason; `malformed` when the public half is
    ///   another key's; what `passphrase` throws.
    public func open(passphrase: () throws -> Passphrase) throws -> SecretKey {
        try publicly {
            let key: SecretKey
            switch document.protection {
            case .none:
                key = try SecretKey(seed: document.secret)
            case .sealed(let cost):
                let seal = SeedSeal(
                    salt: document.salt, nonce: document.nonce, cost: cost, associatedData: document.associatedData)
                key = try seal.open(document.secret, with: try passphrase())
            }
            guard key.publicKey == document.statedPublicKey else {
                throw Refusal.malformed(
                    "the secret key file \(Printable.escaped(path)) states the public key of another secret; "
                        + "it was altered, and nothing is signed with it")
            }
            return key
        }
    }
}

extension SecretKeyFile: CustomStringConvertible, CustomReflectable {
    /// The path, escaped.
    public var description: String { "secret key file \(Printable.escaped(path))" }

    /// No children: a debugger's or logger's dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
