internal import NshTrust

/// Puts the parts of a package together: prefix, certificate, header, payload.
///
/// - Spec: PKG-1 … PKG-5
struct PackageAssembly {
    /// The certificate's envelope.
    let certificate: [UInt8]
    /// The header's envelope.
    let header: [UInt8]

    /// Writes the package.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - file: Where the package comes into being.
    ///   - limits: The bounds of readers.
    /// - Returns: The bytes of the package.
    /// - Throws: `limitExceeded` when an envelope is larger than readers take, `ioFailure`.
    func write(payload: SpoolFile, to file: borrowing OutputFile, limits: Limits) throws -> Int64 {
        guard header.count <= limits.headerEnvelopeBytes else {
            throw Refusal(
                .limitExceeded,
                "the package header has \(header.count) bytes, readers take \(limits.headerEnvelopeBytes)")
        }
        guard let prefix = ContainerPrefix(certificateCount: certificate.count, headerCount: header.count) else {
            throw Refusal(.limitExceeded, "an envelope is empty or has more than 4 GiB")
        }
        try file.write(prefix.serialized + certificate + header)
        var memory = [UInt8](repeating: 0, count: PackageContents.bufferCount)
        try memory.withUnsafeMutableBytes { buffer in
            try payload.readAll(through: buffer) { try file.write($0) }
        }
        return prefix.payloadOffset + payload.count
    }
}
