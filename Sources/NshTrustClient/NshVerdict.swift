public import NshTrust
import NshTrustWire

#if Foundation
public import FoundationEssentials
#endif

/// The daemon's answer to the question whether an installed package may start now.
public struct NshVerdict: Hashable, Sendable {
    /// Whether it may.
    public let isAllowed: Bool
    /// Why not; nil when it may.
    public let code: NshError.Code?
    /// One line for people, safe to show.
    public let message: String
    /// The app.
    public let info: NshPackage.Info
    /// Whom the app belongs to.
    public let publisher: String
    /// Hex SHA-256 of the signed header: the package digest.
    public let digest: String
    /// The extracted tree.
    public let directory: URL

    let lease: String

    init(_ document: CheckDocument) {
        isAllowed = document.verdict == .accepted
        code = document.code.map(NshError.Code.init(rawValue:))
        message = document.message
        info = document.app
        publisher = document.publisher
        digest = document.digest
        directory = URL(fileURLWithPath: document.directory, isDirectory: true)
        lease = document.lease
    }
}
