import NshTrust
import TestSupport
import Testing

/// Signed parts that are moved, exchanged, taken for another kind, or believed without their signature.
@Suite struct BindingAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    /// Puts another payload into an envelope and leaves its signatures.
    private static func forge(
        _ kind: Envelope.Kind, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> @Sendable (inout [UInt8]) -> Void {
        { bytes in
            guard let envelope = try? Envelope(parsing: bytes, as: kind) else { fatalError("the envelope is good") }
            var payload = envelope.payload
            change(&payload)
            bytes = Envelope(kind: kind, payload: payload, signatures: envelope.signatures).serialized
        }
    }

    @Test(
        .attack("B1", "B6", "E9"), .rules("ENV-9", "PKG-6", "PKG-15", "POL-7"),
        arguments: [
            ("\"build\":42", "\"build\":43"), ("\"id\":\"com.example.orders\"", "\"id\":\"com.example.others\""),
            ("\"version\":\"1.4.0\"", "\"version\":\"9.9.9\""), ("\"signedAt\":1764470000", "\"signedAt\":1764470001"),
            ("{\"app\"", "{ \"app\""),
        ])
    func whatIsDecidedOnStandsUnderTheSignature(_ old: String, _ new: String) throws {
        var package = PackageBuilder()
        package.editHeaderEnvelope = Self.forge(.package) { $0.replace(old, with: new) }
        try host.mustRefuse(package, .badSignature)
    }

    @Test(
        .attack("B1", "B6", "B19", "E9"), .rules("ENV-9", "CRT-1"),
        arguments: [
            ("\"notAfter\":1795996800", "\"notAfter\":1995996800"), ("\"com.example.*\"", "\"*\""),
            ("\"publisher\":\"Example Ltd\"", "\"publisher\":\"Example Inc\""), ("{\"apps\"", "{\n\"apps\""),
        ])
    func aCertificateThatWasWidenedIsUnsigned(_ old: String, _ new: String) throws {
        var package = PackageBuilder()
        package.editCertificateEnvelope = Self.forge(.certificate) { $0.replace(old, with: new) }
        try host.mustRefuse(package, .untrustedRoot)
    }

    @Test(
        .attack("B1", "E9"), .rules("ENV-9", "REV-5"),
        arguments: [("\"sequence\":1", "\"sequence\":9"), ("\"keys\":[]", "\"keys\": []")])
    func aListThatWasChangedIsUnsigned(_ old: String, _ new: String) throws {
        var list = ListBuilder()
        list.editEnvelope = Self.forge(.revocations) { $0.replace(old, with: new) }
        try host.mustRefuse(list: list, .untrustedRoot)
    }

    @Test(
        .attack("B1", "B6"), .rules("ENV-1"),
        arguments: ["\"build\":43", "\"signedAt\":1764470000", "\"summary\":{\"name\":\"Other\"}"])
    func nothingUnsignedStandsBesideThePayload(_ member: String) throws {
        let add: @Sendable (inout [UInt8]) -> Void = { $0 = Array("{\(member),".utf8) + $0.dropFirst() }
        var package = PackageBuilder()
        package.editHeaderEnvelope = add
        try host.mustRefuse(package, .malformed)
        package.editHeaderEnvelope = nil
        package.editCertificateEnvelope = add
        try host.mustRefuse(package, .malformed)
    }

    @Test(.attack("B3"), .rules("POL-6", "APP-3", "SUM-9")) func anotherAppOfTheSameKeyTakesNoOthersPlace() throws {
        let orders = try host.open(PackageBuilder(build: 5))
        let before = try host.contents.files
        let invoices = try host.open(PackageBuilder(build: 9, app: "com.example.invoices"))
        #expect(invoices.info.id == "com.example.invoices" && invoices.directory != orders.directory)
        #expect(try host.build() == 5)
        #expect(try host.contents.files.filter { before.contains($0) } == before)
        // The id of the header and of the file inside are one: the content of one app is not signed as another's.
        var disguised = PackageBuilder(build: 6)
        disguised.files["app.json"] = Array(
            #"{"build":6,"id":"com.example.invoices","name":"Orders","version":"1.4.0"}"#.utf8)
        try host.mustRefuse(disguised, .manifestMismatch)
        try host.mustRefuse(PackageBuilder(app: "org.elsewhere.orders"), .appNotCertified)
    }

    @Test(.attack("B4"), .rules("ENV-2", "ENV-9")) func oneKindOfDocumentNeverPassesForAnother() throws {
        let documents: [Envelope.Kind: [UInt8]] = [
            .certificate: PackageBuilder().certificate.serialized, .revocations: ListBuilder().list.serialized,
            .package: Array(#"{"app":{"build":1}}"#.utf8),
        ]
        for (kind, payload) in documents {
            let signed = Envelope.signed(kind, payload, by: [.root, .release])
            func relabelled(_ other: Envelope.Kind) -> [UInt8] {
                Envelope(kind: other, payload: payload, signatures: signed.signatures).serialized
            }
            if kind != .revocations {
                try host.mustRefuse(listBytes: signed.serialized, .malformed)
                try host.mustRefuse(listBytes: relabelled(.revocations), .untrustedRoot)
            }
            let (asIs, asCertificate, asHeader) = (signed.serialized, relabelled(.certificate), relabelled(.package))
            var package = PackageBuilder()
            if kind != .certificate {
                package.editCertificateEnvelope = { $0 = asIs }
                try host.mustRefuse(package, .malformed)
                package.editCertificateEnvelope = { $0 = asCertificate }
                try host.mustRefuse(package, .untrustedRoot)
                package.editCertificateEnvelope = nil
            }
            if kind != .package {
                package.editHeaderEnvelope = { $0 = asIs }
                try host.mustRefuse(package, .malformed)
                package.editHeaderEnvelope = { $0 = asHeader }
                try host.mustRefuse(package, .badSignature)
            }
        }
    }

    @Test(.attack("B5", "B18"), .rules("POL-4", "PAY-1")) func partsOfTwoPackagesMakeNone() throws {
        let other = TestKey(seed: 9)
        var foreign = PackageBuilder(build: 5)
        foreign.certificate.key = other.publicKey
        foreign.signedBy = [other]
        #expect(try host.code(foreign) == nil)
        // The certificate of one publisher, the header and payload of another.
        foreign.certificate.key = TestKey.release.publicKey
        try host.mustRefuse(foreign, .badSignature)
        // The certificate and header of one package, the payload of another of the same size.
        var mixed = PackageBuilder(build: 6)
        let body = PackageBuilder(build: 7).archive
        mixed.damagePayload = { $0 = body }
        try host.mustRefuse(mixed, .payloadCorrupt)
    }

    @Test(
        .attack("B9", "B18", "A16"), .rules("SUM-9", "SUM-10"),
        arguments: [
            #"{"build":42,"id":"com.example.orders","name":"Other","version":"1.4.0"}"#,
            #"{"build":42,"id":"com.example.orders","name":"Orders","version":"1.5.0"}"#,
            #"{"build":41,"id":"com.example.orders","name":"Orders","version":"1.4.0"}"#,
            #"{"build":"42","id":"com.example.orders","name":"Orders","version":"1.4.0"}"#,
            #"{"build":42,"build":42,"id":"com.example.orders","name":"Orders","version":"1.4.0"}"#,
            #"{"id":"com.example.orders","name":"Orders","version":"1.4.0"}"#, "[]", "", "null",
        ])
    func whatIsShownIsWhatIsInstalled(_ appJSON: String) throws {
        var package = PackageBuilder()
        package.files["app.json"] = Array(appJSON.utf8)
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(
        .attack("B9", "B18"), .rules("SUM-10"),
        arguments: [#"{"network":{"hosts":["*"]}}"#, "{}", #"{"network":{"hosts":["api.example.com"]},"x":1}"#, nil])
    func capabilitiesAreDeclaredOnce(_ file: String?) throws {
        var package = PackageBuilder()
        package.capabilities = ["network": .object(["hosts": .array([.text("api.example.com")])])]
        #expect(try host.code(package) == nil)
        package.app.build = 43
        if let file {
            package.files["capabilities.json"] = Array(file.utf8)
        } else {
            package.capabilities = nil
            package.files["capabilities.json"] = Array("{}".utf8)
        }
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(.attack("B9", "M8"), .rules("TXT-2"), arguments: ["\\u0000", "\\u001b[2J", "\\r", "\\u202e", "\\ud800"])
    func aNameThatDoesNotShowAsItIsIsRefused(_ escape: String) throws {
        var package = PackageBuilder()
        package.editHeaderBytes = { $0.replace("\"Orders\"", with: "\"Orders\(escape)\"") }
        try host.mustRefuse(package, .malformed)
        package.editHeaderBytes = nil
        package.editCertificateBytes = { $0.replace("\"Example Ltd\"", with: "\"Example\(escape) Ltd\"") }
        try host.mustRefuse(package, .malformed)
    }

    @Test(.attack("B12", "I8"), .rules("ENV-10", "PAY-1")) func nothingIsLookedIntoBeforeItsSignature() throws {
        let nonsense: @Sendable (inout [UInt8]) -> Void = { $0 = Array("{{{".utf8) }
        var package = PackageBuilder()
        package.editCertificateBytes = nonsense
        package.certifiedBy = [.stranger]
        try host.mustRefuse(package, .untrustedRoot)
        package = PackageBuilder()
        package.editHeaderBytes = nonsense
        package.signedBy = [.stranger]
        try host.mustRefuse(package, .badSignature)
        package.signedBy = [.release]
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editBytes = nonsense
        list.signedBy = [.stranger]
        try host.mustRefuse(list: list, .untrustedRoot)
        // An archive that nobody signed never reaches the reader of archives.
        package = PackageBuilder()
        package.damagePayload = { $0 = [UInt8](repeating: 0xFF, count: $0.count) }
        try host.mustRefuse(package, .payloadCorrupt)
    }

    @Test(.attack("A16"), .rules("SUM-6", "SUM-7", "PKG-13")) func everyByteOfThePayloadIsCovered() throws {
        var package = PackageBuilder()
        package.editMembers = { $0.append(TarMember("assets/unlisted.js", [1])) }
        try host.mustRefuse(package, .manifestMismatch)
        package = PackageBuilder()
        package.editMembers = { $0[2].data = Array("<SVG/>\n".utf8) }
        try host.mustRefuse(package, .manifestMismatch)
        let size = PackageBuilder().archive.count
        for place in stride(from: 0, to: size, by: 509) {
            package = PackageBuilder()
            package.damagePayload = { $0[place] ^= 0x20 }
            try host.mustRefuse(package, .payloadCorrupt)
        }
    }
}
