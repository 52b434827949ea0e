/// What rules 2, 3 and 6 to 12 need to know of a package whose signatures have been verified.
///
/// Made from a verified chain, or restored by the store from the record of one.
package struct PackageFacts: Hashable, Sendable {
    /// The pinned roots that signed the certificate when the package was verified.
    package let roots: [PublicKey]
    /// The certificate.
    package let certificate: Certificate
    /// The app.
    package let app: AppID
    /// Its build.
    package let build: Int64
    /// The package digest.
    package let digest: Digest
    /// SHA-256 of `SHA256SUMS`.
    package let manifest: Digest
    /// What the build is.
    package let identity: ContentIdentity
    /// The signer's time, in seconds since 1970 UTC.
    package let signedAt: Int64
    /// The lowest host runtime.
    package let minimumRuntime: RuntimeVersion?

    /// Takes the facts of a verified chain.
    package init(of chain: VerifiedChain) {
        self.init(
            roots: chain.certificate.roots, certificate: chain.certificate.certificate, app: chain.header.app.id,
            build: chain.header.app.build, digest: chain.digest, manifest: chain.header.payload.manifest,
            identity: chain.identity, signedAt: chain.header.signedAt, minimumRuntime: chain.header.minimumRuntime)
    }

    /// Restores facts that a store recorded when it accepted the package.
    package init(
        roots: [PublicKey], certificate: Certificate, app: AppID, build: Int64, digest: Digest, manifest: Digest,
        identity: ContentIdentity, signedAt: Int64, minimumRuntime: RuntimeVersion?
    ) {
        self.roots = roots
        self.certificate = certificate
        self.app = app
        self.build = build
        self.digest = digest
        self.manifest = manifest
        self.identity = identity
        self.signedAt = signedAt
        self.minimumRuntime = minimumRuntime
    }
}
