import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// A migration that can be watched from outside: `Tests/crash/migration.py` runs this one test in a process of its own,
/// names a state directory in `NSH_CRASH_STATE`, and kills the process or lets its calls fail.
@Suite struct MigrationProcessTests {
    private static let steps = [
        "CREATE TABLE migrated (app TEXT PRIMARY KEY, build INTEGER NOT NULL) STRICT;",
        "INSERT INTO migrated SELECT app, build FROM apps; CREATE INDEX events_by_time ON events (time);",
    ]

    @Test func migratesAStoreThatAProcessNames() throws {
        let directory = try TemporaryDirectory()
        let path = getenv("NSH_CRASH_STATE").map { String(cString: $0) } ?? directory.path("state")
        let schema = Schema(steps: Schema.current.steps + Self.steps)
        let state = try StateDirectory.open(path)
        let store = try SQLiteTrustStore.open(in: state, busyTimeoutSeconds: 5, schema: schema)
        #expect(try store.inspect { try $0.integer("PRAGMA user_version") } == schema.version)
        let missed = "SELECT count(*) FROM apps WHERE app NOT IN (SELECT app FROM migrated)"
        #expect(try store.inspect { try $0.integer(missed) } == 0)
    }
}
