package import NshTrust

extension PackageBuilder {
    /// When tests decide unless they say otherwise: within the default certificate's window.
    public static let now: Int64 = 1_764_480_000

    /// Runs the rules 1 to 12 on a package file, with the default root pinned and nothing in the store.
    ///
    /// - Parameters:
    ///   - file: The package's bytes.
    ///   - policy: What the host asks for.
    ///   - now: The time of the decision, in seconds since 1970 UTC.
    /// - Returns: The chain that rules 1 to 12 accept.
    /// - Throws: `Refusal`.
    package static func chain(
        of file: [UInt8], policy: Policy = Policy(), now: Int64 = PackageBuilder.now
    ) throws -> VerifiedChain {
        let prefix = try ContainerPrefix(parsing: Array(file.prefix(ContainerPrefix.count)), limits: policy.limits)
        let middle = ContainerPrefix.count + prefix.certificateCount
        let end = middle + prefix.headerCount
        guard file.count >= end else { throw Refusal(.truncated, "the file ends within an envelope") }
        let roots = [TestKey.root.publicKey]
        let judge = try Judge(policy: policy, pinned: roots, state: EmptyTrustState(), clock: now)
        var established = Established()
        return try Examination(roots: roots, judge: judge).verify(
            prefix: prefix, certificate: Array(file[ContainerPrefix.count..<middle]), header: Array(file[middle..<end]),
            established: &established)
    }
}
