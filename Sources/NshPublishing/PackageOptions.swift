public import NshTrust

/// How a package is made; the defaults are what `publish` does without options.
public struct PackageOptions: Sendable {
    /// How the payload is stored.
    public enum Compression: Hashable, Sendable {
        /// As it is.
        case none
        /// One zstd frame of a level from 1 to 19, made on one thread, so that the same input gives the same bytes.
        case zstd(level: Int)
    }

    /// What happens to files that editors, desktops and version control leave behind.
    public enum StrayFiles: Hashable, Sendable {
        /// They are named and nothing is made.
        case refused
        /// Those with a name that readers take are packed.
        case included
    }

    /// What happens to symbolic links, which no package holds.
    public enum SymbolicLinks: Hashable, Sendable {
        /// They are named and nothing is made.
        case refused
        /// What a link leads to is packed in its place, when it lies inside the directory or archive.
        case followed
    }

    /// The app id; replaces the one in `app.json`.
    public var id: String?
    /// The name; replaces the one in `app.json`.
    public var name: String?
    /// The version for people; replaces the one in `app.json`.
    public var version: String?
    /// The build; replaces the one in `app.json`.
    public var build: Int64?
    /// The lowest host runtime: 1–4 numbers joined by dots.
    public var minimumRuntime: String?
    /// Notes that are signed and shown and decide nothing.
    public var annotations: [String: String] = [:]
    /// How the payload is stored.
    public var compression = Compression.zstd(level: 9)
    /// What happens to stray files.
    public var strayFiles = StrayFiles.refused
    /// What happens to symbolic links.
    public var symbolicLinks = SymbolicLinks.refused
    /// The bounds that readers are expected to have.
    public var limits = Limits()
    /// The roots that must have signed the certificate, when the publisher knows them.
    public var trust = CertificateTrust()

    /// Makes the defaults.
    public init() {}
}

/// Something to tell the person who publishes.
public enum PackagingRemark: Hashable, Sendable {
    /// A file that keeps the package from being made, and the code that a reader would refuse it with.
    case problem(path: String, code: String, message: String)
    /// Something that does not stop the work, such as an empty directory, which packages do not hold.
    case note(String)
}

/// Watches a package being made, and may stop it.
public struct PackagingObserver: Sendable {
    /// Told of everything that the publisher should know, at once for all files.
    public var remark: @Sendable (PackagingRemark) -> Void = { _ in }
    /// Told how many bytes are done of how many, over all steps.
    ///
    /// By one thread at a time, not always the caller's, which it must not wait for.
    public var progress: @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    /// Asked at least once for each chunk; true stops the work with `cancelled`.
    ///
    /// By several threads at once; it must not wait for the calling one.
    public var isCancelled: @Sendable () -> Bool = { false }

    /// Makes an observer that watches nothing.
    public init() {}
}

/// A package that was made, verified and put in its place.
public struct PublishedPackage: Hashable, Sendable {
    /// Who is known to stand behind the certificate.
    public enum CertificateCheck: Hashable, Sendable {
        /// These roots, in base64, have signed it.
        case signedByRoots([String])
        /// No root was given, so the roots' signatures could not be checked; everything else was.
        case notChecked
    }

    /// The app id.
    public let id: String
    /// The app's name.
    public let name: String
    /// The version for people.
    public let version: String
    /// The build.
    public let build: Int64
    /// The package digest: SHA-256 of the header payload, in hex.
    public let digest: String
    /// SHA-256 of `SHA256SUMS`, in hex.
    public let manifest: String
    /// The number of files, `SHA256SUMS` not counted.
    public let files: Int64
    /// Bytes of all files, `SHA256SUMS` included.
    public let unpackedSize: Int64
    /// Bytes of the `.nshpkg` file.
    public let packageSize: Int64
    /// The time of signing, in seconds since 1970 UTC.
    public let signedAt: Int64
    /// Who is known to stand behind the certificate.
    public let certificate: CertificateCheck
}
