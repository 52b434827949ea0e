/// Why a package, certificate or revocation list was refused: a stable code and a sentence.
///
/// A refusal is a decision. Not being able to decide is a `Trouble`.
package struct Refusal: Error, Hashable, Sendable {
    /// The stable code that programs act on.
    package let code: RefusalCode
    /// One line for people: which object, what was expected, what was found.
    ///
    /// Safe to log.
    package let message: String

    /// Makes a refusal.
    ///
    /// - Parameters:
    ///   - code: The code of the rule that failed.
    ///   - message: One line; untrusted text in it has been escaped.
    package init(_ code: RefusalCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Makes the refusal of bytes that are not what they claim to be.
    package static func malformed(_ message: String) -> Refusal { Refusal(.malformed, message) }
}

/// The codes of refusals; the raw values are part of the format and never change.
///
/// - Spec: POL-14
package enum RefusalCode: String, CaseIterable, Sendable {
    case aboveMaximumBuild
    case appNotCertified
    case badSignature
    case belowMinimumBuild
    case buildConflict
    case certificateExpired
    case certificateRevoked
    case contentNotCertified
    case keyRevoked
    case limitExceeded
    case malformed
    case manifestMismatch
    case packageRevoked
    case payloadCorrupt
    case publisherChanged
    case revocationsConflict
    case revocationsOlder
    case revocationsStale
    case rolledBack
    case rootWithdrawn
    case runtimeTooOld
    case signedInFuture
    case signedOutsideWindow
    case trailingData
    case truncated
    case unsafeMember
    case unsafePath
    case unsupportedFormat
    case untrustedRoot
}
