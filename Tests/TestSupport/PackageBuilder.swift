package import NshTrust

/// Makes a package for a test: a good one by default, and hostile in any one place.
///
/// The steps run in the order of the members below; each may be replaced or edited. What comes before is made right for
/// it: digests, sizes and signatures fit whatever bytes a step leaves.
///
/// ```swift
/// var package = PackageBuilder()
/// package.editMembers = { $0[2].kind = 0x32 }  // a symbolic link in place of the logo
/// #expect(try package.refusal() == .unsafeMember)
/// ```
public struct PackageBuilder: Sendable {
    // MARK: - Who

    /// The release key's certificate.
    package var certificate = Certificate(
        apps: [.below("com.example.")], content: nil, key: TestKey.release.publicKey, notBefore: 1_764_460_800,
        notAfter: 1_795_996_800, publisher: text("Example Ltd"), serial: serial(7))
    /// The roots that sign the certificate.
    public var certifiedBy = [TestKey.root]
    /// Who signs the header.
    public var signedBy = [TestKey.release]

    // MARK: - What

    /// The app, as header and `app.json` say.
    package var app = PackageHeader.App(
        id: id("com.example.orders"), name: text("Orders"), version: text("1.4.0"), build: 42)
    /// The capabilities of the header, and of `capabilities.json` unless `files` has one.
    package var capabilities: JSONObject?
    /// The lowest runtime.
    package var minimumRuntime: RuntimeVersion?
    /// The time of signing.
    public var signedAt: Int64 = 1_764_470_000
    /// The files beside `app.json` and `capabilities.json`, by path; an entry of those names replaces what is made.
    public var files: [String: [UInt8]] = [
        "assets/logo.svg": Array("<svg/>\n".utf8), "bundle.js": Array("console.log('orders')\n".utf8),
    ]

    // MARK: - The archive

    /// Changes `SHA256SUMS`; the header's `manifest` and `files` fit what it leaves.
    public var editSums: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the members: `SHA256SUMS`, then the files in the order of their paths' bytes.
    public var editMembers: (@Sendable (inout [TarMember]) -> Void)?
    /// What ends the archive.
    public var end = [UInt8](repeating: 0, count: 1024)
    /// Changes the archive.
    public var editArchive: (@Sendable (inout [UInt8]) -> Void)?

    // MARK: - The payload

    /// How the archive becomes the payload.
    public enum Packing: Sendable {
        /// As it is.
        case none
        /// A zstd frame of stored blocks.
        case storedFrame
        /// A frame that libzstd compressed.
        case zstd
        /// What the function returns, in a package whose header says `zstd`.
        case custom(@Sendable ([UInt8]) -> [UInt8])
    }

    /// How the archive becomes the payload.
    public var packing = Packing.none
    /// Bytes a chunk.
    public var chunkSize = 65536
    /// Changes the payload; digests and size fit what it leaves.
    public var editPayload: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the header before it is signed.
    package var editHeader: (@Sendable (inout PackageHeader) -> Void)?
    /// Changes the header's bytes before they are signed.
    public var editHeaderBytes: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the certificate's bytes before they are signed.
    public var editCertificateBytes: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the certificate's signatures.
    package var editCertificateSignatures: (@Sendable (inout [Envelope.Signature]) -> Void)?
    /// Changes the header's signatures.
    package var editHeaderSignatures: (@Sendable (inout [Envelope.Signature]) -> Void)?
    /// Changes the certificate's envelope.
    public var editCertificateEnvelope: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the header's envelope.
    public var editHeaderEnvelope: (@Sendable (inout [UInt8]) -> Void)?
    /// Damages the payload behind its digests.
    public var damagePayload: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the finished file.
    public var editFile: (@Sendable (inout [UInt8]) -> Void)?

    /// Starts with a good package.
    public init(build: Int64 = 42, app: String = "com.example.orders") {
        self.app.build = build
        self.app.id = Self.id(app)
    }

    // MARK: - Making

    /// The magic and the version of a package file.
    private static let start: [UInt8] = [0x89, 0x4E, 0x53, 0x48, 0x50, 0x4B, 0x47, 0x0A, 1, 0, 0, 0]

    /// Makes the package file.
    public func build() -> [UInt8] {
        let payload = archiveAndPayload()
        var header = PackageHeader(
            app: app, capabilities: capabilities, payload: payload.shape, minimumRuntime: minimumRuntime,
            signedAt: signedAt)
        editHeader?(&header)
        var headerBytes = header.serialized
        editHeaderBytes?(&headerBytes)
        var certificateBytes = certificate.serialized
        editCertificateBytes?(&certificateBytes)
        var certificateEnvelope = Envelope.signed(
            .certificate, certificateBytes, by: certifiedBy, edit: editCertificateSignatures
        ).serialized
        editCertificateEnvelope?(&certificateEnvelope)
        var headerEnvelope = Envelope.signed(.package, headerBytes, by: signedBy, edit: editHeaderSignatures).serialized
        editHeaderEnvelope?(&headerEnvelope)
        let lengths = [certificateEnvelope.count, headerEnvelope.count].flatMap { count in
            (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        }
        var body = payload.bytes
        damagePayload?(&body)
        var file = Self.start + lengths + certificateEnvelope + headerEnvelope + body
        editFile?(&file)
        return file
    }

    /// The files with `app.json` and `capabilities.json`, in the order of their paths' bytes.
    public var allFiles: [(path: [UInt8], data: [UInt8])] {
        var all = files
        if all["app.json"] == nil { all["app.json"] = JSONValue.object(app.json).serialized }
        if let capabilities, all["capabilities.json"] == nil {
            all["capabilities.json"] = JSONValue.object(capabilities).serialized
        }
        return all.map { (Array($0.key.utf8), $0.value) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }

    /// `SHA256SUMS` before it is edited.
    public var sums: [UInt8] {
        allFiles.flatMap { file in Array("\(SHA256.hash(file.data).hex)  ".utf8) + file.path + [0x0A] }
    }

    /// The archive, uncompressed.
    public var archive: [UInt8] { makeArchive().bytes }

    private func makeArchive() -> (bytes: [UInt8], sums: [UInt8], unpackedSize: Int) {
        var sums = sums
        editSums?(&sums)
        var members = [TarMember("SHA256SUMS", sums)] + allFiles.flatMap { TarMember.file($0.path, $0.data) }
        let unpacked = sums.count + allFiles.reduce(0) { $0 + $1.data.count }
        editMembers?(&members)
        var archive = members.flatMap(\.encoded) + end
        editArchive?(&archive)
        return (archive, sums, unpacked)
    }

    private func archiveAndPayload() -> (bytes: [UInt8], shape: PackageHeader.Payload) {
        let (archive, sums, unpacked) = makeArchive()
        var payload =
            switch packing {
            case .none: archive
            case .storedFrame: ZstdFrame(storing: archive).encoded
            case .zstd: ZstdFrame.compressed(archive)
            case .custom(let pack): pack(archive)
            }
        editPayload?(&payload)
        var compression = PackageHeader.Compression.zstd
        if case .none = packing { compression = .none }
        let chunks = stride(from: 0, to: payload.count, by: chunkSize).map { start in
            SHA256.hash(Array(payload[start..<min(start + chunkSize, payload.count)]))
        }
        let shape = PackageHeader.Payload(
            chunkSize: Int64(chunkSize), chunks: chunks, compression: compression,
            files: Int64(sums.count { $0 == 0x0A }), manifest: SHA256.hash(sums), size: Int64(payload.count),
            unpackedSize: Int64(unpacked))
        return (payload, shape)
    }

    // MARK: - Values

    /// Makes an app id that the test knows to be one.
    package static func id(_ text: String) -> AppID {
        guard let id = AppID(text) else { fatalError("\(text) is no app id") }
        return id
    }

    /// Makes a display text that the test knows to be one.
    package static func text(_ text: String) -> DisplayText {
        guard let display = DisplayText(text) else { fatalError("\(text) is no display text") }
        return display
    }

    /// Makes a serial of one byte repeated.
    package static func serial(_ byte: UInt8) -> Serial {
        guard let serial = Serial([UInt8](repeating: byte, count: 16)) else { fatalError("16 bytes are a serial") }
        return serial
    }
}
