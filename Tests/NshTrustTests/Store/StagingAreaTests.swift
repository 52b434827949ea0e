import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite(.rules("STO-14")) struct StagingAreaTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func entries() -> [String] { fixture.directory.names("state/staging") }

    private func abandon(_ name: String) throws {
        _ = try fixture.state.directory("staging").makeDirectory(name, permissions: 0o755)
        try Data("x".utf8).write(to: URL(fileURLWithPath: fixture.directory.path("state/staging/\(name)/file")))
    }

    @Test func droppedTreeIsRemoved() throws {
        do {
            let tree = try fixture.staging.makeTree()
            #expect(entries() == [tree.name])
        }
        #expect(entries().isEmpty)
    }

    @Test func cleanUpRemovesWhatIsAbandonedAndLeavesWhatIsInUse() throws {
        let mine = try fixture.staging.makeTree()
        try abandon("abandoned")
        try abandon("other")
        let holder = try LockHolder(fixture.directory.path("state/staging/other"), exclusively: true)
        #expect(try fixture.staging.cleanUp(in: fixture.store) == 1)
        #expect(entries() == ["other", mine.name].sorted())
        holder.stop()
        #expect(try fixture.staging.cleanUp(in: fixture.store) == 1)
        #expect(try fixture.staging.cleanUp(in: fixture.store) == 0)
        #expect(entries() == [mine.name])
    }

    @Test func cleanUpOfAFreshStoreDoesNothing() throws {
        #expect(try fixture.staging.cleanUp(in: fixture.store) == 0)
        #expect(!fixture.directory.exists("state/staging"))
    }

    @Test(.attack("H22")) func cleanUpRemovesLinksAndNotWhatTheyLeadTo() throws {
        let outside = fixture.directory.path("outside")
        #expect(mkdir(outside, 0o700) == 0)
        try Data("x".utf8).write(to: URL(fileURLWithPath: outside + "/file"))
        try abandon("abandoned")
        let inside = fixture.directory.path("state/staging/abandoned")
        #expect(symlink(outside, inside + "/link") == 0 && symlink(outside, inside + "-link") == 0)
        _ = try fixture.staging.cleanUp(in: fixture.store)
        #expect(entries().isEmpty)
        #expect(fixture.directory.names("outside") == ["file"])
    }

    @Test(.attack("L20")) func refusesStagingThatIsALink() throws {
        #expect(symlink(fixture.directory.path, fixture.directory.path("state/staging")) == 0)
        #expect(code { _ = try fixture.staging.makeTree() } == "storeUnsafe")
    }
}
