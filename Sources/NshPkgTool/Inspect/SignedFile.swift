import NshPublishing
import NshTrust

/// A signed document in a file of its own or within a package.
enum SignedFile {
    /// What a file is.
    enum Kind { case package, document }

    /// Looks at the first byte of a file.
    ///
    /// - Throws: What reading throws.
    static func kind(_ path: String) throws -> Kind {
        var source = try Source(path == "-" ? "./-" : path)
        return try source.bytes(upTo: 1).first == ContainerPrefix.magic[0] ? .package : .document
    }

    /// Reads a certificate, a list, a draft, or the header of a package.
    ///
    /// - Throws: What reading throws; `malformed` for a key file.
    static func document(_ path: String) throws -> SignedDocument {
        switch try kind(path) {
        case .package: try PackageFile(reading: path).header
        case .document: try SignedDocument(readingFile: path)
        }
    }

    /// Reads a certificate, or the one in a package.
    ///
    /// - Throws: What reading throws; `malformed` for anything else.
    static func certificate(_ path: String) throws -> SignedDocument {
        switch try kind(path) {
        case .package: try PackageFile(reading: path).certificate
        case .document: try SignedDocument(readingFile: path)
        }
    }
}
