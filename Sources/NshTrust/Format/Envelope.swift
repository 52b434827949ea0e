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
    /// The document as it came, where it was kept.
    private let source: Source

    /// What an envelope keeps of its document.
    private enum Source: Sendable {
        /// Nothing: it was made here, or the caller has the document.
        case none
        /// The whole of it.
        case document([UInt8])
        /// What stands before and behind the payload's text, which is one with the payload: base64 has one spelling.
        case frame(head: [UInt8], tail: [UInt8])
    }

    /// The payload, copied.
    package var payload: [UInt8] { Array(signedBytes[payloadRange]) }

    /// Makes an envelope to be signed or written.
    package init(kind: Kind, payload: [UInt8], signatures: [Signature] = []) {
        self.init(kind: kind, payload: payload, signatures: signatures, source: .none)
    }

    private init(kind: Kind, payload: consuming [UInt8], signatures: [Signature], source: Source) {
        let prefix = Self.prefix(of: kind, payloadCount: payload.count)
        payload.insert(contentsOf: prefix, at: 0)
        payloadRange = prefix.count..<payload.count
        signedBytes = payload
        self.kind = kind
        self.signatures = signatures
        self.source = source
    }

    /// Reads an envelope.
    ///
    /// - Parameters:
    ///   - bytes: The JSON document.
    ///   - kind: The kind that must be declared in it.
    /// - Throws: `malformed` for any other kind and for anything that breaks the profile.
    package init(parsing bytes: [UInt8], as kind: Kind) throws(Refusal) {
        let found = try Self.parse(bytes, as: kind)
        self.init(kind: kind, payload: try found.payload(in: bytes), signatures: found.signatures)
    }

    /// Reads an envelope whose document may be as long as memory allows: the payload is decoded where its text stands, and
    /// `forEachPiece` gives the document back.
    ///
    /// - Parameters:
    ///   - document: The JSON document, given away; where the caller keeps it, it is copied.
    ///   - kind: The kind that must be declared in it.
    /// - Throws: `malformed` for any other kind and for anything that breaks the profile.
    package init(taking document: consuming [UInt8], as kind: Kind) throws(Refusal) {
        let found = try Self.parse(document, as: kind)
        let (head, tail) = (found.text.lowerBound, document.count - found.text.upperBound)
        // What stands around the payload is short unless somebody made it long; then the document is kept instead.
        guard found.decoded == nil, max(head, tail) <= 1 << 20 else {
            self.init(
                kind: kind, payload: try found.payload(in: document), signatures: found.signatures,
                source: .document(document))
            return
        }
        let frame = Source.frame(head: Array(document[..<head]), tail: Array(document[found.text.upperBound...]))
        guard let count = Base64.decodeInPlace(&document, text: found.text) else { throw found.notBase64 }
        document.removeLast(document.count - count)
        self.init(kind: kind, payload: consume document, signatures: found.signatures, source: frame)
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
        self.init(kind: kind, payload: try found.payload(in: bytes), signatures: found.signatures)
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

    /// Hands over the document in pieces, front to back: as it came, for an envelope that took it, else as it is written.
    ///
    /// - Parameter body: Takes a piece, of a megabyte and a half at most where the payload is long.
    /// - Throws: What the body throws.
    package func forEachPiece<Failure: Error>(_ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        switch source {
        case .none: try body(serialized)
        case .document(let document): try body(document)
        case .frame(let head, let tail):
            try body(head)
            var rest = signedBytes[payloadRange]
            while !rest.isEmpty {
                try body(Base64.encodeBytes(rest.prefix(3 << 18)))
                rest = rest.dropFirst(3 << 18)
            }
            try body(tail)
        }
    }

    /// Bytes of the document that `forEachPiece` hands over.
    package var documentCount: Int {
        switch source {
        case .none: serialized.count
        case .document(let document): document.count
        case .frame(let head, let tail): head.count + (payloadRange.count + 2) / 3 * 4 + tail.count
        }
    }

    private static func prefix(of kind: Kind, payloadCount: Int) -> [UInt8] {
        Array("DSSEv1 \(kind.rawValue.utf8.count) \(kind.rawValue) \(payloadCount) ".utf8)
    }

    private enum Name: String, CaseIterable { case payload, payloadType, signatures }
    private enum SignatureName: String, CaseIterable { case keyid, sig }

    /// What an envelope holds, its payload not yet decoded unless escapes stand in its text.
    private struct Members {
        let subject: String
        var type = ""
        var text = 0..<0
        var decoded: [UInt8]?
        var signatures: [Signature] = []

        func payload(in bytes: [UInt8]) throws(Refusal) -> [UInt8] {
            guard let payload = decoded ?? Base64.decode(bytes[text]) else { throw notBase64 }
            return payload
        }

        var notBase64: Refusal {
            .malformed("\(subject) is malformed: canonical base64 is expected, at byte \(text.lowerBound)")
        }
    }

    private static func parse(_ bytes: [UInt8], as kind: Kind) throws(Refusal) -> Members {
        let found = try parse(bytes, subject: "\(kind.subject)’s envelope")
        guard found.type == kind.rawValue else {
            let type = Printable.escaped(found.type, limit: 80)
            throw .malformed("\(kind.subject)’s envelope holds “\(type)”, expected “\(kind.rawValue)”")
        }
        return found
    }

    private static func parse(
        _ bytes: [UInt8], subject: String, minimumSignatures: Int = 1
    ) throws(Refusal) -> Members {
        try JSONReader.read(bytes, subject: subject) { (reader: inout JSONReader) throws(Refusal) in
            var found = Members(subject: subject)
            try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
                switch name {
                case .payload:
                    if let text = reader.plainText() { found.text = text } else { found.decoded = try reader.base64() }
                case .payloadType: found.type = try reader.text()
                case .signatures:
                    try reader.array { (reader: inout JSONReader) throws(Refusal) in
                        guard found.signatures.count < 8 else {
                            throw reader.malformed("there are more than 8 signatures")
                        }
                        found.signatures.append(try signature(&reader))
                    }
                }
            }
            guard found.signatures.count >= minimumSignatures else { throw reader.malformed("there is no signature") }
            return found
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
