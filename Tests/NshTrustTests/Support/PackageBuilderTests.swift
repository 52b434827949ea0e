import NshTrust
import TestSupport
import Testing

@Suite struct PackageBuilderTests {
    @Test func makesAPackageWhoseSignaturesHold() throws {
        let chain = try PackageBuilder.chain(of: PackageBuilder().build())
        #expect(chain.header.app.build == 42)
        #expect(chain.header.payload.files == 3)
    }

    @Test func breaksInOnePlaceOnly() {
        var package = PackageBuilder()
        package.signedBy = [.stranger]
        #expect(throws: Refusal.self) { try PackageBuilder.chain(of: package.build()) }
    }
}
