/// What a package says of itself: the app, its payload, what it needs and wants, when it was signed.
///
/// The value says what the bytes say; that the release key signed them is what `VerifiedChain` proves.
///
/// - Spec: PKG-6
package struct PackageHeader: Hashable, Sendable {
    /// The app inside.
    package struct App: Hashable, Sendable {
        /// The app's id.
        package var id: AppID
        /// The name for people.
        package var name: DisplayText
        /// The version for people; decisions use the build.
        package var version: DisplayText
        /// The build, 0 … 2⁵³−1, which only grows.
        package var build: Int64

        /// Makes an app description.
        package init(id: AppID, name: DisplayText, version: DisplayText, build: Int64) {
            self.id = id
            self.name = name
            self.version = version
            self.build = build
        }
    }

    /// How the payload's bytes are packed.
    package enum Compression: String, CaseIterable, Sendable {
        case none
        case zstd
    }

    /// The payload's shape and digests.
    package struct Payload: Hashable, Sendable {
        /// Bytes a chunk, a power of two, 64 KiB … 16 MiB; the last chunk may be shorter.
        package var chunkSize: Int64
        /// One SHA-256 a chunk, in order.
        package var chunks: [Digest]
        /// How the bytes are packed.
        package var compression: Compression
        /// Lines of `SHA256SUMS`.
        package var files: Int64
        /// SHA-256 of `SHA256SUMS`.
        package var manifest: Digest
        /// Bytes of the payload as it lies in the package.
        package var size: Int64
        /// Bytes of all regular files, `SHA256SUMS` included.
        package var unpackedSize: Int64

        /// Makes a payload description.
        package init(
            chunkSize: Int64, chunks: [Digest], compression: Compression, files: Int64, manifest: Digest, size: Int64,
            unpackedSize: Int64
        ) {
            self.chunkSize = chunkSize
            self.chunks = chunks
            self.compression = compression
            self.files = files
            self.manifest = manifest
            self.size = size
            self.unpackedSize = unpackedSize
        }
    }

    /// The app inside.
    package var app: App
    /// What the app asks for, an object; nil when it asks for nothing.
    package var capabilities: JSONObject?
    /// The payload's shape and digests.
    package var payload: Payload
    /// The lowest host runtime that runs the app.
    package var minimumRuntime: RuntimeVersion?
    /// When the package was signed, by the signer's own word, in seconds since 1970 UTC.
    package var signedAt: Int64
    /// Signed notes, shown and never decided by.
    package var annotations: Annotations

    /// Makes a header from its parts.
    package init(
        app: App, capabilities: JSONObject?, payload: Payload, minimumRuntime: RuntimeVersion?, signedAt: Int64,
        annotations: Annotations = Annotations()
    ) {
        self.app = app
        self.capabilities = capabilities
        self.payload = payload
        self.minimumRuntime = minimumRuntime
        self.signedAt = signedAt
        self.annotations = annotations
    }
}
