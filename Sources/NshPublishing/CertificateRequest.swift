internal import NshTrust

/// What a certificate is to say.
///
/// Nothing is added to it: a certificate is never wider than asked.
///
/// - Spec: CRT-1 … CRT-8
public struct CertificateRequest: Hashable, Sendable {
    /// The release key in base64: the content of its `.pub` file.
    public var key: String
    /// Whom the roots vouch for: 1–255 bytes of displayable text.
    public var publisher: String
    /// 1–64 patterns of app ids: `com.example.*`, one id, or `*`.
    public var apps: [String]
    /// The first second of the window, since 1970 UTC.
    public var notBefore: Int64
    /// The last second of the window, since 1970 UTC.
    public var notAfter: Int64
    /// `source`, `bytecode` or both; nil leaves the member out, which allows both.
    public var content: [String]?
    /// Notes that are signed and shown and decide nothing.
    public var annotations: [String: String] = [:]

    /// Makes a request.
    public init(
        key: String, publisher: String, apps: [String], notBefore: Int64, notAfter: Int64, content: [String]? = nil
    ) {
        self.key = key
        self.publisher = publisher
        self.apps = apps
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.content = content
    }

    /// Makes the request that renews a certificate.
    ///
    /// All of it stays, `notBefore` too, so that packages signed in the old window stay inside; only the end moves. The
    /// serial is a new one: a revoked serial revokes that certificate and no other, so a renewal must not share it.
    ///
    /// A renewal repeats what the old certificate says, so the old one must be a root's: else a stranger's wide
    /// certificate would come back signed.
    ///
    /// - Parameters:
    ///   - old: The certificate to renew.
    ///   - notAfter: The new last second, since 1970 UTC.
    ///   - roots: The roots, in base64, one of which signed the old certificate: the one that will sign the renewal, and
    ///     its predecessors.
    /// - Throws: `untrustedRoot` when none of the roots signed it, `malformed` when it is no certificate.
    public init(renewing old: SignedDocument, until notAfter: Int64, trusting roots: [String]) throws {
        self = try publicly { try CertificateRequest(of: old, until: notAfter, trusting: roots) }
    }

    private init(of old: SignedDocument, until notAfter: Int64, trusting roots: [String]) throws {
        let certificate = try old.certificate()
        var keys: [PublicKey] = []
        for root in roots { keys.append(try PublicKey(publishing: root)) }
        guard !Signers(of: old.envelope, among: keys).keys.isEmpty else {
            throw Refusal(
                .untrustedRoot,
                "the certificate to renew is not signed by root \(keys.map(\.id).joined(separator: " or ")); "
                    + "name the root that signed it, or certify anew")
        }
        self.init(
            key: certificate.key.base64, publisher: certificate.publisher.text,
            apps: certificate.apps.map(\.description), notBefore: certificate.notBefore, notAfter: notAfter,
            content: certificate.statesContent
                ? Certificate.Content.allCases.filter(certificate.content.contains).map(\.rawValue) : nil)
        for entry in certificate.annotations.entries { annotations[entry.name] = entry.text }
    }

    /// Returns the certificate with no signature yet, for a root that is kept elsewhere.
    ///
    /// - Returns: A draft with a new random serial.
    /// - Throws: `malformed` with the member that breaks the format; `ioFailure` without random numbers.
    public func draft() throws -> SignedDocument {
        try publicly { try draft(serial: Sodium.randomBytes(16)) }
    }

    /// Returns the certificate with a root's signature.
    ///
    /// - Parameter root: The root's key.
    /// - Returns: The certificate with a new random serial.
    /// - Throws: `malformed` with the member that breaks the format, or when the key to certify is the root itself;
    ///   `ioFailure` without random numbers.
    public func signed(by root: borrowing SecretKey) throws -> SignedDocument {
        try publicly { try draft().signed(by: root) }
    }

    /// Returns the certificate with a given serial: tests and vectors choose it.
    package func draft(serial: [UInt8]) throws -> SignedDocument {
        guard let serial = Serial(serial) else { throw Refusal.malformed("a serial has 16 bytes") }
        let key = try PublicKey(publishing: key)
        guard key.isUsableAsRoot else {
            throw Refusal.malformed("the release key \(key.id) is no key that could sign anything")
        }
        guard let publisher = DisplayText(publisher) else {
            throw Refusal.malformed("the publisher needs 1 to 255 bytes of displayable text")
        }
        let certificate = Certificate(
            apps: try parsedPatterns(), content: try parsedContent(), key: key, notBefore: notBefore,
            notAfter: notAfter,
            publisher: publisher, serial: serial, annotations: try Annotations(publishing: annotations))
        let envelope = Envelope(kind: .certificate, payload: certificate.serialized)
        // Reading it back holds the window, the counts and the duplicates to the reader's own rules.
        let document = try SignedDocument(parsing: envelope.serialized)
        guard document.bytes.count + Self.signaturesReserve <= Limits().certificateEnvelopeBytes else {
            throw Refusal(
                .limitExceeded, "the certificate would have more than \(Limits().certificateEnvelopeBytes) bytes")
        }
        return document
    }

    /// Bytes that eight signatures may add to an envelope.
    private static let signaturesReserve = 8 * 160

    private func parsedPatterns() throws(Refusal) -> [AppPattern] {
        var patterns: [AppPattern] = []
        for text in apps {
            guard let pattern = AppPattern(text) else {
                throw .malformed(
                    "“\(Printable.escaped(text, limit: 80))” is not a pattern of app ids: com.example.*, an id, or *")
            }
            patterns.append(pattern)
        }
        return patterns
    }

    private func parsedContent() throws(Refusal) -> Set<Certificate.Content>? {
        guard let content else { return nil }
        var kinds: Set<Certificate.Content> = []
        for text in content {
            guard let kind = Certificate.Content(rawValue: text) else {
                throw .malformed("“\(Printable.escaped(text, limit: 40))” is no content: source, bytecode")
            }
            kinds.insert(kind)
        }
        return kinds
    }
}

extension Annotations {
    /// Makes annotations of what a publisher asked for, sorted by name.
    ///
    /// - Throws: `malformed` for a name or text that the format does not take, or for too many.
    init(publishing notes: [String: String]) throws(Refusal) {
        self.init()
        for (name, text) in notes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            guard add(name, text) else {
                throw .malformed(
                    "the annotation “\(Printable.escaped(name, limit: 64))” does not fit: at most 64, names "
                        + "[a-z0-9.-]{1,64}, texts of at most 1024 bytes")
            }
        }
    }
}
