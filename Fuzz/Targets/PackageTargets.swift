import NshTrust
import TestSupport

extension FuzzTarget {
    /// A package's bytes as they are.
    static let package = FuzzTarget(
        "package", maximumLength: 64 << 10, dictionary: "json",
        seeds: { vectors in
            try vectors.packages().filter { $0.bytes.count <= 64 << 10 }
                + [Seed("built", PackageBuilder().build(), outcome: "accepted")]
        },
        judge: { input in
            let prefix = try judged { try ContainerPrefix(parsing: Array(input.prefix(20)), limits: Limits()) }
            if let prefix = prefix.value {
                try require(
                    prefix.serialized.elementsEqual(input.prefix(20)), "a prefix is written otherwise than read")
            }
            let verdict = try Bench.judge(input)
            try require(
                prefix.value != nil || prefix.word == verdict, "rule 1 said \(prefix.word), all said \(verdict)")
            return verdict
        })

    /// The payload of a certificate, signed by a root, in a package that is right otherwise.
    static let certificate = FuzzTarget(
        "certificate", maximumLength: 8 << 10, dictionary: "json",
        seeds: { vectors in
            try vectors.payloads(of: .certificate)
                + [Seed("built", PackageBuilder().certificate.serialized, outcome: "accepted")]
        },
        judge: { input in
            let parsed = try judged { try Certificate(parsing: input) }
            let envelope = Envelope.signed(.certificate, input, by: [.root]).serialized
            let verdict = try Bench.verify(Self.replacingCertificate(of: Self.good, by: envelope)).word
            guard let certificate = parsed.value else {
                try require(verdict == parsed.word, "read alone it is \(parsed.word), in a package \(verdict)")
                return verdict
            }
            let again = try Certificate(parsing: certificate.serialized)
            try require(again == certificate, "a certificate is written otherwise than read")
            try require(again.serialized == certificate.serialized, "a certificate is written in two ways")
            try require(verdict == Self.expected(certificate), "\(verdict), \(Self.expected(certificate)) was expected")
            return verdict
        })

    /// The payload of a header, signed by a certified key, before a payload that fits the usual header.
    static let header = FuzzTarget(
        "header", maximumLength: 16 << 10, dictionary: "json",
        seeds: { vectors in
            try vectors.payloads(of: .package) + [Seed("built", Self.goodHeader, outcome: "accepted")]
        },
        judge: { input in
            let parsed = try judged { try PackageHeader(parsing: input) }
            let verdict = try Bench.verify(Bench.package(header: input, payload: Self.goodArchive))
            guard let header = parsed.value else {
                try require(
                    verdict.word == parsed.word, "read alone it is \(parsed.word), in a package \(verdict.word)")
                return verdict.word
            }
            let again = try PackageHeader(parsing: header.serialized)
            try require(again == header, "a header is written otherwise than read")
            try require(again.serialized == header.serialized, "a header is written in two ways")
            if let chain = verdict.value {
                try require(chain.digest == SHA256.hash(input), "the package digest is not that of the header's bytes")
                try require(header.payload.size == goodArchive.count, "a payload of another length was accepted")
                try require(header.capabilities == nil, "capabilities without a file of theirs were accepted")
            }
            return verdict.word
        })

    // MARK: - What they are put into

    private static let good = PackageBuilder().build()
    private static let goodArchive = PackageBuilder().archive

    /// The header's payload of the package that is right.
    static let goodHeader: [UInt8] = {
        let front = try? Envelope(parsing: parts(of: good).header, as: .package)
        return front?.payload ?? []
    }()

    private static func parts(of file: [UInt8]) -> (certificate: [UInt8], header: [UInt8], payload: [UInt8]) {
        guard let prefix = try? ContainerPrefix(parsing: Array(file.prefix(20)), limits: Limits()) else {
            fatalError("the package is right")
        }
        let middle = 20 + prefix.certificateCount
        let end = middle + prefix.headerCount
        return (Array(file[20..<middle]), Array(file[middle..<end]), Array(file[end...]))
    }

    private static func replacingCertificate(of file: [UInt8], by certificate: [UInt8]) -> [UInt8] {
        let parts = parts(of: file)
        return Bench.file(certificate: certificate, header: parts.header, payload: parts.payload)
    }

    /// What the rules 3 to 13 say of a certificate that a root signed, by the words of docs/trust-model.md.
    private static func expected(_ certificate: Certificate) -> String {
        if Bench.roots.contains(certificate.key) { return "malformed" }
        if certificate.key != TestKey.release.publicKey { return "badSignature" }
        let isCovered = certificate.apps.contains { pattern in
            let text = pattern.description
            return text == "*" || text == "com.example.orders" || text == "com.example.*" || text == "com.*"
        }
        if !isCovered { return "appNotCertified" }
        let builder = PackageBuilder()
        if certificate.notBefore > builder.signedAt || certificate.notAfter < builder.signedAt {
            return "signedOutsideWindow"
        }
        if certificate.notAfter < Bench.now { return "certificateExpired" }
        return certificate.content.contains(.source) ? "accepted" : "contentNotCertified"
    }
}
