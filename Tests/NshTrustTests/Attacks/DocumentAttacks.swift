import NshTrust
import TestSupport
import Testing

/// JSON that two parsers read in two ways, that is spelled in several, that is too deep, too long or of the wrong type.
@Suite struct DocumentAttacks {
    /// The documents that are signed.
    enum Document: String, CaseIterable, Sendable {
        case certificate, header, list
    }

    private let host: AttackHost

    init() throws { host = try AttackHost() }

    /// Expects that the document is malformed once it was changed under its signature.
    private func mustBeMalformed(
        _ document: Document, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) throws {
        var (package, list) = (PackageBuilder(), ListBuilder())
        switch document {
        case .certificate: package.editCertificateBytes = change
        case .header: package.editHeaderBytes = change
        case .list: list.editBytes = change
        }
        if document == .list {
            try host.mustRefuse(list: list, .malformed, sourceLocation: sourceLocation)
        } else {
            try host.mustRefuse(package, .malformed, sourceLocation: sourceLocation)
        }
    }

    /// The document as it is when nothing changes it.
    private static func json(of document: Document) throws -> JSONObject {
        let bytes =
            switch document {
            case .certificate: PackageBuilder().certificate.serialized
            case .header:
                try PackageBuilder.chain(of: PackageBuilder().build()).header.serialized
            case .list: ListBuilder().list.serialized
            }
        return try JSONReader.read(bytes, subject: "a test") { (reader: inout JSONReader) throws(Refusal) in
            try reader.tree(numbers: .any)
        }
    }

    @Test(.attack("E1", "E2", "E13"), .rules("JSN-3", "JSN-4", "JSN-8"), arguments: Document.allCases)
    func aNameThatStandsTwiceIsRefusedInEverySpelling(_ document: Document) throws {
        for (name, value) in try Self.json(of: document).members {
            let text = String(decoding: value.serialized, as: UTF8.self)
            let initial = name.unicodeScalars.first!.value
            let escaped = "\\u00" + String(initial, radix: 16) + name.dropFirst()
            let cased = name.prefix(1).uppercased() + name.dropFirst()
            for twin in [name, escaped, cased, name.uppercased()] {
                try mustBeMalformed(document) { $0 = Array("{\"\(twin)\":\(text),".utf8) + $0.dropFirst() }
                try mustBeMalformed(document) { $0 = $0.dropLast() + Array(",\"\(twin)\":\(text)}".utf8) }
            }
        }
    }

    @Test(.attack("E1", "E2"), .rules("JSN-3")) func aNameThatStandsTwiceFurtherInIsRefused() throws {
        try mustBeMalformed(.header) { $0.replace("\"build\":42", with: "\"build\":5,\"build\":999") }
        try mustBeMalformed(.header) { $0.replace("\"build\":42", with: "\"build\":5,\"\\u0062uild\":999") }
        try mustBeMalformed(.header) { $0.replace("\"build\":42", with: "\"\\u0062uild\":5,\"build\":999") }
        try mustBeMalformed(.list) { $0.replace("\"minimumBuilds\":{}", with: #""minimumBuilds":{"a.b":1,"a.b":2}"#) }
        try mustBeMalformed(.list) {
            $0.replace("\"minimumBuilds\":{}", with: #""minimumBuilds":{"a.b":1,"\u0061.b":2}"#)
        }
        let envelope: @Sendable (inout [UInt8]) -> Void = {
            $0 = Array(#"{"payload":"e30=","#.utf8) + $0.dropFirst()
        }
        var package = PackageBuilder()
        package.editHeaderEnvelope = envelope
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editEnvelope = envelope
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(.attack("E6", "A21"), .rules("JSN-11"), arguments: Document.allCases)
    func everyMemberHasOneType(_ document: Document) throws {
        let others: [JSONValue] = [
            .null, .boolean(true), .integer(7), .text("x"), .array([]), .object([:]), .array([.null]), .text(""),
        ]
        func changed(_ object: JSONObject, _ path: [String], _ value: JSONValue?) -> JSONObject {
            var object = object
            if path.count == 1 {
                object[path[0]] = value
            } else if case .object(let inner) = object[path[0]] {
                object[path[0]] = .object(changed(inner, Array(path.dropFirst()), value))
            }
            return object
        }
        func kind(_ value: JSONValue) -> Int {
            switch value {
            case .null: 0
            case .boolean: 1
            case .integer, .number: 2
            case .text: 3
            case .array: 4
            case .object: 5
            }
        }
        let original = try Self.json(of: document)
        var places = original.members.map { ([$0.name], $0.value) }
        for (name, value) in original.members {
            if case .object(let inner) = value { places += inner.members.map { ([name, $0.name], $0.value) } }
        }
        for (path, value) in places {
            for other in others where kind(other) != kind(value) {
                let bytes = JSONValue.object(changed(original, path, other)).serialized
                try mustBeMalformed(document) { $0 = bytes }
            }
            let bytes = JSONValue.object(changed(original, path, nil)).serialized
            try mustBeMalformed(document) { $0 = bytes }
        }
    }

    @Test(
        .attack("A16", "A17", "A18"), .rules("JSN-10", "PKG-11", "PKG-13", "JSN-11"),
        arguments: [
            { "\"\($0.uppercased())\"" }, { "\" \($0)\"" }, { "\"\($0) \"" }, { "\"sha256:\($0)\"" },
            { "\"\($0.dropLast())\"" }, { "\"\($0)0\"" }, { _ in "\"\"" }, { _ in "{}" }, { _ in "null" },
            { "[\"\($0)\"]" }, { "\"\($0.dropLast())g\"" }, { "\"0x\($0.dropFirst(2))\"" },
        ] as [@Sendable (String) -> String])
    func aDigestHasOneSpelling(_ spell: @Sendable (String) -> String) throws {
        let manifest = SHA256.hash(PackageBuilder().sums).hex
        let (spelled, key) = (spell(manifest), TestKey.root.publicKey.hash.hex)
        try mustBeMalformed(.header) { $0.replace("\"\(manifest)\"", with: spelled) }
        try mustBeMalformed(.list) { $0.replace("\"packages\":[]", with: "\"packages\":[\(spelled)]") }
        let issuer = spell(key)
        try mustBeMalformed(.list) { $0.replace("\"issuer\":\"\(key)\"", with: "\"issuer\":\(issuer)") }
    }

    @Test(
        .attack("A16", "A17", "A18"), .rules("SUM-2", "SUM-3"),
        arguments: [
            { $0.uppercased() }, { " " + $0 }, { String($0.dropLast()) }, { $0 + "0" }, { _ in "" }, { "sha256:" + $0 },
            { $0.dropLast() + "g" }, { _ in String(repeating: "0", count: 64) }, { "\\" + $0 },
        ] as [@Sendable (String) -> String])
    func aListedDigestThatIsBrokenIsNotNoDigest(_ spell: @escaping @Sendable (String) -> String) throws {
        let digest = SHA256.hash(Array("<svg/>\n".utf8)).hex
        var package = PackageBuilder()
        package.editSums = { $0.replace(digest, with: spell(digest)) }
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(.attack("A16", "A18"), .rules("PKG-11", "PKG-13"), arguments: ["", "AA==", "wide", "short"])
    func everyChunkHasADigest(_ kind: String) throws {
        let chunks = try PackageBuilder.chain(of: PackageBuilder().build()).header.payload.chunks
        let right = Base64.encode(chunks.flatMap(\.bytes))
        let wrong =
            switch kind {
            case "wide": Base64.encode(chunks.flatMap(\.bytes) + chunks[0].bytes)
            case "short": Base64.encode(Array(chunks.flatMap(\.bytes).dropLast()))
            default: kind
            }
        try mustBeMalformed(.header) { $0.replace("\"\(right)\"", with: "\"\(wrong)\"") }
    }

    @Test(.attack("E5"), .rules("LIM-13"), arguments: [17, 513, 20_000], Document.allCases)
    func nestingIsCountedAndNotFollowed(_ depth: Int, _ document: Document) throws {
        let depth = document == .certificate ? min(depth, 5000) : depth
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let objects = String(repeating: "{\"a\":", count: depth) + "0" + String(repeating: "}", count: depth)
        for text in [deep, objects, String(repeating: "[", count: depth)] {
            try mustBeMalformed(document) { $0 = Array("{\"unknown\":\(text),".utf8) + $0.dropFirst() }
            guard document == .header else { continue }
            try mustBeMalformed(.header) { $0 = Array("{\"capabilities\":{\"a\":\(text)},".utf8) + $0.dropFirst() }
            var package = PackageBuilder()
            package.files["app.json"] = Array(
                "{\"x\":\(text),\"build\":42,\"id\":\"com.example.orders\",\"name\":\"Orders\",\"version\":\"1.4.0\"}"
                    .utf8)
            try host.mustRefuse(package, .manifestMismatch)
        }
        try host.mustRefuse(listBytes: Array(deep.utf8), .malformed)
        var package = PackageBuilder()
        package.editHeaderEnvelope = { $0 = Array(objects.utf8) }
        try host.mustRefuse(package, .malformed)
    }

    @Test(
        .attack("E9"), .rules("ENV-9", "PKG-16"),
        arguments: [("\":", "\": "), (",\"", ",\n  \""), ("{\"", "{ \""), ("\"}", "\"\t}")])
    func anotherSpellingIsAnotherDocument(_ old: String, _ new: String) throws {
        func respelled(_ kind: Envelope.Kind) -> @Sendable (inout [UInt8]) -> Void {
            { bytes in
                guard let envelope = try? Envelope(parsing: bytes, as: kind) else { fatalError("the envelope is good") }
                let text = String(decoding: envelope.payload, as: UTF8.self)
                let payload = Array(
                    text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new).utf8)
                bytes = Envelope(kind: kind, payload: payload, signatures: envelope.signatures).serialized
            }
        }
        var package = PackageBuilder()
        package.editHeaderEnvelope = respelled(.package)
        try host.mustRefuse(package, .badSignature)
        package.editHeaderEnvelope = nil
        package.editCertificateEnvelope = respelled(.certificate)
        try host.mustRefuse(package, .untrustedRoot)
        var list = ListBuilder()
        list.editEnvelope = respelled(.revocations)
        if String(decoding: list.list.serialized, as: UTF8.self).contains(old) {
            try host.mustRefuse(list: list, .untrustedRoot)
        }
    }

    @Test(.attack("E10", "E13"), .rules("JSN-4", "ENV-1", "CRT-1", "REV-1"), arguments: Document.allCases)
    func whatIsNotKnownIsRefused(_ document: Document) throws {
        for member in ["\"unknown\":0", "\"Annotations\":{}", "\"x\":{\"y\":[]}", "\"\":null", "\"comment\":\"\""] {
            try mustBeMalformed(document) { $0 = Array("{\(member),".utf8) + $0.dropFirst() }
        }
        // What a publisher wants to add has a place of its own, and no say.
        var package = PackageBuilder(build: 50)
        package.editHeaderBytes = { $0 = Array(#"{"annotations":{"note":"x"},"#.utf8) + $0.dropFirst() }
        #expect(try host.code(package) == nil)
    }

    @Test(
        .attack("E12"), .rules("ENV-3"),
        arguments: [
            { $0.replace("==\"", with: "=\"") }, { $0.replace("==\"", with: "\"") },
            { $0.replace("==\"", with: "===\"") },
            { $0.replace("==\"", with: "==\\n\"") }, { $0.replace("==\"", with: "== \"") }, { $0[0] = 0x20 },
        ] as [@Sendable (inout [UInt8]) -> Void])
    func base64HasOneSpelling(_ change: @escaping @Sendable (inout [UInt8]) -> Void) throws {
        // The signature's text ends in two equals signs; a payload of a fitting length does, too.
        var package = PackageBuilder()
        package.editHeaderEnvelope = { envelope in
            let start = envelope.indices.first { envelope[$0...].starts(with: Array("\"sig\":\"".utf8)) } ?? 0
            var tail = Array(envelope[(start + 7)...])
            change(&tail)
            envelope = envelope[..<(start + 7)] + tail
        }
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editEnvelope = package.editHeaderEnvelope
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(.attack("E12"), .rules("ENV-3")) func spareBitsAndTheOtherAlphabetAreRefused() throws {
        let key = TestKey.release.publicKey.base64
        let last = try #require(key.dropLast().last)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let place = try #require(alphabet.firstIndex(of: last))
        let spare = key.dropLast(2) + String(alphabet[place | 1]) + "="
        for text in [
            String(spare), key.dropLast() + "", " " + key, key.replacing("=", with: "%3D"), "_-" + key.dropFirst(2),
        ] {
            try mustBeMalformed(.certificate) { $0.replace("\"\(key)\"", with: "\"\(text)\"") }
        }
    }

    @Test(.attack("E14", "I8", "I9"), .rules("LIM-1", "LIM-2", "LIM-6", "LIM-14"))
    func sizesAndCountsAreBoundedBeforeAnythingIsParsed() throws {
        let many: @Sendable (inout [Envelope.Signature]) -> Void = { signatures in
            signatures = Array(repeating: signatures[0], count: 40_000)
        }
        let nine: @Sendable (inout [Envelope.Signature]) -> Void = { signatures in
            signatures = Array(repeating: signatures[0], count: 9)
        }
        var package = PackageBuilder()
        package.editHeaderSignatures = many
        try host.mustRefuse(package, .limitExceeded)
        package.editHeaderSignatures = nine
        try host.mustRefuse(package, .malformed)
        package.editHeaderSignatures = nil
        package.editCertificateSignatures = many
        try host.mustRefuse(package, .limitExceeded)
        package.editCertificateSignatures = nine
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editSignatures = many
        try host.mustRefuse(list: list, .malformed)
        let small = try AttackHost { $0.limits.revocationListBytes = 1000 }
        try small.mustRefuse(listBytes: [UInt8](repeating: 0x20, count: 1001), .limitExceeded)
        // Lengths that are only claimed cost nothing either.
        for (place, bytes) in [(12, [0xFF, 0xFF, 0xFF, 0xFF]), (16, [0xFF, 0xFF, 0xFF, 0xFF])] as [(Int, [UInt8])] {
            var file = PackageBuilder().build()
            file.replaceSubrange(place..<place + 4, with: bytes)
            try host.mustRefuse(file: file, .limitExceeded)
        }
    }

    @Test(
        .attack("I9"), .rules("TXT-1", "LIM-16", "APP-1", "APP-2"),
        arguments: ["\"Orders\"", "\"1.4.0\"", "\"com.example.orders\"", "\"none\""])
    func aTextOfAMegabyteIsNoText(_ old: String) throws {
        try mustBeMalformed(.header) { $0.replace(old, with: "\"" + String(repeating: "a", count: 1 << 20) + "\"") }
    }

    @Test(.attack("I9"), .rules("TXT-1", "APP-2"), arguments: ["\"Example Ltd\"", "\"com.example.*\""])
    func aTextOverItsLimitIsNoText(_ old: String) throws {
        for count in [256, 40_000] {
            try mustBeMalformed(.certificate) {
                $0.replace(old, with: "\"" + String(repeating: "a", count: count) + "\"")
            }
        }
    }

    @Test(.attack("E11"), .rules("ENV-9", "PKG-3"), arguments: [4096, 8192, 16384])
    func aDocumentThatFillsItsPagesIsReadByItsLength(_ size: Int) throws {
        // The envelope is padded to whole pages by its hint; nothing ends it but its length.
        func envelopeCount(_ file: [UInt8]) throws -> Int {
            try ContainerPrefix(parsing: Array(file.prefix(ContainerPrefix.count)), limits: Limits()).headerCount
        }
        var package = PackageBuilder()
        let missing = size - (try envelopeCount(package.build()))
        package.editHeaderSignatures = { signatures in
            let id = signatures[0].keyID + String(repeating: "0", count: missing)
            signatures[0] = Envelope.Signature(keyID: id, bytes: signatures[0].bytes)
        }
        #expect(try envelopeCount(package.build()) == size)
        #expect(try host.code(package) == nil)
        package.app.build += 1
        package.editHeaderEnvelope = { $0[$0.count - 1] = 0x20 }
        try host.mustRefuse(package, .malformed)
    }
}
