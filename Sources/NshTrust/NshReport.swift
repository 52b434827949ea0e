/// What a verification established of a package: the whole chain, from the roots to the files.
///
/// What was not established is nil, so that nothing unverified can be mistaken for verified.
public struct NshReport: Hashable, Sendable {
    /// The certificate that the roots signed.
    public struct Certificate: Hashable, Sendable {
        /// 32 lower-case hex digits by which the certificate is revoked.
        public let serial: String
        /// Whom the roots vouch for.
        public let publisher: String
        /// The app id patterns covered.
        public let apps: [String]
        /// `source`, `bytecode` or both.
        public let content: [String]
        /// First second of the window, since 1970 UTC.
        public let notBefore: Int64
        /// Last second of the window, since 1970 UTC.
        public let notAfter: Int64
        /// Lower-case hex SHA-256 of the release key.
        public let keyHash: String
        /// The first 16 digits of `keyHash`, for people.
        public let keyID: String
        /// The release key in base64.
        public let key: String
        /// Signed notes by name.
        public let annotations: [String: String]

        /// Makes a certificate of what somebody else has verified: a daemon that is trusted for it.
        package init(
            serial: String, publisher: String, apps: [String], content: [String], notBefore: Int64, notAfter: Int64,
            keyHash: String, keyID: String, key: String, annotations: [String: String]
        ) {
            self.serial = serial
            self.publisher = publisher
            self.apps = apps
            self.content = content
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.keyHash = keyHash
            self.keyID = keyID
            self.key = key
            self.annotations = annotations
        }
    }

    /// A root that signed the certificate.
    public struct Root: Hashable, Sendable {
        /// Lower-case hex SHA-256 of the key.
        public let keyHash: String
        /// The first 16 digits of `keyHash`, for people.
        public let keyID: String
        /// The key in base64.
        public let key: String

        /// Makes a root of what somebody else has verified.
        package init(keyHash: String, keyID: String, key: String) {
            self.keyHash = keyHash
            self.keyID = keyID
            self.key = key
        }
    }

    /// The trusted roots that signed the certificate.
    public let roots: [Root]
    /// The certificate; nil when no trusted root signed one.
    public let certificate: Certificate?
    /// The app; nil when the release key did not sign the header.
    public let info: NshPackage.Info?
    /// Lower-case hex SHA-256 of the header payload: the package digest.
    public let digest: String?
    /// Lower-case hex SHA-256 of `SHA256SUMS`.
    public let manifest: String?
    /// The signer's time, in seconds since 1970 UTC.
    public let signedAt: Int64?
    /// The lowest host runtime that the package asks for.
    public let minimumRuntime: String?
    /// What the app asks for.
    public let capabilities: NshCapabilities?
    /// Signed notes of the header by name.
    public let annotations: [String: String]
    /// Number of files, `SHA256SUMS` not counted; nil unless the whole payload was verified, now or when it was installed.
    public let files: Int64?
    /// Bytes of all files, `SHA256SUMS` included; nil like `files`.
    public let unpackedSize: Int64?

    /// Takes what was established.
    ///
    /// - Parameters:
    ///   - established: The certificate and the chain, as far as their signatures were verified.
    ///   - payloadVerified: Whether the whole payload was found to be what the header says.
    package init(_ established: Established, payloadVerified: Bool) {
        let verified = established.certificate
        let header = established.chain?.header
        roots = verified?.roots.map { Root(keyHash: $0.hash.hex, keyID: $0.id, key: $0.base64) } ?? []
        certificate = verified.map { Certificate($0.certificate) }
        info = header.map { NshPackage.Info($0.app) }
        digest = established.chain?.digest.hex
        manifest = header?.payload.manifest.hex
        signedAt = header?.signedAt
        minimumRuntime = header?.minimumRuntime?.text
        capabilities = header.map { NshCapabilities($0.capabilities) }
        annotations = header?.annotations.dictionary ?? [:]
        files = payloadVerified ? header?.payload.files : nil
        unpackedSize = payloadVerified ? header?.payload.unpackedSize : nil
    }

    /// Makes a report of what somebody else has established: a daemon that is trusted for it.
    package init(
        roots: [Root], certificate: Certificate?, info: NshPackage.Info?, digest: String?, manifest: String?,
        signedAt: Int64?, minimumRuntime: String?, capabilities: NshCapabilities?, annotations: [String: String],
        files: Int64?, unpackedSize: Int64?
    ) {
        self.roots = roots
        self.certificate = certificate
        self.info = info
        self.digest = digest
        self.manifest = manifest
        self.signedAt = signedAt
        self.minimumRuntime = minimumRuntime
        self.capabilities = capabilities
        self.annotations = annotations
        self.files = files
        self.unpackedSize = unpackedSize
    }
}

extension NshReport.Certificate {
    /// Takes a certificate, verified by whoever shows it.
    package init(_ certificate: Certificate) {
        serial = certificate.serial.hex
        publisher = certificate.publisher.text
        apps = certificate.apps.map(\.description)
        content = Certificate.Content.allCases.filter(certificate.content.contains).map(\.rawValue)
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        keyHash = certificate.key.hash.hex
        keyID = certificate.key.id
        key = certificate.key.base64
        annotations = certificate.annotations.dictionary
    }
}

extension Annotations {
    /// The notes by name.
    package var dictionary: [String: String] {
        Dictionary(entries.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
    }
}
