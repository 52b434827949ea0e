import TestSupport
import Testing

@testable import NshTrust

/// What an open finds between reading the row of an installed package and having the lease on its tree.
@Suite struct LeaseOnWholeTreeTests {
    private let fixture: StoreFixture
    private let core: TrustCore

    init() throws {
        fixture = try StoreFixture()
        core = try TrustCore(directory: fixture.state.path, options: NshTrust.Options())
    }

    @Test(.rules("POL-20", "STO-13")) func leasesATreeThatIsThereAndRecorded() throws {
        let (package, _) = try fixture.install(build: 6)
        let lease = try #require(try core.leaseOnWholeTree(of: package))
        #expect(try lease.isReached(by: package.tree, in: fixture.state))
    }

    @Test(.rules("POL-20", "STO-13")) func doesNotUseATreeWhoseRowIsGone() throws {
        let (package, _) = try fixture.install(build: 6)
        // Pruned since the row was read; what is at the path is renamed and not yet recorded, and may never be.
        try fixture.store.inspect { try $0.script("DELETE FROM packages;") }
        #expect(try core.leaseOnWholeTree(of: package) == nil)
    }

    @Test(.rules("STO-13")) func knowsWhenItsPathLeadsElsewhere() throws {
        let (package, lease) = try fixture.install(build: 6)
        #expect(try lease.isReached(by: package.tree, in: fixture.state))
        try fixture.store.inspect { try $0.script("DELETE FROM packages;") }
        // Without a row the tree in use is set aside for the one that is installed.
        _ = try fixture.install(build: 6)
        #expect(try !lease.isReached(by: package.tree, in: fixture.state))
    }
}
