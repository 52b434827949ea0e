import NshTrust

/// What an operator does next about a code: the second half of every refusal and error.
enum Advice {
    /// Returns a sentence without a full stop.
    static func hint(_ code: RefusalCode) -> String {
        switch code {
        case .aboveMaximumBuild: "a root has capped the builds of this app; ask its publisher for one within the cap"
        case .appNotCertified: "the root must certify this app id: nsh-pkgtool certify --apps …"
        case .badSignature: "the file was changed after it was signed, or joined with another certificate; get it again"
        case .belowMinimumBuild: "get a newer build; the root has withdrawn this one"
        case .buildConflict: "the publisher must give a changed app a higher build"
        case .certificateExpired: "the publisher renews the certificate: nsh-pkgtool certify --renew, then recertify"
        case .certificateRevoked: "get a package with another certificate of its publisher"
        case .contentNotCertified: "the root must certify this content: nsh-pkgtool certify --content …"
        case .keyRevoked: "do not use anything that this key signed; get a package signed by the publisher’s new key"
        case .limitExceeded: "this is larger than hosts accept by default"
        case .malformed: "the file is not what it should be; nsh-pkgtool inspect FILE says what it holds"
        case .manifestMismatch: "the files are not those that were signed; get the package again from its publisher"
        case .packageRevoked: "get another build; the root has revoked this one"
        case .payloadCorrupt: "the file was damaged or changed on its way; get it again and compare its size"
        case .publisherChanged:
            "if the app has really changed hands, a root says so: nsh-pkgtool revoke --transfer ID=PUBLISHER"
        case .revocationsConflict: "two lists have one number; the root’s holder must issue one with a higher number"
        case .revocationsOlder: "this list has been replaced by a newer one; nothing is to be done"
        case .revocationsStale: "get the root’s newest list and apply it: nsh-pkgtool update-revocations LIST"
        case .rolledBack: "this is an older build than the one accepted; get the newest"
        case .rootWithdrawn: "this root must not be trusted any more; get certificates by another one"
        case .runtimeTooOld: "update the runtime that is to run the app"
        case .signedInFuture: "check the clock of this machine and of the one that signed"
        case .signedOutsideWindow: "sign again within the certificate’s window, or get a certificate for today"
        case .trailingData: "something was added to the file; get it again"
        case .truncated: "the file ends too early; get it again"
        case .unsafeMember: "the package holds something that is not a plain file; its publisher must make it again"
        case .unsafePath: "the package holds a name that is not safe everywhere; its publisher must rename it"
        case .unsupportedFormat: "is it a package at all? nsh-pkgtool inspect FILE says what it holds"
        case .untrustedRoot: "give the root that certified it: --root FILE; nsh-pkgtool inspect FILE shows who signed"
        }
    }

    /// Returns a sentence without a full stop, or nil where the message says it all.
    static func hint(_ code: TroubleCode) -> String? {
        switch code {
        case .alreadyRun: "open the package again"
        case .cancelled: nil
        case .exists: nil
        case .badRequest: nil
        case .ioFailure: "nothing was decided and nothing changed; try again when the cause is gone"
        case .noSuchFile: "check the name"
        case .noTrustedRoots:
            "name a root’s .pub file with --root, or put it into ~/.config/nsh-trust/roots.d or /etc/nsh-trust/roots.d"
        case .notARegularFile: "name a plain file"
        case .notInstalled: "nsh-pkgtool store apps lists what is installed"
        case .storeBusy: "another process keeps the store; try again"
        case .storeCorrupt:
            "restore the state directory from a backup; an empty one would forget which builds were accepted"
        case .storeFull: "make room on the file system that is written to; what was there is as it was"
        case .storeNewer: "a newer nsh-pkgtool wrote this store; use that one"
        case .storeUnsafe: "the state directory must belong to you, and nobody else may write it: chmod go-w DIR"
        case .wrongPassphrase: "try again; if the passphrase is right, the key file is damaged"
        }
    }

    /// Returns the hint for a code in text form, or nil when there is none.
    static func hint(_ code: String) -> String? {
        if let refusal = RefusalCode(rawValue: code) { return hint(refusal) }
        if let trouble = TroubleCode(rawValue: code) { return hint(trouble) }
        return daemonHints[code]
    }

    /// What is next about the codes that only a daemon answers with.
    private static let daemonHints = [
        "forbidden": "nsh-trustd lets its administrators do that: see --admin and --engine in its manual page",
        "overloaded": "nsh-trustd has too much to do; try again in a moment",
        "stopping": "nsh-trustd is about to stop; try again when it runs",
        "tooLarge": "nsh-trustd takes no larger packages: see --max-package in its manual page",
    ]
}
