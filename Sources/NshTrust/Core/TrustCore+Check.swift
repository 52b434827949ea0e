/// The question that an engine asks before each run.
extension TrustCore {
    /// Tells whether an installed package may start now: rules 2, 3 and 6 to 12 on what was recorded of it.
    ///
    /// From memory: it reflects each commit of this process, and those of others that finished 50 ms before.
    ///
    /// - Parameter digest: The package digest.
    /// - Returns: What holds the package's record.
    /// - Throws: The `Refusal` of the first rule that fails; `notInstalled` for a digest that has no tree here;
    ///   `noTrustedRoots`, or another trouble when it cannot be decided.
    /// - Spec: POL-23, POL-24
    package func check(_ digest: Digest) throws -> LocalExcerpt {
        guard let local = try store.excerpt(of: digest, pinned: { try rootsToJudgeBy() }) else {
            throw Trouble(.notInstalled, "package \(digest.shortHex) is not installed here")
        }
        let now = clock.now()
        if !local.mayStart(at: now) { try local.excerpt.judge(at: now, policy: policy) }
        return local
    }

    private func rootsToJudgeBy() throws(Trouble) -> [PublicKey] {
        let roots = roots
        guard !roots.isEmpty else { throw Trouble(.noTrustedRoots, "no root key is trusted, so no package can be") }
        return roots
    }
}
