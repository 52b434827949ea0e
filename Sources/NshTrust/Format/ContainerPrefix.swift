/// The first 20 bytes of a package: magic, container version, lengths of the two envelopes.
///
/// - Spec: PKG-1 … PKG-4, POL-1
package struct ContainerPrefix: Hashable, Sendable {
    /// Bytes of the prefix.
    package static let count = 20
    /// The eight bytes every package starts with.
    package static let magic: [UInt8] = [0x89, 0x4E, 0x53, 0x48, 0x50, 0x4B, 0x47, 0x0A]
    /// The container version that this code reads and writes.
    package static let version: UInt32 = 1

    /// Bytes of the certificate envelope, 1 or more.
    package let certificateCount: Int
    /// Bytes of the header envelope, 1 or more.
    package let headerCount: Int

    /// Where the payload starts in the file.
    package var payloadOffset: Int64 { Int64(Self.count + certificateCount + headerCount) }

    /// Makes a prefix for writing; lengths are positive and fit 32 bits.
    package init?(certificateCount: Int, headerCount: Int) {
        guard certificateCount > 0, headerCount > 0, UInt32(exactly: certificateCount) != nil,
            UInt32(exactly: headerCount) != nil
        else { return nil }
        self.certificateCount = certificateCount
        self.headerCount = headerCount
    }

    /// Reads the prefix.
    ///
    /// - Parameters:
    ///   - bytes: The first 20 bytes of the file, or all of it when it is shorter.
    ///   - limits: The bounds of the envelopes.
    /// - Throws: `truncated`, `unsupportedFormat`, `malformed` or `limitExceeded`, in that order of checks.
    package init(parsing bytes: [UInt8], limits: Limits) throws(Refusal) {
        guard bytes.starts(with: Self.magic) else {
            if Self.magic.starts(with: bytes) {
                throw Refusal(.truncated, "the file ends after \(bytes.count) bytes, within its first eight")
            }
            throw Refusal(.unsupportedFormat, "the file does not start like a package")
        }
        func word(_ offset: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
        }
        if bytes.count >= 12 {
            guard word(8) == Self.version else {
                throw Refusal(
                    .unsupportedFormat, "the container has version \(word(8)), this program reads \(Self.version)")
            }
        }
        guard bytes.count >= Self.count else {
            throw Refusal(.truncated, "the file ends after \(bytes.count) bytes, within its prefix of \(Self.count)")
        }
        let (certificate, header) = (word(12), word(16))
        guard certificate > 0, header > 0 else {
            throw .malformed("the container has an empty \(certificate == 0 ? "certificate" : "header")")
        }
        guard certificate <= limits.certificateEnvelopeBytes else {
            throw Refusal(
                .limitExceeded,
                "the certificate has \(certificate) bytes, the limit is \(limits.certificateEnvelopeBytes)")
        }
        guard header <= limits.headerEnvelopeBytes else {
            throw Refusal(
                .limitExceeded, "the package header has \(header) bytes, the limit is \(limits.headerEnvelopeBytes)")
        }
        certificateCount = Int(certificate)
        headerCount = Int(header)
    }

    /// The 20 bytes.
    package var serialized: [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * UInt32($0)) & 0xFF) } }
        return Self.magic + word(Self.version) + word(UInt32(certificateCount)) + word(UInt32(headerCount))
    }
}
