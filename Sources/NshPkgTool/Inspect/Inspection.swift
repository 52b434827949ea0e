import NshTrust

/// Judges what `inspect` shows, as far as that is possible without a store and without the payload.
struct Inspection {
    /// What was found.
    enum Finding {
        /// The signatures hold, and so do the rules.
        case verified(String)
        /// A rule refuses it.
        case refused(Failure)
        /// Nothing could be verified, and why.
        case unverified(String)
        /// It is nothing that is signed.
        case unsigned
    }

    /// The trusted roots.
    let roots: TrustedRoots
    /// What is asked for.
    let policy: Policy
    /// The time of the decision.
    let clock: Int64

    /// Judges a file.
    func judge(_ file: InspectedFile) -> Finding {
        switch file {
        case .publicKey, .secretKey: return .unsigned
        case .document(let envelope, _) where envelope.signatures.isEmpty:
            return .unverified("a draft that nobody has signed yet")
        case .document(let envelope, _) where envelope.kind == .package:
            return .unverified("a package header without the certificate that names its key")
        case .package, .document: break
        }
        guard !roots.roots.isEmpty else { return .unverified("no root is trusted here; --root FILE names one") }
        do {
            return .verified(try verify(file))
        } catch {
            return .refused(Failure(error))
        }
    }

    private func verify(_ file: InspectedFile) throws -> String {
        let state = EmptyTrustState()
        let judge = try Judge(policy: policy, pinned: roots.keys, state: state, clock: clock)
        let examination = Examination(roots: roots.keys, judge: judge)
        var established = Established()
        switch file {
        case .package(let prefix, let certificate, let header):
            let chain = try examination.verify(
                prefix: prefix, certificate: certificate, header: header, established: &established)
            return
                "signed by key \(chain.certificate.certificate.key.id), which \(named(chain.certificate.roots)) certified; "
                + "the payload was not read"
        case .document(let envelope, let bytes) where envelope.kind == .certificate:
            let certificate = try examination.verifyCertificate(bytes, established: &established)
            return "signed by \(named(certificate.roots))"
        case .document(let envelope, let bytes):
            let list = try VerifiedList.verifying(bytes, roots: roots.keys, state: state, policy: policy)
            let signers = Signers(of: envelope, among: roots.keys).keys
            return "signed by \(named(signers))" + (list.ignoredGrants.map { "; \($0)" } ?? "")
        case .publicKey, .secretKey: return ""
        }
    }

    private func named(_ keys: [PublicKey]) -> String {
        keys.map { key in "root \(key.id)" + (roots.files[key.hash.hex].map { " (\(Terminal.safe($0)))" } ?? "") }
            .joined(separator: " and ")
    }
}
