/// A DSSE v1 envelope: a payload of one declared type and one to eight signatures over both.
///
/// Reading one interprets nothing but the framing. What the payload says counts once `Signers` has found who signed it.
///
/// - Spec: ENV-1 … ENV-6, ENV-9, LIM-14, LIM-15
package struct Envelope: Sendable {
    /// What an envelope may carry; one kind never passes for another, because the kind is signed too.
    package enum Kind: String, CaseIterable, Sendable {
        case certificate = "application/vnd.nsh.certificate.v1+json"
        case package = "application/vnd.nsh.package.v1+json"
        case revocations = "application/vnd.nsh.revocations.v1+json"

        /// The kind in words, for messages.
        package var subject: String {
            switch self {
            case .certificate: "the certificate"
            case .package: "the package header"
            case .revocations: "the revocation list"
            }
        }
    }

    /// One signature, not yet checked by anybody.
    package struct Signature: Sendable, Hashable {
        /// A hint at the key, empty when absent, which never decides anything.
        package let keyID: String
        /// 1–8192 bytes; only 64 can be Ed25519.
        package let bytes: [UInt8]

        /// Makes a signature entry.
        package init(keyID: String, bytes: [UInt8]) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    /// What the payload is.
    package let kind: Kind
    /// The signatures in the order of the document.
    package let signatures: [Signature]
    /// The bytes that are signed: the pre-authentication encoding of kind and payload.
    package let signedBytes: [UInt8]
    /// Where the payload lies in `signedBytes`.
    package let payloadRange: Range<Int>

    /// The payload, copied.
    package var payload: [UInt8] { Array(signedBytes[payloadRange]) }

    /// Makes an envelope to be signed or written.
    package init(kind: Kind, payload: [UInt8], signatures: [Signature] = []) {
        self.kind = kind
        self.signatures = signatures
        let prefix = Self.prefix(of: kind, payloadCount: payload.count)
        signedBytes = prefix + payload
        payloadRange = prefix.count..<(prefix.count + payload.count)
    }

    /// Reads an envelope.
    ///
    /// - Parameters:
    ///   - bytes: The JSON document.
    ///   - kind: The kind that must be declared in it.
    /// - Throws: `malformed` for any other kind and for anything that breaks the profile.
    package init(parsing bytes: [UInt8], as kind: Kind) throws(Refusal) {
        let found = try Self.parse(bytes, subject: "\(kind.subject)’s envelope")
        guard found.type == kind.rawValue else {
            let type = Printable.escaped(found.type, limit: 80)
            throw .malformed("\(kind.subject)’s envelope holds “\(type)”, expected “\(kind.rawValue)”")
        }
        self.init(kind: kind, payload: found.payload, signatures: found.signatures)
    }

    /// Reads an envelope that may lack signatures still: what a key elsewhere is about to sign.
    ///
    /// Nothing but signing takes such a draft; every reader refuses it.
    ///
    /// - Throws: `malformed` for anything else that breaks the profile or is of an unknown kind.
    package init(parsingDraft bytes: [UInt8]) throws(Refusal) {
        let found = try Self.parse(bytes, subject: "the envelope", minimumSignatures: 0)
        guard let kind = Kind(rawValue: found.type) else {
            throw .malformed("the envelope holds “\(Printable.escaped(found.type, limit: 80))”, which is not known")
        }
        self.init(kind: kind, payload: found.payload, signatures: found.signatures)
    }

    /// The envelope as it is written: compact, names sorted.
    package var serialized: [UInt8] {
        let entries = signatures.map { signature in
            JSONValue.object([
                "keyid": .text(signature.keyID), "sig": .text(Base64.encode(signature.bytes)),
            ])
        }
        return JSONValue.object([
            "payload": .text(Base64.encode(signedBytes[payloadRange])),
            "payloadType": .text(kind.rawValue),
            "signatures": .array(entries),
        ]).serialized
    }

    private static func prefix(of kind: Kind, payloadCount: Int) -> [UInt8] {
        Array("DSSEv1 \(kind.rawValue.utf8.count) \(kind.rawValue) \(payloadCount) ".utf8)
    }

    private enum Name: String, CaseIterable { case payload, payloadType, signatures }
    private enum SignatureName: String, CaseIterable { case keyid, sig }

    private static func parse(
        _ bytes: [UInt8], subject: String, minimumSignatures: Int = 1
    ) throws(Refusal) -> (type: String, payload: [UInt8], signatures: [Signature]) {
        try JSONReader.read(bytes, subject: subject) { (reader: inout JSONReader) throws(Refusal) in
            var type = ""
            var payload: [UInt8] = []
            var signatures: [Signature] = []
            try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
                switch name {
                case .payload: payload = try reader.base64()
                case .payloadType: type = try reader.text()
                case .signatures:
                    try reader.array { (reader: inout JSONReader) throws(Refusal) in
                        guard signatures.count < 8 else { throw reader.malformed("there are more than 8 signatures") }
                        signatures.append(try signature(&reader))
                    }
                }
            }
            guard signatures.count >= minimumSignatures else { throw reader.malformed("there is no signature") }
            return (type, payload, signatures)
        }
    }

    private static func signature(_ reader: inout JSONReader) throws(Refusal) -> Signature {
        var keyID = ""
        var bytes: [UInt8] = []
        try reader.members(of: SignatureName.self, optional: [.keyid]) {
            (reader: inout JSONReader, name: SignatureName) throws(Refusal) in
            switch name {
            case .keyid: keyID = try reader.text()
            case .sig:
                bytes = try reader.base64()
                guard (1...8192).contains(bytes.count) else {
                    throw reader.malformed("a signature has 1 to 8192 bytes, this one \(bytes.count)")
                }
            }
        }
        return Signature(keyID: keyID, bytes: bytes)
    }
}
