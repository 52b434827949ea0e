import CSQLite
import FoundationEssentials
import NshTrust

/// Everything that a state directory holds, for a test that nothing of it has changed.
///
/// Every row of every table but the decision log, and every file with the digest of its content. The log has a count of
/// its own, since a refused `open` adds to it (POL-21). That there is a directory for staging is no matter; what is in it
/// is.
package struct StoreContents: Equatable, Sendable {
    /// The rows, each as its table and its values.
    package let rows: [String]
    /// The files and directories, each with what it holds.
    package let files: [String]
    /// The decisions in the log, merged ones counted each.
    package let events: Int

    /// Whether an open failed for a reason of the test's own.
    package struct Unreadable: Error {
        /// What SQLite says.
        package let message: String
    }

    /// Reads a state directory.
    ///
    /// - Parameter path: The directory; nothing is found in one that is not there.
    /// - Throws: `Unreadable` when the database cannot be read.
    package init(of path: String) throws {
        let isThere = FileManager.default.fileExists(atPath: path)
        let names = isThere ? try FileManager.default.subpathsOfDirectory(atPath: path).sorted() : []
        files = names.filter { !$0.hasPrefix("trust.sqlite") && $0 != "staging" }.map { name in
            guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { return name }
            return "\(name) \(SHA256.hash(Array(data)).hex)"
        }
        guard names.contains("trust.sqlite") else {
            (rows, events) = ([], 0)
            return
        }
        let database = try Database(path: "\(path)/trust.sqlite")
        let tables = try database.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map { $0[0] }.sorted()
        rows = try tables.filter { $0 != "events" && !$0.hasPrefix("sqlite_") }.flatMap { table in
            try database.rows("SELECT * FROM \(table)").map { "\(table): \($0.joined(separator: " | "))" }.sorted()
        }
        events =
            try tables.contains("events")
            ? database.rows("SELECT count FROM events").compactMap { Int($0[0]) }.reduce(0, +) : 0
    }

    private final class Database {
        private let handle: OpaquePointer?

        init(path: String) throws {
            var handle: OpaquePointer?
            let result = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nil)
            self.handle = handle
            guard result == SQLITE_OK else { throw Unreadable(message: String(cString: sqlite3_errmsg(handle))) }
            sqlite3_busy_timeout(handle, 10_000)
        }

        deinit { sqlite3_close_v2(handle) }

        func rows(_ query: String) throws -> [[String]] {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK else {
                throw Unreadable(message: String(cString: sqlite3_errmsg(handle)))
            }
            var rows: [[String]] = []
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
                case SQLITE_DONE: return rows
                default: throw Unreadable(message: String(cString: sqlite3_errmsg(handle)))
                }
            }
        }

        private func value(_ statement: OpaquePointer?, _ column: Int32) -> String {
            guard sqlite3_column_type(statement, column) == SQLITE_BLOB else {
                return sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "null"
            }
            let count = Int(sqlite3_column_bytes(statement, column))
            let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
            return "\(count) bytes \(SHA256.hash(bytes).hex)"
        }
    }
}
