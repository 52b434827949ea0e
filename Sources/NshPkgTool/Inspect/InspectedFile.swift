import NshPublishing
import NshTrust

/// A file that `inspect` was given, taken apart as far as its kind says; nothing in it has been verified.
enum InspectedFile {
    /// A package's front; the payload is not read.
    case package(prefix: ContainerPrefix, certificate: [UInt8], header: [UInt8])
    /// A signed document.
    case document(Envelope, bytes: [UInt8])
    /// A public key file.
    case publicKey(PublicKey)
    /// A secret key file, of which only what is public is looked at.
    case secretKey(SecretKeyFile)

    /// Reads a file.
    ///
    /// - Parameter path: A path, or `-` for standard input.
    /// - Returns: The file, taken apart.
    /// - Throws: `Trouble` when it cannot be read, `Refusal` when it is none of what the tool knows.
    static func read(_ path: String) throws -> InspectedFile {
        let limits = Limits()
        if path != "-", try SecretKeyFile.isOne(path) { return .secretKey(try SecretKeyFile(reading: path)) }
        var source = try Source(path)
        let start = try source.bytes(upTo: ContainerPrefix.count)
        if let first = start.first, first == ContainerPrefix.magic[0] {
            let prefix = try ContainerPrefix(parsing: start, limits: limits)
            let certificate = try source.bytes(upTo: prefix.certificateCount)
            let header = try source.bytes(upTo: prefix.headerCount)
            guard certificate.count == prefix.certificateCount, header.count == prefix.headerCount else {
                throw Refusal(
                    .truncated, "the file ends within its envelopes; they end at byte \(prefix.payloadOffset)")
            }
            return .package(prefix: prefix, certificate: certificate, header: header)
        }
        let bytes = start + (try source.rest(limit: Int(limits.revocationListBytes)))
        if let key = PublicKey(fileContent: bytes) { return .publicKey(key) }
        guard bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == 0x7B else {
            throw Refusal(
                .unsupportedFormat,
                "this is no package, certificate, revocation list or key file of nsh-pkgtool")
        }
        if bytes.count < 1 << 14, SecretKeyFile.isOne(bytes) {
            throw Refusal(.unsupportedFormat, "a secret key file is not taken from standard input")
        }
        return .document(try Envelope(parsingDraft: bytes), bytes: bytes)
    }

    /// What it says.
    ///
    /// - Throws: `Refusal` (`malformed`) when it breaks its format.
    func description() throws -> Description {
        switch self {
        case .package(_, let certificate, let header):
            let certifier = try Envelope(parsing: certificate, as: .certificate)
            let envelope = try Envelope(parsing: header, as: .package)
            return Description(
                try PackageHeader(parsing: envelope.signedBytes, in: envelope.payloadRange), signedBy: envelope,
                certificate: try Certificate(parsing: certifier.signedBytes, in: certifier.payloadRange),
                signedBy: certifier)
        case .document(let envelope, _):
            switch envelope.kind {
            case .certificate:
                return Description(
                    try Certificate(parsing: envelope.signedBytes, in: envelope.payloadRange), signedBy: envelope)
            case .revocations:
                return Description(
                    try RevocationList(parsing: envelope.signedBytes, in: envelope.payloadRange), signedBy: envelope)
            case .package:
                return Description(
                    try PackageHeader(parsing: envelope.signedBytes, in: envelope.payloadRange), signedBy: envelope)
            }
        case .publicKey(let key): return Description(key)
        case .secretKey(let file): return Description(file)
        }
    }
}
