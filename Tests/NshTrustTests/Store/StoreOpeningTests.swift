import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite struct StoreOpeningTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func open(_ access: StateDirectory.Access = .readWrite, schema: Schema = .current) throws
        -> SQLiteTrustStore
    {
        try SQLiteTrustStore.open(
            in: try StateDirectory.open(directory.path("state"), access: access), busyTimeoutSeconds: 5, schema: schema)
    }

    private func overwrite(_ name: String, with bytes: [UInt8], at offset: Int = 0) throws {
        let url = URL(fileURLWithPath: directory.path("state/\(name)"))
        var data = [UInt8](try Data(contentsOf: url))
        data.replaceSubrange(offset..<min(offset + bytes.count, data.count), with: bytes)
        try Data(data).write(to: url)
    }

    @Test(.rules("STO-6")) func makesDirectoryAndDatabaseThatNobodyElseReads() throws {
        _ = try open()
        var status = stat()
        #expect(stat(directory.path("state"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(directory.path("state/trust.sqlite"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(
            directory.names("state") == ["trust.sqlite", "trust.sqlite-journal"]
                || directory.names("state") == ["trust.sqlite"])
    }

    @Test func makesMissingDirectoriesAboveIt() throws {
        _ = try StateDirectory.open(directory.path("a/b/state/"))
        #expect(directory.exists("a/b/state"))
    }

    @Test(arguments: ["state\0x", ""]) func refusesPathThatIsNone(path: String) {
        #expect(code { _ = try StateDirectory.open(path.isEmpty ? "" : directory.path(path)) } == "noSuchFile")
        #expect(directory.names().isEmpty)
    }

    @Test(.rules("STO-1")) func remembersBuildsAfterReopening() throws {
        let package = try StoreFixture(directory).record(build: 6)
        let build = try open().read { try $0.acceptedBuild(of: package.app.id) }
        #expect(build?.build == 6 && build?.digest == package.facts.digest)
    }

    @Test(.rules("STO-5"), arguments: [0, 100, 4096, 20000])
    func refusesCutDatabase(size: Int) throws {
        try StoreFixture(directory).record(build: 6)
        #expect(truncate(directory.path("state/trust.sqlite"), size) == 0)
        let refused = code { try open().read { try _ = $0.acceptedBuilds(after: nil, limit: 9) } }
        #expect(refused == "storeCorrupt")
    }

    @Test(.rules("STO-5")) func refusesFileThatIsNoDatabase() throws {
        _ = try open()
        try overwrite("trust.sqlite", with: Array("not a database at all".utf8))
        #expect(code { _ = try open() } == "storeCorrupt")
    }

    @Test(.rules("STO-5")) func refusesDatabaseOfAnotherProgram() throws {
        _ = try open()
        try overwrite("trust.sqlite", with: [0, 0, 0, 0], at: 68)  // application_id
        #expect(code { _ = try open() } == "storeCorrupt")
    }

    @Test(.attack("K11"), .rules("STO-5")) func refusesNewerDatabaseAndLeavesItAlone() throws {
        let newer = Schema(steps: Schema.current.steps + ["CREATE TABLE later (a INTEGER) STRICT;"])
        _ = try open(schema: newer)
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.path("state/trust.sqlite")))
        #expect(code { _ = try open() } == "storeNewer")
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path("state/trust.sqlite"))) == before)
    }

    @Test(.attack("K11"), .rules("STO-5")) func noticesNewerProgramWhileOpen() throws {
        let store = try open()
        _ = try open(schema: Schema(steps: Schema.current.steps + ["CREATE TABLE later (a INTEGER) STRICT;"]))
        #expect(code { try store.read { _ = try $0.timeFloor() } } == "storeNewer")
    }

    @Test func migratesInOrderAndKeepsWhatIsThere() throws {
        let package = try StoreFixture(directory).record(build: 6)
        let steps = ["CREATE TABLE second (a INTEGER) STRICT;", "INSERT INTO second (a) SELECT build FROM apps;"]
        let store = try open(schema: Schema(steps: Schema.current.steps + steps))
        #expect(try store.inspect { try $0.integer("SELECT a FROM second") } == 6)
        #expect(try store.read { try $0.installedPackage(package.facts.digest) } == package)
    }

    @Test func failedMigrationLeavesOlderVersion() throws {
        try StoreFixture(directory).record(build: 6)
        let broken = Schema(steps: Schema.current.steps + ["CREATE TABLE second (a INTEGER) STRICT; CREATE nonsense;"])
        #expect(code { _ = try open(schema: broken) } == "storeCorrupt")
        let store = try open()
        #expect(try store.read { try $0.acceptedBuildCount() } == 1)
        #expect(try store.inspect { try $0.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'second'") } == 0)
    }

    @Test(.rules("STO-1")) func readOnlyStoreUndoesWhatACrashInterrupted() throws {
        try StoreFixture(directory).record(build: 6)
        let writer = try SQLiteConnection(path: directory.path("state/trust.sqlite"), mode: .readWrite)
        for step in ["PRAGMA cache_size = 1", "BEGIN IMMEDIATE", "CREATE TABLE extra (x)"] { try writer.run(step) }
        try writer.run("INSERT INTO extra VALUES (randomblob(400000))")
        try writer.run("UPDATE extra SET x = randomblob(400000)")
        // What lies on the disk now is what a crash would leave.
        let state = directory.path("crashed")
        #expect(mkdir(state, 0o700) == 0)
        for name in ["trust.sqlite", "trust.sqlite-journal"] {
            try Data(contentsOf: URL(fileURLWithPath: directory.path("state/\(name)")))
                .write(to: URL(fileURLWithPath: "\(state)/\(name)"))
            chmod("\(state)/\(name)", 0o600)
        }
        let store = try SQLiteTrustStore.open(in: try StateDirectory.open(state, access: .readOnly))
        #expect(try store.problems() == [])
        #expect(try store.read { try $0.acceptedBuildCount() } == 1)
        #expect(try store.inspect { try $0.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'") } == 0)
    }

    @Test(arguments: [StateDirectory.Access.readWrite, .readOnly]) func storeOfOneThreadIsOneConnection(
        access: StateDirectory.Access
    ) throws {
        let state = directory.path("state")
        _ = try SQLiteTrustStore.open(in: try StateDirectory.open(state))
        let store = try SQLiteTrustStore.open(
            in: try StateDirectory.open(state, access: access), users: .oneThread)
        if access == .readWrite { try store.commit { try $0.record(StoreFixture.event(.refused)) } }
        #expect(try store.read { try $0.newestEvent() } == (access == .readWrite ? 1 : 0))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?
                .hasSuffix(directory.path("state/trust.sqlite")) ?? false
        }
        #expect(open.count == 1)
    }

    @Test(.rules("STO-5"), arguments: [(EIO, "ioFailure"), (0, "storeCorrupt"), (ENOENT, "storeCorrupt")])
    func readThatFailedIsNotTakenForDamage(systemError: Int32, expected: String) {
        for result in [11, 26] as [Int32] {  // SQLITE_CORRUPT, SQLITE_NOTADB
            let trouble = SQLiteFailure.trouble(result, systemError: systemError, text: "t", "cannot use it")
            #expect(trouble.code.rawValue == expected)
        }
    }

    @Test(.attack("C7"), .rules("STO-4"), arguments: ["apps", "staging", "set-aside", "trust.sqlite-journal"])
    func refusesRemainsWithoutDatabase(name: String) throws {
        _ = try StateDirectory.open(directory.path("state"))
        #expect(mkdir(directory.path("state/\(name)"), 0o700) == 0)
        #expect(code { _ = try open() } == "storeCorrupt")
        #expect(!directory.exists("state/trust.sqlite"))
    }

    @Test func startsAgainWhereMakingWasInterrupted() throws {
        _ = try StateDirectory.open(directory.path("state"))
        try Data("half".utf8).write(to: URL(fileURLWithPath: directory.path("state/trust.sqlite.new")))
        _ = try open()
        #expect(!directory.exists("state/trust.sqlite.new"))
    }

    @Test(.rules("STO-6"), arguments: [0o770, 0o722, 0o777] as [mode_t])
    func refusesDirectoryThatOthersMayWrite(mode: mode_t) throws {
        _ = try open()
        chmod(directory.path("state"), mode)
        #expect(code { _ = try open() } == "storeUnsafe")
    }

    @Test(.attack("L20"), .rules("STO-6"), arguments: ["trust.sqlite", "apps", "staging"])
    func refusesPartThatOthersMayWrite(name: String) throws {
        let fixture = try StoreFixture(directory)
        _ = try fixture.install(build: 1)
        chmod(directory.path("state/\(name)"), 0o770)
        #expect(code { _ = try StoreFixture(directory).install(build: 2) } == "storeUnsafe")
    }

    @Test(.attack("H24"), .rules("STO-6")) func refusesDirectoryOfAnotherUser() throws {
        guard geteuid() == 0 else { return }
        _ = try open()
        #expect(chown(directory.path("state"), 12345, 12345) == 0)
        #expect(code { _ = try open() } == "storeUnsafe")
    }

    @Test(.attack("H24"), .rules("STO-6"), arguments: ["", "/"]) func refusesLinkToDirectory(suffix: String) throws {
        _ = try open()
        #expect(symlink(directory.path("state"), directory.path("link")) == 0)
        #expect(code { _ = try StateDirectory.open(directory.path("link") + suffix) } == "storeUnsafe")
    }

    @Test(.rules("STO-6")) func refusesLinkToDatabase() throws {
        _ = try open()
        #expect(rename(directory.path("state/trust.sqlite"), directory.path("elsewhere")) == 0)
        #expect(symlink(directory.path("elsewhere"), directory.path("state/trust.sqlite")) == 0)
        #expect(code { _ = try open() } == "storeUnsafe")
    }

    @Test(.rules("STO-6")) func refusesDatabaseWithSecondName() throws {
        _ = try open()
        #expect(link(directory.path("state/trust.sqlite"), directory.path("elsewhere")) == 0)
        #expect(code { _ = try open() } == "storeUnsafe")
    }

    @Test(.attack("K3", "K15"), .rules("STO-7")) func refusesDatabaseTurnedToWriteAheadLogUnlessItCanBeTurnedBack()
        throws
    {
        let store = try open()
        #expect(try store.inspect { try $0.row("PRAGMA journal_mode = wal") { $0.text(0) } } == "wal")
        let mode = try open().inspect { try $0.row("PRAGMA journal_mode") { $0.text(0) } }
        #expect(mode == "truncate")
    }

    @Test(.attack("K3", "K4", "K15"), .rules("STO-7", "STO-1")) func syncsARollbackJournalBeforeItSaysDone() throws {
        let store = try open()
        #expect(try store.inspect { try $0.row("PRAGMA journal_mode") { $0.text(0) } } == "truncate")
        #expect(try store.inspect { try $0.integer("PRAGMA synchronous") } == 2)
    }

    @Test func readsWithoutMakingOrChangingAnything() throws {
        #expect(code { _ = try open(.readOnly) } == "noSuchFile")
        #expect(!directory.exists("state"))
        let fixture = try StoreFixture(directory)
        try fixture.record(build: 6)
        let names = directory.names("state")
        let store = try open(.readOnly)
        #expect(try store.read { try $0.acceptedBuildCount() } == 1)
        #expect(code { try store.commit { _ in } } == "ioFailure")
        #expect(directory.names("state") == names)
    }

    @Test func readOnlyDoesNotMakeStoreInEmptyDirectory() throws {
        _ = try StateDirectory.open(directory.path("state"))
        #expect(code { _ = try open(.readOnly) } == "noSuchFile")
        #expect(directory.names("state").isEmpty)
    }

    @Test(.attack("K17", "K1")) func saysBusyWhenTheTimeIsOver() throws {
        let first = try StoreFixture(directory)
        let second = try StoreFixture(directory, busyTimeoutSeconds: 0.05)
        try first.store.commit { (_) throws in
            #expect(code { try second.store.commit { _ in } } == "storeBusy")
            #expect(try second.store.read { try $0.acceptedBuildCount() } == 0)
        }
        try second.store.commit { _ in }
    }

    @Test(.rules("STO-10")) func namesDatabaseAndJournalByIdentity() throws {
        let fixture = try StoreFixture(directory)
        try fixture.record(build: 1)
        var status = stat()
        #expect(stat(directory.path("state/trust.sqlite"), &status) == 0)
        let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        #expect(try fixture.state.databaseFiles().contains(identity))
        #expect(try fixture.state.databaseFiles().count == 2)
    }

    @Test func failedCommitBodyLeavesNothing() throws {
        struct Stop: Error {}
        let fixture = try StoreFixture(directory)
        let chain = try StoreFixture.chain(build: 3)
        #expect(throws: Stop.self) {
            try fixture.store.commit { transaction in
                try transaction.record(
                    StoreFixture.installed(chain), certificate: chain.certificate.envelope,
                    event: StoreFixture.event(.opened))
                throw Stop()
            }
        }
        try fixture.store.read { (snapshot) throws in
            #expect(try snapshot.acceptedBuildCount() == 0)
            #expect(try snapshot.certificates(afterRow: 0, ofInstalled: false, limit: 9).isEmpty)
            #expect(try snapshot.events(after: 0, limit: 9).events.isEmpty)
        }
    }
}
