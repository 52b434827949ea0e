import NshTrust
import TestSupport
import Testing

/// Bytes in front of the package, between its parts and behind its end, and lengths that lie.
@Suite struct FramingAttacks {
    private let host: AttackHost
    private let good = PackageBuilder().build()

    init() throws { host = try AttackHost() }

    @Test(
        .attack("G1"), .rules("PKG-1"),
        arguments: [
            [0], [0x50, 0x4B, 3, 4], [0xEF, 0xBB, 0xBF], [0x1F, 0x8B], Array("#!/bin/sh\n".utf8),
            [UInt8](repeating: 0, count: 4096),
        ] as [[UInt8]])
    func nothingStandsInFront(_ junk: [UInt8]) throws {
        try host.mustRefuse(file: junk + good, .unsupportedFormat)
        try host.mustRefuse(file: Array(good.prefix(8)) + junk + good, .unsupportedFormat)
    }

    @Test(.attack("G2"), .rules("PKG-4", "PKG-5")) func everyByteIsAccountedFor() throws {
        let prefix = try ContainerPrefix(parsing: Array(good.prefix(ContainerPrefix.count)), limits: Limits())
        let ends = [
            ContainerPrefix.count, ContainerPrefix.count + prefix.certificateCount, Int(prefix.payloadOffset),
        ]
        // A byte more between the parts: the next part begins a byte late.
        let codes: [NshError.Code] = [.malformed, .malformed, .payloadCorrupt]
        for (end, code) in zip(ends, codes) {
            var file = good
            file.insert(0, at: end)
            try host.mustRefuse(file: file, code)
        }
        try host.mustRefuse(file: good + [0], .trailingData)
        try host.mustRefuse(file: good + good, .trailingData)
        try host.mustRefuse(file: Array(good.dropLast()), .truncated)
        for end in ends { try host.mustRefuse(file: Array(good.prefix(end - 1)), .truncated) }
        for count in 0..<8 { try host.mustRefuse(file: Array(good.prefix(count)), .truncated) }
    }

    @Test(.attack("G2"), .rules("PKG-2", "PKG-3", "PKG-4"), arguments: [12, 16])
    func aLengthThatIsOneOffIsFound(_ place: Int) throws {
        for difference in [-1, 1] {
            var file = good
            let count = Int(file[place]) + Int(file[place + 1]) << 8 + difference
            (file[place], file[place + 1]) = (UInt8(count & 0xFF), UInt8(count >> 8))
            try host.mustRefuse(file: file, .malformed)
        }
        var file = good
        file.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0])
        try host.mustRefuse(file: file, .malformed)
    }

    @Test(.attack("A19"), .rules("PKG-3", "ENV-4")) func aPackageWithoutItsSignedPartsIsNone() throws {
        var package = PackageBuilder()
        package.editCertificateEnvelope = { $0 = [] }
        try host.mustRefuse(package, .malformed)
        package.editCertificateEnvelope = nil
        package.editHeaderEnvelope = { $0 = [] }
        try host.mustRefuse(package, .malformed)
        package.editHeaderEnvelope = nil
        package.signedBy = []
        try host.mustRefuse(package, .malformed)
        package.signedBy = [.release]
        package.certifiedBy = []
        try host.mustRefuse(package, .malformed)
        try host.mustRefuse(file: package.archive, .unsupportedFormat)
    }

    @Test(.attack("G2"), .rules("PKG-13"), arguments: [-1, 1])
    func aPayloadOfAnotherSizeThanSignedIsFound(_ difference: Int64) throws {
        var package = PackageBuilder()
        package.editHeader = { $0.payload.size += difference }
        try host.mustRefuse(package, difference < 0 ? .payloadCorrupt : .truncated)
        package = PackageBuilder()
        package.editHeader = { $0.payload.unpackedSize += difference }
        try host.mustRefuse(package, .manifestMismatch)
        package = PackageBuilder()
        package.editHeader = { $0.payload.files += difference }
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(.attack("G15"), .rules("PAY-3", "PAY-5")) func oneFrameAndNothingElseIsThePayload() throws {
        let archive = PackageBuilder().archive
        let frame = ZstdFrame.compressed(archive)
        let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 0]
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let half = archive.count / 1024 * 512
        let halves =
            ZstdFrame.compressed(Array(archive.prefix(half))) + ZstdFrame.compressed(Array(archive.dropFirst(half)))
        for payload in [
            frame + frame, frame + skippable, skippable + frame, frame + gzip, gzip, gzip + gzip, frame + [0], halves,
            archive, Array(frame.dropLast()),
        ] {
            var package = PackageBuilder()
            package.packing = .custom { _ in payload }
            try host.mustRefuse(package, .payloadCorrupt)
        }
        var stored = PackageBuilder()
        stored.editPayload = { $0 = frame }
        try host.mustRefuse(stored, .payloadCorrupt)
    }
}
