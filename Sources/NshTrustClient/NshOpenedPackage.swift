public import NshTrust

#if Foundation
public import FoundationEssentials
#endif

/// A package that the daemon has verified, extracted and accepted, held so that its tree stays on disk for as long as
/// this value lives.
///
/// Before each start ask `check` of the client with its `digest`: what was accepted may have been revoked since.
public final class NshOpenedPackage: Sendable {
    /// `id`, `name`, `version` and `build` of the app inside.
    public let info: NshPackage.Info
    /// Hex SHA-256 of the signed header: the package digest.
    public let digest: String
    /// The extracted tree: `bundle.*`, `app.json`, `assets/`, with `SHA256SUMS` to check it by.
    public let directory: URL
    /// What the app declares that it needs.
    public let capabilities: NshCapabilities
    /// The whole chain that the daemon verified.
    public let report: NshReport

    private let lease: LeaseFile

    init(info: NshPackage.Info, digest: String, directory: String, report: NshReport, lease: LeaseFile) {
        self.info = info
        self.digest = digest
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
        capabilities = report.capabilities ?? NshCapabilities(nil)
        self.report = report
        self.lease = lease
    }
}

/// A hold on the tree of an installed package, which stays on disk for as long as this value lives.
public final class NshHold: Sendable {
    private let lease: LeaseFile

    init(_ lease: LeaseFile) { self.lease = lease }
}
