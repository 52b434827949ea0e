import FoundationEssentials
import NshTrust

/// The files of `testvectors/`, from which the seeds are made each time; nothing of them is kept twice.
package struct SeedVectors: Sendable {
    private struct Vector {
        let name: String
        let kind: String
        let file: String
        let isPlain: Bool
        let outcome: String
    }

    private let directory: URL
    private let vectors: [Vector]

    /// Reads the index.
    ///
    /// - Parameter path: The folder `testvectors`.
    /// - Throws: What reading throws.
    package init(directory path: String) throws {
        directory = URL(fileURLWithPath: path, isDirectory: true)
        let bytes = Array(try Data(contentsOf: directory.appendingPathComponent("index.json")))
        let index = try JSONReader.read(bytes, subject: "index.json") { (reader: inout JSONReader) throws(Refusal) in
            try reader.tree(numbers: .integers)
        }
        guard case .array(let values)? = index["vectors"] else { throw BrokenProperty("index.json has no vectors") }
        vectors = values.compactMap { value in
            guard case .object(let object) = value, case .text(let name)? = object["name"],
                case .text(let kind)? = object["kind"], case .text(let file)? = object["file"],
                case .object(let expect)? = object["expect"]
            else { return nil }
            let asked = object["roots"] == .array([.text("keys/root-1.pub")]) && object["at"] == .integer(Bench.now)
            let isPlain = asked && object["options"] == nil && object["revocations"] == nil
            var outcome = "accepted"
            if case .text(let code)? = expect["code"] { outcome = code }
            return Vector(name: name, kind: kind, file: file, isPlain: isPlain, outcome: outcome)
        }
        guard vectors.count > 100 else { throw BrokenProperty("index.json holds \(vectors.count) vectors with files") }
    }

    private func bytes(_ vector: Vector) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appendingPathComponent(vector.file)))
    }

    /// Packages as they are; those that ask for nothing special with what must come out.
    func packages() throws -> [Seed] {
        try vectors.filter { $0.kind == "package" }.map { vector in
            Seed(vector.name, try bytes(vector), outcome: vector.isPlain ? vector.outcome : nil)
        }
    }

    /// The envelopes of all packages, certificates and lists.
    func envelopes() throws -> [Seed] {
        var seeds: [Seed] = []
        for vector in vectors {
            switch vector.kind {
            case "package":
                guard let (certificate, header, _) = Self.parts(try bytes(vector)) else { continue }
                seeds += [Seed("\(vector.name)-c", certificate), Seed("\(vector.name)-h", header)]
            case "certificate": seeds.append(Seed("certificate-\(vector.name)", try bytes(vector)))
            case "revocations": seeds.append(Seed("list-\(vector.name)", try bytes(vector)))
            default: break
            }
        }
        return Self.distinct(seeds).filter { $0.bytes.count <= 16 << 10 }
    }

    /// The payloads of the envelopes of one kind.
    func payloads(of kind: Envelope.Kind) throws -> [Seed] {
        Self.distinct(
            try envelopes().compactMap { seed in
                guard let envelope = try? Envelope(parsingDraft: seed.bytes), envelope.kind == kind else { return nil }
                return Seed(seed.name, envelope.payload)
            })
    }

    /// The archives of the packages that are not compressed.
    func archives() throws -> [Seed] { try payloads { !$0.starts(with: Self.frameMagic) } }

    /// The frames of those that are.
    func frames() throws -> [Seed] { try payloads { $0.starts(with: Self.frameMagic) } }

    /// Key files.
    func keys() throws -> [Seed] {
        try vectors.filter { $0.kind == "key" }.map { vector in Seed(vector.name, try bytes(vector)) }
    }

    /// Every distinct text of the headers and certificates.
    func texts() throws -> [Seed] {
        var texts: Set<String> = []
        func collect(_ value: JSONValue) {
            switch value {
            case .text(let text): if text.utf8.count <= 1024 { texts.insert(text) }
            case .array(let values): for value in values { collect(value) }
            case .object(let object):
                for member in object.members {
                    texts.insert(member.name)
                    collect(member.value)
                }
            case .null, .boolean, .integer, .number: break
            }
        }
        for seed in try payloads(of: .package) + payloads(of: .certificate) + payloads(of: .revocations) {
            let value = try? JSONReader.read(seed.bytes, subject: "the payload") {
                (reader: inout JSONReader) throws(Refusal) in try reader.value(numbers: .any)
            }
            if let value { collect(value) }
        }
        return texts.sorted().enumerated().map { Seed("text-v\($0.offset)", $0.element) }
    }

    private static let frameMagic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    private func payloads(_ isWanted: ([UInt8]) -> Bool) throws -> [Seed] {
        Self.distinct(
            try packages().compactMap { seed in
                guard let payload = Self.parts(seed.bytes)?.payload, isWanted(payload), payload.count < 32 << 10 else {
                    return nil
                }
                return Seed(seed.name, payload)
            })
    }

    private static func parts(_ file: [UInt8]) -> (certificate: [UInt8], header: [UInt8], payload: [UInt8])? {
        guard let prefix = try? ContainerPrefix(parsing: Array(file.prefix(20)), limits: Limits()) else { return nil }
        let middle = 20 + prefix.certificateCount
        let end = middle + prefix.headerCount
        guard file.count >= end else { return nil }
        return (Array(file[20..<middle]), Array(file[middle..<end]), Array(file[end...]))
    }

    private static func distinct(_ seeds: [Seed]) -> [Seed] {
        var seen: Set<[UInt8]> = []
        return seeds.filter { seen.insert($0.bytes).inserted }
    }
}

extension FuzzTarget {
    /// The inputs to begin with.
    ///
    /// - Parameter vectors: The files that they are made of.
    /// - Returns: The seeds.
    /// - Throws: What reading the files throws.
    package func seeds(from vectors: SeedVectors) throws -> [Seed] { try seeds(vectors) }
}
