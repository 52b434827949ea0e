/// What a host asks of packages beyond the rules that no host can change; the defaults are the safe choice.
package struct Policy: Hashable, Sendable {
    /// Distinct pinned roots that must have signed a certificate; at least 1.
    package var rootThreshold = 1
    /// Whether a package new to the store must also be inside its certificate's window now.
    package var expiry = ExpiryCheck.atOpening
    /// Whether an app must stay with its publisher.
    package var publisherContinuity = PublisherContinuity.required
    /// Whether a build accepted before may come again with other content.
    package var rebuilding = Rebuilding.refused
    /// Whether an expired revocation list makes packages stale.
    package var listExpiry = ListExpiry.enforced
    /// The greatest age in seconds of each pinned root's list; nil asks for none.
    package var maximumListAgeSeconds: Int64?
    /// The host's runtime, when it states one.
    package var runtime: RuntimeVersion?
    /// The bounds of everything.
    package var limits = Limits()

    /// Makes the safe defaults.
    package init() {}

    /// Refuses to judge with fewer roots than the store has been used with, by whichever process.
    ///
    /// - Parameter greatest: The greatest threshold that the store remembers.
    /// - Throws: `storeUnsafe`.
    /// - Spec: STO-3
    package func requireThreshold(atLeast greatest: Int) throws(Trouble) {
        guard max(rootThreshold, 1) < greatest else { return }
        throw Trouble(
            .storeUnsafe,
            "the store has been used with \(greatest) signing roots, this program asks for \(rootThreshold); "
                + "ask for \(greatest)")
    }
}

/// When a certificate's window is checked for a package that the store has not accepted before.
///
/// - Spec: POL-8
public enum ExpiryCheck: Hashable, Sendable {
    /// The certificate must be in its window when the package is first opened: the safe choice.
    case atOpening
    /// Only the time of signing must lie in the window. A key stolen after it expired can then backdate packages.
    case atSigningOnly
}

/// Whether an app must stay with the publisher of its accepted builds.
///
/// - Spec: POL-6
public enum PublisherContinuity: Hashable, Sendable {
    /// A change of publisher needs a root's transfer: the safe choice.
    case required
    /// Any certified publisher may take over the app.
    case waivedUnsafely
}

/// Whether a build number accepted before may come again with other content.
///
/// - Spec: POL-10
public enum Rebuilding: Hashable, Sendable {
    /// One build number means one content: the safe choice.
    case refused
    /// The same build number may come with other content.
    case allowedUnsafely
}

/// Whether an expired revocation list makes packages stale.
///
/// - Spec: REV-18
public enum ListExpiry: Hashable, Sendable {
    /// As its issuer wished: the safe choice.
    case enforced
    /// Expired lists go on being used.
    case ignoredUnsafely
}
