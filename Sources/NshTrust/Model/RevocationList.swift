/// A root's numbered statement of what is no longer to be trusted.
///
/// - Spec: REV-1
package struct RevocationList: Sendable, Equatable {
    /// Revoked certificates.
    package var certificates: SortedSet<Serial> = []
    /// Hashes of revoked keys; the hash of a root withdraws that root.
    package var keys: SortedSet<Digest> = []
    /// Revoked package digests or manifests.
    package var packages: SortedSet<Digest> = []
    /// The lowest acceptable build of an app.
    package var minimumBuilds: [AppID: Int64] = [:]
    /// The highest acceptable build of an app; gives trust back, so it needs the threshold.
    package var maximumBuilds: [AppID: Int64] = [:]
    /// The publisher an app may pass to; gives trust, so it needs the threshold.
    package var transfers: [AppID: DisplayText] = [:]
    /// Whether the issuer withdraws itself, for good.
    package var revokesIssuer = false
    /// Hash of the root that issued the list.
    package var issuer: Digest
    /// Number of the list, from 1, growing with each list of the issuer.
    package var sequence: Int64
    /// When the list was issued, in seconds since 1970 UTC.
    package var issuedAt: Int64
    /// After this second the list makes every package stale; nil when the issuer sets no end.
    package var expiresAt: Int64?
    /// Signed notes, shown and never decided by.
    package var annotations = Annotations()

    /// Makes a list with no entries.
    package init(issuer: Digest, sequence: Int64, issuedAt: Int64) {
        self.issuer = issuer
        self.sequence = sequence
        self.issuedAt = issuedAt
    }
}
