/// The error of every throwing call: why a package was refused, or why nothing could be decided.
///
/// `"refused: \(error)"` reads well: the description is one line with the message and the code.
public struct NshError: Error, Sendable, CustomStringConvertible {
    /// A stable word that programs act on; the words never change, new ones may come.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word, as it stands in JSON and in the decision log.
        public let rawValue: String

        /// Makes a code from its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        public var description: String { rawValue }
    }

    /// The code.
    public let code: Code
    /// One line for people: which object, what was expected, what was found.
    ///
    /// Safe to show and to log.
    public let message: String
    /// What had been established when a package was refused; nil when nothing was, or when no package was judged.
    public let report: NshReport?

    /// Whether the input was judged and refused; false when nothing could be decided.
    public var isRefusal: Bool { RefusalCode(rawValue: code.rawValue) != nil }

    /// The message and the code in one line.
    public var description: String { "\(message) (\(code))" }

    /// Makes the error of a refusal.
    package init(_ refusal: Refusal, report: NshReport? = nil) {
        self.init(code: Code(rawValue: refusal.code.rawValue), message: refusal.message, report: report)
    }

    /// Makes the error of a trouble.
    package init(_ trouble: Trouble) {
        self.init(code: Code(rawValue: trouble.code.rawValue), message: trouble.message, report: nil)
    }

    /// Makes the public error of whatever the inside threw.
    package init(wrapping error: any Error, report: NshReport? = nil) {
        switch error {
        case let error as NshError: self = error
        case let refusal as Refusal: self.init(refusal, report: report)
        case let trouble as Trouble: self.init(trouble)
        case is CancellationError: self.init(code: .cancelled, message: "the task was cancelled", report: nil)
        default:
            let text = Printable.escaped("\(error)", limit: 1000)
            self.init(code: .ioFailure, message: text, report: nil)
        }
    }

    /// Makes an error of its parts, as another process reported it.
    package init(code: Code, message: String, report: NshReport?) {
        self.code = code
        self.message = message
        self.report = report
    }
}

extension NshError.Code {
    /// The build is above the highest that a root allows.
    public static let aboveMaximumBuild = refusal(.aboveMaximumBuild)
    /// The certificate does not cover the app id.
    public static let appNotCertified = refusal(.appNotCertified)
    /// The header is not signed by the certificate's key.
    public static let badSignature = refusal(.badSignature)
    /// The build is below the lowest that a root allows.
    public static let belowMinimumBuild = refusal(.belowMinimumBuild)
    /// The build number was accepted before with other content.
    public static let buildConflict = refusal(.buildConflict)
    /// The certificate's window is over and the package is new to this store.
    public static let certificateExpired = refusal(.certificateExpired)
    /// A root revoked the certificate.
    public static let certificateRevoked = refusal(.certificateRevoked)
    /// The package holds a kind of code that its certificate does not allow.
    public static let contentNotCertified = refusal(.contentNotCertified)
    /// A root revoked the release key.
    public static let keyRevoked = refusal(.keyRevoked)
    /// Something is larger than the limits allow.
    public static let limitExceeded = refusal(.limitExceeded)
    /// The bytes break the format.
    public static let malformed = refusal(.malformed)
    /// The files are not those of the signed file list.
    public static let manifestMismatch = refusal(.manifestMismatch)
    /// A root revoked the package or its content.
    public static let packageRevoked = refusal(.packageRevoked)
    /// The payload is damaged.
    public static let payloadCorrupt = refusal(.payloadCorrupt)
    /// The app belongs to another publisher.
    public static let publisherChanged = refusal(.publisherChanged)
    /// A different revocation list has the same number.
    public static let revocationsConflict = refusal(.revocationsConflict)
    /// A newer revocation list is in force.
    public static let revocationsOlder = refusal(.revocationsOlder)
    /// A revocation list is missing, too old or expired.
    public static let revocationsStale = refusal(.revocationsStale)
    /// A higher build of the app was accepted before.
    public static let rolledBack = refusal(.rolledBack)
    /// A root that signed was withdrawn.
    public static let rootWithdrawn = refusal(.rootWithdrawn)
    /// The package needs a newer host.
    public static let runtimeTooOld = refusal(.runtimeTooOld)
    /// The package claims to be signed later than now.
    public static let signedInFuture = refusal(.signedInFuture)
    /// The package was signed outside its certificate's window.
    public static let signedOutsideWindow = refusal(.signedOutsideWindow)
    /// Bytes follow the payload.
    public static let trailingData = refusal(.trailingData)
    /// The file ends early.
    public static let truncated = refusal(.truncated)
    /// A member of the payload is not a plain file.
    public static let unsafeMember = refusal(.unsafeMember)
    /// A path could do harm on some system.
    public static let unsafePath = refusal(.unsafePath)
    /// The file is not a package that this version reads.
    public static let unsupportedFormat = refusal(.unsupportedFormat)
    /// Not enough trusted roots signed.
    public static let untrustedRoot = refusal(.untrustedRoot)

    /// The package object has been taken before.
    public static let alreadyRun = trouble(.alreadyRun)
    /// The caller gave up.
    public static let cancelled = trouble(.cancelled)
    /// Something of that name is there already.
    public static let exists = trouble(.exists)
    /// An option or an argument makes no sense.
    public static let badRequest = trouble(.badRequest)
    /// Reading or writing failed.
    public static let ioFailure = trouble(.ioFailure)
    /// There is no such file.
    public static let noSuchFile = trouble(.noSuchFile)
    /// No root key is trusted.
    public static let noTrustedRoots = trouble(.noTrustedRoots)
    /// The path does not name a regular file.
    public static let notARegularFile = trouble(.notARegularFile)
    /// No such package is installed.
    public static let notInstalled = trouble(.notInstalled)
    /// Other processes kept the store busy for too long.
    public static let storeBusy = trouble(.storeBusy)
    /// The store is damaged or incomplete.
    public static let storeCorrupt = trouble(.storeCorrupt)
    /// There is no space left for the store.
    public static let storeFull = trouble(.storeFull)
    /// A newer program wrote the store.
    public static let storeNewer = trouble(.storeNewer)
    /// Others may write the store.
    public static let storeUnsafe = trouble(.storeUnsafe)
    /// The passphrase does not open the key file.
    public static let wrongPassphrase = trouble(.wrongPassphrase)

    private static func refusal(_ code: RefusalCode) -> NshError.Code { NshError.Code(rawValue: code.rawValue) }
    private static func trouble(_ code: TroubleCode) -> NshError.Code { NshError.Code(rawValue: code.rawValue) }
}

extension NshError {
    /// Runs the body and makes an `NshError` of whatever it throws.
    package static func wrapping<Value>(_ body: () throws -> Value) throws(NshError) -> Value {
        do {
            return try body()
        } catch {
            throw NshError(wrapping: error)
        }
    }
}
