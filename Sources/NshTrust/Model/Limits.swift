/// How much of anything is accepted; one place for every bound that a host may set.
///
/// - Spec: LIM-1 … LIM-7
public struct Limits: Hashable, Sendable {
    /// Bytes of a certificate envelope.
    public var certificateEnvelopeBytes: Int64 = 64 << 10
    /// Bytes of a header envelope.
    public var headerEnvelopeBytes: Int64 = 4 << 20
    /// Files of a package, `SHA256SUMS` not counted.
    public var files: Int64 = 100_000
    /// Directories of a package.
    public var directories: Int64 = 100_000
    /// Bytes of all files of a package.
    public var unpackedBytes: Int64 = 4 << 30
    /// Bytes of a revocation list's envelope.
    public var revocationListBytes: Int64 = 256 << 20
    /// Pinned roots of one instance.
    public var pinnedRoots: Int = 16

    /// Makes the default limits.
    public init() {}
}
