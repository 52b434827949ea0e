/// What a decision asks of the trust store; one consistent snapshot for as long as the decision runs.
///
/// Every answer speaks of the lists in force and the builds accepted. An answer that cannot be had is thrown: it is
/// never taken for "nothing stands against it".
package protocol TrustState {
    /// The earliest time that "now" may be, in seconds since 1970 UTC; 0 before the first list.
    func timeFloor() throws -> Int64
    /// The greatest `rootThreshold` that the store has been used with; 1 at first.
    func greatestThreshold() throws -> Int
    /// The lists in force, one for each issuer.
    func listsInForce() throws -> [ListSummary]
    /// The lists that withdraw the root, by `revokesIssuer` or by naming its hash among their keys.
    func withdrawals(ofRoot root: Digest) throws -> [ListReference]
    /// The lists that withdraw the root of this key.
    func withdrawals(of root: PublicKey) throws -> [ListReference]
    /// The lists that revoke the certificate.
    func revocations(ofCertificate serial: Serial) throws -> [ListReference]
    /// The lists that revoke the key.
    func revocations(ofKey hash: Digest) throws -> [ListReference]
    /// The lists that revoke this key.
    func revocations(of key: PublicKey) throws -> [ListReference]
    /// The lists that revoke the package digest or manifest.
    func revocations(ofPackage digest: Digest) throws -> [ListReference]
    /// The lowest acceptable builds of the app, a bound a list; the highest of them counts.
    func minimumBuilds(of app: AppID) throws -> [BuildBound]
    /// The highest acceptable builds of the app, a bound a list; the lowest of them counts.
    func maximumBuilds(of app: AppID) throws -> [BuildBound]
    /// The publishers to which lists let the app pass.
    func transfers(of app: AppID) throws -> [Transfer]
    /// The highest build of the app accepted so far.
    func acceptedBuild(of app: AppID) throws -> AcceptedBuild?
    /// Whether a package of this digest has been accepted before.
    func hasAccepted(package digest: Digest) throws -> Bool
}

extension TrustState {
    /// Asks by the key's hash.
    package func withdrawals(of root: PublicKey) throws -> [ListReference] { try withdrawals(ofRoot: root.hash) }
    /// Asks by the key's hash.
    package func revocations(of key: PublicKey) throws -> [ListReference] { try revocations(ofKey: key.hash) }
}

/// Which list an entry stands in.
package struct ListReference: Hashable, Sendable, CustomStringConvertible {
    /// Hash of the root that issued the list.
    package let issuer: Digest
    /// The list's number.
    package let sequence: Int64

    /// Makes a reference.
    package init(issuer: Digest, sequence: Int64) {
        self.issuer = issuer
        self.sequence = sequence
    }

    /// The list for people: `list 7 of root 1a2b3c4d5e6f7081`.
    package var description: String { "list \(sequence) of root \(issuer.shortHex)" }
}

/// A bound on an app's builds and the list that sets it.
package struct BuildBound: Hashable, Sendable {
    /// The bound; it is itself acceptable.
    package let build: Int64
    /// The list that sets it.
    package let list: ListReference

    /// Makes a bound.
    package init(build: Int64, list: ListReference) {
        self.build = build
        self.list = list
    }
}

/// A publisher to which a list lets an app pass.
package struct Transfer: Hashable, Sendable {
    /// The new owner.
    package let publisher: DisplayText
    /// The list that says so.
    package let list: ListReference

    /// Makes a transfer.
    package init(publisher: DisplayText, list: ListReference) {
        self.publisher = publisher
        self.list = list
    }
}

/// What of a list in force decides its freshness and what may follow it.
package struct ListSummary: Hashable, Sendable {
    /// Which list.
    package let list: ListReference
    /// When it was issued, in seconds since 1970 UTC.
    package let issuedAt: Int64
    /// After this second it makes every package stale; nil for never.
    package let expiresAt: Int64?
    /// SHA-256 of its payload's bytes.
    package let payloadDigest: Digest

    /// Makes a summary.
    package init(list: ListReference, issuedAt: Int64, expiresAt: Int64?, payloadDigest: Digest) {
        self.list = list
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.payloadDigest = payloadDigest
    }
}

/// The highest build of an app that a store has accepted, and whose it is.
package struct AcceptedBuild: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The build; lower ones are refused.
    package var build: Int64
    /// Whom the app belongs to.
    package var publisher: DisplayText
    /// What the build is; nil after a `maximumBuilds` entry lowered it, when any content may take the number.
    package var identity: ContentIdentity?
    /// Digest of the package; nil like `identity`.
    package var digest: Digest?
    /// When it was accepted, in seconds since 1970 UTC.
    package var acceptedAt: Int64

    /// Makes a record.
    package init(
        app: AppID, build: Int64, publisher: DisplayText, identity: ContentIdentity?, digest: Digest?, acceptedAt: Int64
    ) {
        self.app = app
        self.build = build
        self.publisher = publisher
        self.identity = identity
        self.digest = digest
        self.acceptedAt = acceptedAt
    }
}
