/// How much of anything is accepted; one place for every bound that a host may set.
///
/// - Spec: LIM-1
public struct Limits: Hashable, Sendable {
    /// Bytes of a certificate envelope.
    public var certificateMaxBytes: Int64 = 64 << 10
    /// Bytes of a header envelope.
    public var headerMaxBytes: Int64 = 4 << 20
    /// Files of a package, `SHA256SUMS` not counted.
    public var filesMax: Int64 = 100_000
    /// Directories of a package.
    public var directoriesMax: Int64 = 100_000
    /// Bytes of all files of a package.
    public var unpackedMaxBytes: Int64 = 4 << 30
    /// Bytes of a revocation list's envelope.
    public var revocationsMaxBytes: Int64 = 256 << 20
    /// Pinned roots of one instance.
    public var rootsMax: Int = 16

    /// Makes the default limits.
    public init() {}
}
