/// A root's statement: this publisher's release key may sign these app ids within this window.
///
/// The value says what the bytes say; that a root signed them is what `VerifiedCertificate` proves.
///
/// - Spec: CRT-1
package struct Certificate: Hashable, Sendable {
    /// What kind of code the key may sign.
    package enum Content: String, CaseIterable, Sendable {
        /// JavaScript source, `bundle.js`.
        case source
        /// Native code to an engine: `bundle.nshc` and the older `bundle.qbc`.
        case bytecode
    }

    /// The app ids covered: 1–64 patterns, none twice.
    package var apps: [AppPattern]
    /// The kinds of code allowed; both when the certificate does not say.
    package var content: Set<Content>
    /// Whether the certificate names its content, so that it is written again as it was.
    package var statesContent: Bool
    /// The release key.
    package var key: PublicKey
    /// First second of the window, since 1970 UTC.
    package var notBefore: Int64
    /// Last second of the window, since 1970 UTC; never before `notBefore`.
    package var notAfter: Int64
    /// Whom the root vouches for.
    package var publisher: DisplayText
    /// The number by which one certificate is revoked.
    package var serial: Serial
    /// Signed notes, shown and never decided by.
    package var annotations: Annotations

    /// Makes a certificate from its parts.
    package init(
        apps: [AppPattern], content: Set<Content>?, key: PublicKey, notBefore: Int64, notAfter: Int64,
        publisher: DisplayText, serial: Serial, annotations: Annotations = Annotations()
    ) {
        self.apps = apps
        self.content = content ?? Set(Content.allCases)
        self.statesContent = content != nil
        self.key = key
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.publisher = publisher
        self.serial = serial
        self.annotations = annotations
    }

    /// Tells whether one of the patterns covers the id.
    package func covers(_ id: AppID) -> Bool { apps.contains { $0.covers(id) } }
}
