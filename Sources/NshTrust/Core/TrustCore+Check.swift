/// The question that an engine asks before each run.
extension TrustCore {
    /// Tells whether an installed package may start now: rules 2, 3 and 6 to 12 on what was recorded of it.
    ///
    /// - Parameter digest: The package digest.
    /// - Returns: The package's record.
    /// - Throws: The `Refusal` of the first rule that fails; `notInstalled` for a digest that has no tree here;
    ///   `noTrustedRoots`, or another trouble when it cannot be decided.
    /// - Spec: POL-22
    package func check(_ digest: Digest) throws -> InstalledPackage {
        let roots = roots
        guard !roots.isEmpty else { throw Trouble(.noTrustedRoots, "no root key is trusted, so no package can be") }
        return try store.read { state in
            guard let installed = try state.installedPackage(digest) else {
                throw Trouble(.notInstalled, "package \(digest.shortHex) is not installed here")
            }
            try Judge(policy: policy, pinned: roots, state: state, clock: clock.now()).mayStart(installed.facts)
            return installed
        }
    }
}
