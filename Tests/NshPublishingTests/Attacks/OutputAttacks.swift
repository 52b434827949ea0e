import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// Several who write one file, and packages whose time has passed.
@Suite struct OutputAttacks {
    @Test(.attack("K12"), .rules("PKG-16")) func ofManyWhoReplaceOneFileEachLeavesAWholeOne() async throws {
        let bench = PublishingBench()
        bench.scratch.write("app/assets/noise.bin", Noise.bytes(400_000))
        let (source, output) = (bench.scratch.file("app"), bench.scratch.file("out.nshpkg"))
        let options = bench.options
        let certificate = try PublishingBench.certificate()
        let pool = WorkerPool(maximumThreads: 8)
        let digests = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<24 {
                group.addTask {
                    try await pool.runBlocking { _ in
                        let publisher = PackagePublisher(certificate: certificate, options: options)
                        return try publisher.publish(
                            source, to: output, signedBy: TestKeys.key(2), at: PublishingBench.time + Int64(number)
                        ).digest
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(digests.count == 24, "each call succeeded with a package of its own")
        let bytes = bench.scratch.read("out.nshpkg")
        let root = try #require(PublicKey(base64: Array(TestKeys.key(1).publicKeyText.utf8)))
        let last = try PackageBuilder.chain(of: bytes, roots: [root])
        #expect(digests.contains(last.digest.hex), "the file is whole, and one of them")
        #expect(bench.scratch.names == ["app", "out.nshpkg"], "nothing is left beside it")
    }

    @Test(.attack("M11", "C14"), .rules("CRT-8", "POL-7", "POL-8")) func whatExpiredComesBackByARenewalAlone() throws {
        let bench = PublishingBench()
        let root = try TestKeys.key(1)
        let short = try PublishingBench.certificate(notAfter: PublishingBench.time + 10)
        try bench.publish(certificate: short)
        // After the end nothing is signed under the old certificate, whatever time is claimed for it.
        expectRefusal(.signedOutsideWindow) {
            try bench.publish(to: "late.nshpkg", certificate: short, time: PublishingBench.time + 11)
        }
        #expect(!bench.scratch.exists("late.nshpkg"))
        let renewal = try CertificateRequest(
            renewing: short, until: 1_827_532_800, trusting: [root.publicKeyText]
        ).signed(by: root)
        #expect(try renewal.certificate().notBefore == short.certificate().notBefore)
        _ = try PackageFile(reading: bench.scratch.file("out.nshpkg"))
            .recertify(with: renewal, to: bench.scratch.file("renewed.nshpkg"))
        let later = PublishingBench.time + 1000
        let roots = [try #require(PublicKey(base64: Array(root.publicKeyText.utf8)))]
        expectRefusal(.certificateExpired) {
            _ = try PackageBuilder.chain(of: bench.scratch.read("out.nshpkg"), now: later, roots: roots)
        }
        _ = try PackageBuilder.chain(of: bench.scratch.read("renewed.nshpkg"), now: later, roots: roots)
        expectRefusal(.untrustedRoot) {
            _ = try CertificateRequest(
                renewing: short, until: 1_827_532_800, trusting: [TestKeys.key(3).publicKeyText])
        }
    }
}
