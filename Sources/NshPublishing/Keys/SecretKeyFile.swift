package import NshTrust

/// A secret key file that has been read and not been opened.
///
/// What is secret in it lies in locked memory from the first read on. Printing or reflecting it shows the path and nothing
/// else.
///
/// - Spec: KEY-6, KEY-7, KEY-8
public struct SecretKeyFile: Sendable {
    /// Where it was read.
    public let path: String
    /// Something the owner should mend, such as permissions that let others read the file; nil when all is well.
    public let warning: String?
    private let document: SecretKeyDocument
    private let text: Text

    /// Shared by the copies of the file.
    private final class Text: Sendable {
        let parts: SecretKeyText
        init(_ parts: consuming SecretKeyText) { self.parts = parts }
    }

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
        let name = "the secret key file \(Printable.escaped(path))"
        let content = try InputFile.readLocked(path, limit: Self.maximumCount, name: name)
        let text = Text(
            try content.memory.withBytes { bytes in
                try SecretKeyText(parting: UnsafeRawBufferPointer(start: bytes, count: content.count))
            })
        let document = try SecretKeyDocument(parsing: text.parts.document)
        guard text.parts.withSecret({ $0.count == document.secret.count }) else {
            throw Refusal.malformed("\(name) is malformed: “secret” is no canonical base64")
        }
        self.document = document
        self.text = text
        self.path = path
        let mode = content.mode
        warning =
            mode & 0o077 != 0
            ? "\(name) has mode \(String(mode, radix: 8)): "
                + "others may use the key; chmod 600 it, or revoke the key if others had access" : nil
    }

    /// Tells whether a file says that it is a secret key file, looking at it in locked memory only.
    ///
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`.
    package static func isOne(_ path: String) throws -> Bool {
        do {
            let content = try InputFile.readLocked(path, limit: maximumCount, name: Printable.escaped(path))
            return content.memory.withBytes { isOne(UnsafeBufferPointer(start: $0, count: content.count)) }
        } catch let refusal as Refusal where refusal.code == .limitExceeded {
            return false
        }
    }

    /// Tells whether a text says that it is a secret key file.
    package static func isOne(_ text: some RandomAccessCollection<UInt8>) -> Bool {
        // A package may hold the words as well, and starts otherwise.
        guard text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else { return false }
        let mark = Array("\"\(SecretKeyDocument.format)\"".utf8)
        return text.indices.contains { text[$0...].starts(with: mark) }
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
                key = try text.parts.withSecret { secret in try SecretKey(fillingSeed: { $0.copyMemory(from: secret) })
                }
            case .sealed(let cost):
                let seal = SeedSeal(
                    salt: document.salt, nonce: document.nonce, cost: cost, associatedData: document.associatedData)
                let sealed = text.parts.withSecret { Array($0) }
                key = try seal.open(sealed, with: try passphrase())
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
