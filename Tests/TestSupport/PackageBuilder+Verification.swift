package import NshTrust

extension PackageBuilder {
    /// When tests decide unless they say otherwise: within the default certificate's window.
    public static let now: Int64 = 1_764_480_000

    /// Runs the rules 1 to 12 on a package file, with nothing in the store.
    ///
    /// - Parameters:
    ///   - file: The package's bytes.
    ///   - policy: What the host asks for.
    ///   - now: The time of the decision, in seconds since 1970 UTC.
    ///   - roots: The pinned roots.
    /// - Returns: The chain that rules 1 to 12 accept.
    /// - Throws: `Refusal`.
    package static func chain(
        of file: [UInt8], policy: Policy = Policy(), now: Int64 = PackageBuilder.now,
        roots: [PublicKey] = [TestKey.root.publicKey]
    ) throws -> VerifiedChain {
        let prefix = try ContainerPrefix(parsing: Array(file.prefix(ContainerPrefix.count)), limits: policy.limits)
        let middle = ContainerPrefix.count + prefix.certificateCount
        let end = middle + prefix.headerCount
        guard file.count >= end else { throw Refusal(.truncated, "the file ends within an envelope") }
        let judge = try Judge(policy: policy, pinned: roots, state: EmptyTrustState(), clock: now)
        var established = Established()
        return try Examination(roots: roots, judge: judge).verify(
            prefix: prefix, certificate: Array(file[ContainerPrefix.count..<middle]), header: Array(file[middle..<end]),
            established: &established)
    }
}

extension PackageBuilder {
    /// Builds the package, runs all 13 rules and returns the code of the one that refuses it, or nil.
    ///
    /// - Parameters:
    ///   - policy: What the host asks for.
    ///   - sink: What receives the files.
    /// - Returns: The code, or nil when the package is accepted.
    /// - Throws: `Trouble` when nothing can be decided.
    package func refusal(policy: Policy = Policy(), sink: (any PayloadSink)? = nil) throws -> RefusalCode? {
        try refusalCode { try verify(policy: policy, sink: sink) }
    }

    /// Builds the package and runs all 13 rules.
    ///
    /// - Parameters:
    ///   - policy: What the host asks for.
    ///   - sink: What receives the files.
    /// - Returns: What the payload holds.
    /// - Throws: `Refusal`, or `Trouble` when nothing can be decided.
    @discardableResult
    package func verify(policy: Policy = Policy(), sink: (any PayloadSink)? = nil) throws -> PayloadSummary {
        try Self.verify(build(), policy: policy, sink: sink)
    }

    /// Runs all 13 rules on a package file.
    ///
    /// - Parameters:
    ///   - file: The package's bytes.
    ///   - policy: What the host asks for.
    ///   - sink: What receives the files.
    /// - Returns: What the payload holds.
    /// - Throws: `Refusal`, or `Trouble` when nothing can be decided.
    @discardableResult
    package static func verify(
        _ file: [UInt8], policy: Policy = Policy(), sink: (any PayloadSink)? = nil
    ) throws -> PayloadSummary {
        let chain = try chain(of: file, policy: policy)
        var input = BytesInput(Array(file[Int(chain.payloadOffset)...]))
        return try PayloadVerifier.run(chain, input: &input, limits: policy.limits, sink: sink, monitor: Monitor())
    }
}

/// Keeps the files of a payload in memory.
package final class CollectingSink: PayloadSink {
    /// The files that ended, in order.
    package private(set) var files: [(path: String, data: [UInt8])] = []
    /// The path of the file that has begun and not ended.
    package private(set) var openPath: String?
    private var data: [UInt8] = []

    /// Makes an empty sink.
    package init() {}

    /// Starts a file.
    package func beginFile(_ path: UnsafeRawBufferPointer, size: Int64) {
        openPath = String(decoding: path, as: UTF8.self)
        data = []
    }

    /// Keeps bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) { data += bytes }

    /// Keeps the file.
    package func endFile() {
        if let openPath { files.append((openPath, data)) }
        openPath = nil
    }
}
