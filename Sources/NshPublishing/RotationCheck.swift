package import NshTrust

/// Tells who would be stranded when hosts pin other roots than today.
///
/// A pure function of certificates and roots: no file, no clock. Packages are judged by the certificate in them, which
/// `PackageFile.recertify` can exchange.
public struct RotationCheck: Sendable {
    /// What happens to a certificate, or to the packages that carry it.
    public enum Outcome: String, CaseIterable, Sendable {
        /// Hosts with either set of roots accept it.
        case kept
        /// Hosts accept it today and will refuse it with the new roots.
        case stranded
        /// Only hosts with the new roots accept it; the others still refuse it.
        case newOnly
        /// Hosts with neither set of roots accept it.
        case untrusted
    }

    /// One certificate's fate.
    public struct Row: Hashable, Sendable {
        /// What the caller called it.
        public let name: String
        /// What happens.
        public let outcome: Outcome
        /// Ids of the old roots that signed.
        public let oldSigners: [String]
        /// Ids of the new roots that signed.
        public let newSigners: [String]
        /// One sentence for people, with the next thing to do.
        public let message: String
    }

    private let oldRoots: [PublicKey]
    private let newRoots: [PublicKey]
    private let threshold: Int

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - oldRoots: The roots that hosts pin today, in base64.
    ///   - newRoots: The roots that hosts will pin, in base64; those that stay are in both.
    ///   - threshold: How many roots must have signed a certificate, at least 1.
    /// - Throws: `malformed` for a text that is no key, `badRequest` for a threshold below 1.
    public init(oldRoots: [String], newRoots: [String], threshold: Int = 1) throws {
        self = try publicly {
            RotationCheck(
                oldRoots: try CertificateTrust(roots: oldRoots, threshold: threshold).keys(),
                newRoots: try CertificateTrust(roots: newRoots, threshold: threshold).keys(), threshold: threshold)
        }
    }

    /// Prepares a check.
    package init(oldRoots: [PublicKey], newRoots: [PublicKey], threshold: Int) {
        self.oldRoots = oldRoots
        self.newRoots = newRoots
        self.threshold = threshold
    }

    /// Judges certificates.
    ///
    /// - Parameter certificates: Each with a name by which its row is found: a file, or the package that it is in.
    /// - Returns: A row for each, in the same order.
    /// - Throws: `malformed` for a document that is no certificate.
    public func rows(_ certificates: [(name: String, certificate: SignedDocument)]) throws -> [Row] {
        try publicly {
            try certificates.map { try row($0.name, $0.certificate) }
        }
    }

    private func row(_ name: String, _ document: SignedDocument) throws -> Row {
        let certificate = try document.certificate()
        let (old, new) = (signers(document, certificate, oldRoots), signers(document, certificate, newRoots))
        let outcome: Outcome =
            switch (old.count >= threshold, new.count >= threshold) {
            case (true, true): .kept
            case (true, false): .stranded
            case (false, true): .newOnly
            case (false, false): .untrusted
            }
        let publisher = "“\(Printable.escaped(certificate.publisher.text))”"
        let message =
            switch outcome {
            case .kept: "\(publisher) is trusted before and after"
            case .stranded:
                "\(publisher) would be stranded: \(new.count) of \(threshold) new roots signed certificate "
                    + "\(certificate.serial); let a new root cosign it, then recertify the packages that carry it"
            case .newOnly:
                "\(publisher) is refused by hosts that still pin the old roots: \(old.count) of \(threshold) of them "
                    + "signed certificate \(certificate.serial); let an old root cosign it until all hosts have changed"
            case .untrusted: "\(publisher) is trusted neither before nor after: no set of roots signed its certificate"
            }
        return Row(
            name: name, outcome: outcome, oldSigners: old.map(\.id), newSigners: new.map(\.id), message: message)
    }

    /// The roots of a set that signed; none when the certificate names one of them as a release key, which readers
    /// refuse.
    private func signers(
        _ document: SignedDocument, _ certificate: Certificate, _ roots: [PublicKey]
    ) -> [PublicKey] {
        roots.contains(certificate.key) ? [] : Signers(of: document.envelope, among: roots).keys
    }
}
