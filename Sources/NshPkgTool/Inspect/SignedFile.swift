import NshPublishing
import NshTrust

/// A signed document in a file of its own or within a package.
enum SignedFile {
    /// What was read.
    struct Found {
        /// The document; of a package its header.
        let document: SignedDocument
        /// The certificate of a package.
        let certificate: SignedDocument?
    }

    /// Reads a certificate, a list, a draft, or the header of a package.
    ///
    /// - Throws: What reading throws; `malformed` for a key file.
    static func read(_ path: String) throws -> Found {
        var source = try Source(path == "-" ? "./-" : path)
        let first = try source.bytes(upTo: 1)
        guard first.first == ContainerPrefix.magic[0] else {
            return Found(document: try SignedDocument(readingFile: path), certificate: nil)
        }
        guard case .package(_, let certificate, let header) = try InspectedFile.read(path) else {
            throw Refusal.malformed("\(Terminal.safe(path)) is no package")
        }
        return Found(
            document: SignedDocument(try Envelope(parsing: header, as: .package)),
            certificate: SignedDocument(try Envelope(parsing: certificate, as: .certificate)))
    }
}
