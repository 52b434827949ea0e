extension PackageHeader {
    private enum Name: String, CaseIterable { case annotations, app, capabilities, payload, runtime, signedAt }

    /// Bytes of `capabilities`, counted in compact form.
    package static let capabilitiesMaxBytes = 64 << 10

    /// Reads a package header payload.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that hold the payload.
    ///   - range: Where it lies in them.
    /// - Throws: `malformed` for anything that breaks the format.
    /// - Spec: PKG-6 … PKG-15
    package init(parsing bytes: [UInt8], in range: Range<Int>? = nil) throws(Refusal) {
        self = try JSONReader.read(bytes, in: range, subject: "the package header") {
            (reader: inout JSONReader) throws(Refusal) in
            try PackageHeader(&reader)
        }
    }

    private init(_ reader: inout JSONReader) throws(Refusal) {
        var app: App?
        var capabilities: JSONObject?
        var payload: Payload?
        var runtime: RuntimeVersion?
        var signedAt: Int64 = 0
        var annotations = Annotations()
        try reader.members(of: Name.self, optional: [.annotations, .capabilities, .runtime]) {
            (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .annotations: annotations = try reader.annotations()
            case .app: app = try App(&reader)
            case .capabilities: capabilities = try Self.capabilities(&reader)
            case .payload: payload = try Payload(&reader)
            case .runtime: runtime = try Self.runtime(&reader)
            case .signedAt: signedAt = try reader.integer()
            }
        }
        guard let app, let payload else { throw reader.malformed("a member is missing") }
        self.init(
            app: app, capabilities: capabilities, payload: payload, minimumRuntime: runtime, signedAt: signedAt,
            annotations: annotations)
    }

    /// - Spec: PKG-8, LIM-20
    private static func capabilities(_ reader: inout JSONReader) throws(Refusal) -> JSONObject {
        let object = try reader.tree(numbers: .integers, compactMax: capabilitiesMaxBytes)
        let count = JSONValue.object(object).serialized.count
        guard count <= capabilitiesMaxBytes else {
            throw reader.malformed("“capabilities” has \(count) bytes, at most \(capabilitiesMaxBytes) are allowed")
        }
        return object
    }

    private enum RuntimeName: String, CaseIterable { case minimum }

    private static func runtime(_ reader: inout JSONReader) throws(Refusal) -> RuntimeVersion {
        var version: RuntimeVersion?
        try reader.members(of: RuntimeName.self) { (reader: inout JSONReader, _: RuntimeName) throws(Refusal) in
            version = RuntimeVersion(try reader.text())
        }
        guard let version else { throw reader.malformed("“minimum” is 1 to 4 numbers joined by dots") }
        return version
    }

    /// The payload as it is signed.
    package var serialized: [UInt8] {
        var object: JSONObject = [
            "app": .object(app.json), "payload": .object(payload.json), "signedAt": .integer(signedAt),
        ]
        object["capabilities"] = capabilities.map { .object($0) }
        object["runtime"] = minimumRuntime.map { .object(["minimum": .text($0.text)]) }
        object["annotations"] = annotations.json
        return JSONValue.object(object).serialized
    }
}

extension PackageHeader.App {
    private enum Name: String, CaseIterable { case build, id, name, version }

    fileprivate init(_ reader: inout JSONReader) throws(Refusal) {
        var id: AppID?
        var name: DisplayText?
        var version: DisplayText?
        var build: Int64 = 0
        try reader.members(of: Name.self) { (reader: inout JSONReader, member: Name) throws(Refusal) in
            switch member {
            case .build: build = try reader.integer()
            case .id: id = try reader.appID()
            case .name: name = try reader.displayText("name")
            case .version: version = try reader.displayText("version")
            }
        }
        guard let id, let name, let version else { throw reader.malformed("a member is missing") }
        self.init(id: id, name: name, version: version, build: build)
    }

    /// The four members that `app.json` must repeat.
    package var json: JSONObject {
        [
            "build": .integer(build), "id": .text(id.text), "name": .text(name.text), "version": .text(version.text),
        ]
    }
}

extension PackageHeader.Payload {
    private enum Name: String, CaseIterable {
        case chunkSize, chunks, compression, files, manifest, size, unpackedSize
    }

    /// The chunk sizes allowed: powers of two of 64 KiB … 16 MiB.
    package static let chunkSizes: ClosedRange<Int64> = 64 << 10...16 << 20

    fileprivate init(_ reader: inout JSONReader) throws(Refusal) {
        var numbers: (chunkSize: Int64, files: Int64, size: Int64, unpacked: Int64) = (0, 0, 0, 0)
        var chunks: [UInt8] = []
        var compression: PackageHeader.Compression?
        var manifest: Digest?
        try reader.members(of: Name.self) { (reader: inout JSONReader, name: Name) throws(Refusal) in
            switch name {
            case .chunkSize:
                numbers.chunkSize = try reader.integer(in: Self.chunkSizes)
                guard numbers.chunkSize.nonzeroBitCount == 1 else {
                    throw reader.malformed("“chunkSize” is not a power of two")
                }
            case .chunks: chunks = try reader.base64()
            case .compression:
                guard let known = PackageHeader.Compression(rawValue: try reader.text()) else {
                    throw reader.malformed("“compression” is “none” or “zstd”")
                }
                compression = known
            case .files: numbers.files = try reader.integer()
            case .manifest: manifest = try reader.digest()
            case .size: numbers.size = try reader.integer(in: 1...JSONReader.maximumInteger)
            case .unpackedSize: numbers.unpacked = try reader.integer()
            }
        }
        guard let compression, let manifest else { throw reader.malformed("a member is missing") }
        let expected = (numbers.size - 1) / numbers.chunkSize + 1
        guard chunks.count % 32 == 0, chunks.count / 32 == expected else {
            throw reader.malformed("“chunks” holds \(chunks.count) bytes, \(expected) digests of 32 are expected")
        }
        self.init(
            chunkSize: numbers.chunkSize,
            chunks: Digest.each(in: chunks),
            compression: compression, files: numbers.files, manifest: manifest, size: numbers.size,
            unpackedSize: numbers.unpacked)
    }

    fileprivate var json: JSONObject {
        [
            "chunkSize": .integer(chunkSize),
            "chunks": .text(Base64.encode(chunks.flatMap(\.bytes))),
            "compression": .text(compression.rawValue),
            "files": .integer(files),
            "manifest": .text(manifest.hex),
            "size": .integer(size),
            "unpackedSize": .integer(unpackedSize),
        ]
    }
}
