/// Why nothing could be decided: the disk, the store, the caller or a missing root stood in the way.
///
/// Everything fails closed: a trouble never means that a package is acceptable.
package struct Trouble: Error, Hashable, Sendable {
    /// The stable code that programs act on.
    package let code: TroubleCode
    /// One line for people: which object, what was tried, what the system said.
    ///
    /// Safe to log.
    package let message: String

    /// Makes a trouble.
    ///
    /// - Parameters:
    ///   - code: The kind of trouble.
    ///   - message: One line; untrusted text in it has been escaped.
    package init(_ code: TroubleCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// The codes of what keeps a decision from being made; the raw values never change.
package enum TroubleCode: String, CaseIterable, Sendable {
    case alreadyRun
    /// An option or an argument of the caller that makes no sense.
    case badRequest
    case cancelled
    case exists
    case ioFailure
    case noSuchFile
    case noTrustedRoots
    case notARegularFile
    case notInstalled
    case storeBusy
    case storeCorrupt
    case storeFull
    case storeNewer
    case storeUnsafe
    case wrongPassphrase
}
