package import NshTrust

/// A certificate, revocation list or package header with its signatures, or without any while a key elsewhere is to
/// sign it.
///
/// Adding a signature never changes what is signed. Before anything is signed here, its payload is read strictly: a key
/// signs no document that a reader would refuse for its form.
public struct SignedDocument: Sendable {
    /// What a document is.
    public enum Kind: String, CaseIterable, Sendable {
        /// A root's statement about a release key.
        case certificate
        /// A root's statement about what is no longer trusted.
        case revocations
        /// What a release key says of a package.
        case packageHeader
    }

    /// The framing and what is in it.
    package let envelope: Envelope

    /// Takes an envelope; its payload is not looked into.
    package init(_ envelope: Envelope) { self.envelope = envelope }

    /// Reads a document with signatures, or a draft that has none yet.
    ///
    /// - Parameter bytes: The JSON envelope.
    /// - Throws: `malformed` for anything that breaks the form of an envelope or of what is in it.
    public init(parsing bytes: [UInt8]) throws {
        envelope = try publicly { try Envelope(parsingDraft: bytes) }
        try publicly { try checkPayload() }
    }

    /// Reads a document from a file.
    ///
    /// - Parameter path: The file.
    /// - Throws: `noSuchFile`, `notARegularFile`, `ioFailure`, `limitExceeded`, `malformed`.
    public init(readingFile path: String) throws {
        let limit = Int(Limits().revocationListBytes)
        try self.init(parsing: publicly { try InputFile.read(path, limit: limit, what: "the document") })
    }

    /// What the document is.
    public var kind: Kind {
        switch envelope.kind {
        case .certificate: .certificate
        case .revocations: .revocations
        case .package: .packageHeader
        }
    }

    /// The number of signatures, verified or not.
    public var signatureCount: Int { envelope.signatures.count }

    /// The document as it is written: compact JSON without a line end.
    public var bytes: [UInt8] { envelope.serialized }

    /// The bytes to sign with Ed25519: DSSE's pre-authentication encoding of type and payload.
    ///
    /// - Spec: ENV-9
    public var bytesToSign: [UInt8] { envelope.signedBytes }

    /// Tells whether the key has signed the document.
    ///
    /// - Parameter publicKeyText: The key in base64.
    /// - Returns: Whether one of the signatures is by that key over this document.
    /// - Throws: `malformed` when the text is no key.
    public func isSigned(by publicKeyText: String) throws -> Bool {
        try publicly {
            try isSigned(by: PublicKey(publishing: publicKeyText))
        }
    }

    /// Tells whether the key has signed the document.
    package func isSigned(by key: PublicKey) -> Bool { !Signers(of: envelope, among: [key]).keys.isEmpty }

    /// Returns the document with the key's signature added.
    ///
    /// - Parameter key: A root for certificates and lists, the certified release key for a package header.
    /// - Returns: The document with one signature more.
    /// - Throws: `exists` when the key has signed already, `limitExceeded` with eight signatures, `malformed` when a root
    ///   would certify itself.
    public func signed(by key: borrowing SecretKey) throws -> SignedDocument {
        try publicly {
            try checkNew(key.publicKey)
            let signed = SignedDocument(key.sign(envelope))
            // A fault while signing can leak the key: what does not verify never leaves.
            guard signed.isSigned(by: key.publicKey) else {
                throw Trouble(.ioFailure, "the signature just made does not verify; this machine computes wrongly")
            }
            return signed
        }
    }

    /// Returns a certificate or list with a further root's signature.
    ///
    /// - Parameter root: The root's key.
    /// - Returns: The document with one signature more.
    /// - Throws: `badRequest` for a package header, which roots do not sign; else as `signed(by:)`.
    public func cosigned(by root: borrowing SecretKey) throws -> SignedDocument {
        try publicly {
            guard kind != .packageHeader else {
                throw Trouble(.badRequest, "roots sign certificates and revocation lists, not packages")
            }
            return try signed(by: root)
        }
    }

    /// Returns the document with a signature that was made elsewhere over `bytesToSign`.
    ///
    /// - Parameters:
    ///   - signatureText: 64 bytes in base64.
    ///   - publicKeyText: The key that made it, in base64.
    /// - Returns: The document with one signature more.
    /// - Throws: `malformed` when either text is not that, `badSignature` when the signature is not by that key over this
    ///   document, `exists` when the key has signed already, `limitExceeded` with eight signatures.
    public func attaching(signature signatureText: String, by publicKeyText: String) throws -> SignedDocument {
        try publicly {
            let key = try PublicKey(publishing: publicKeyText)
            guard let bytes = Base64.decode(signatureText.utf8), bytes.count == 64 else {
                throw Refusal.malformed("a signature is the base64 of 64 bytes")
            }
            try checkNew(key)
            let signature = Envelope.Signature(keyID: key.id, bytes: bytes)
            let alone = Envelope(kind: envelope.kind, payload: envelope.payload, signatures: [signature])
            guard !Signers(of: alone, among: [key]).keys.isEmpty else {
                throw Refusal(
                    .badSignature,
                    "the signature is not by key \(key.id) over this document; sign exactly the bytes that pae prints")
            }
            return SignedDocument(
                Envelope(kind: envelope.kind, payload: envelope.payload, signatures: envelope.signatures + [signature]))
        }
    }

    private func checkNew(_ key: PublicKey) throws {
        guard !isSigned(by: key) else { throw Trouble(.exists, "key \(key.id) has signed this document already") }
        guard envelope.signatures.count < Self.maximumSignatures else {
            throw Refusal(.limitExceeded, "a document has at most \(Self.maximumSignatures) signatures")
        }
        if envelope.kind == .certificate, try certificate().key == key {
            throw Refusal.malformed("key \(key.id) cannot certify itself: a root is never a release key")
        }
    }

    /// The most signatures an envelope has.
    private static let maximumSignatures = 8

    private func checkPayload() throws(Refusal) {
        switch envelope.kind {
        case .certificate: _ = try certificate()
        case .revocations: _ = try revocationList()
        case .package: _ = try PackageHeader(parsing: envelope.signedBytes, in: envelope.payloadRange)
        }
    }

    /// The certificate in the document.
    ///
    /// - Throws: `malformed` when it is something else.
    package func certificate() throws(Refusal) -> Certificate {
        guard envelope.kind == .certificate else {
            throw .malformed("a certificate is expected, this is \(envelope.kind.subject)")
        }
        return try Certificate(parsing: envelope.signedBytes, in: envelope.payloadRange)
    }

    /// The revocation list in the document.
    ///
    /// - Throws: `malformed` when it is something else.
    package func revocationList() throws(Refusal) -> RevocationList {
        guard envelope.kind == .revocations else {
            throw .malformed("a revocation list is expected, this is \(envelope.kind.subject)")
        }
        return try RevocationList(parsing: envelope.signedBytes, in: envelope.payloadRange)
    }

    /// Writes the document to a file, whole or not at all.
    ///
    /// - Parameter path: Where; a regular file there is replaced.
    /// - Throws: `notARegularFile` when something else stands there, `noSuchFile`, `ioFailure`.
    public func write(to path: String) throws {
        try publicly { try OutputFile.write(bytes, to: path) }
    }
}

extension PublicKey {
    /// Reads a key that somebody named on the way to a signature.
    ///
    /// - Throws: `malformed` for anything but the base64 of 32 bytes and at most one line feed.
    init(publishing text: String) throws(Refusal) {
        guard let key = PublicKey(fileContent: Array(text.utf8)) else {
            throw .malformed("a public key is the base64 of 32 bytes")
        }
        self = key
    }
}
