import CSQLite
import Glibc

/// One connection to a database, with its prepared statements.
///
/// `@unchecked Sendable`: the store that owns a connection uses it only inside a lock; SQLite's own mutexes are off.
final class SQLiteConnection: @unchecked Sendable {
    /// How a database is opened.
    enum Mode: Sendable {
        /// Read and write.
        case readWrite
        /// Read only.
        case readOnly
    }

    private let handle: OpaquePointer
    private let path: String
    private let name: String
    /// Whether the last failure since `persistently` began was an interrupted change, which a connection with write access
    /// has to undo.
    private(set) var metInterruptedChange = false
    private var statements: [String: SQLiteStatement] = [:]
    private let patience = SQLitePatience()

    /// Opens an existing file.
    ///
    /// - Parameters:
    ///   - path: Absolute, without symbolic links.
    ///   - mode: What for.
    /// - Throws: `storeCorrupt`, `ioFailure` and the other codes of `SQLiteFailure`.
    /// - Spec: STO-7
    init(path: String, mode: Mode) throws(Trouble) {
        self.path = path
        name = Printable.escaped(path)
        var opened: OpaquePointer?
        let access = mode == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let result = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nil)
        guard let opened else { throw Trouble(.ioFailure, "cannot open \(name): out of memory") }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        guard result == SQLITE_OK else { throw failure(result, "open") }
        try harden()
        sqlite3_busy_handler(
            handle,
            { context, _ in
                guard let context else { return 0 }
                return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().pause() ? 1 : 0
            }, Unmanaged.passUnretained(patience).toOpaque())
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    private func harden() throws(Trouble) {
        let flags: [(option: Int32, value: Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 1),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0),
        ]
        for flag in flags {
            let result = nsh_sqlite3_db_config_flag(handle, flag.option, flag.value)
            guard result == SQLITE_OK else { throw failure(result, "configure") }
        }
    }

    // MARK: - Transactions

    /// Starts the time for which a lock of other processes is waited for.
    func beginWaiting(seconds: Double) { patience.start(seconds: seconds) }

    /// Runs an attempt that takes a lock, again while other processes are in the way and time is left.
    ///
    /// SQLite's busy handler is not asked in every case: not when waiting could be a deadlock, and not always while
    /// another process rolls back what a crash left.
    func persistently(_ attempt: () throws(Trouble) -> Void) throws(Trouble) {
        metInterruptedChange = false
        while true {
            do {
                return try attempt()
            } catch {
                guard error.code == .storeBusy, patience.pause() else { throw error }
            }
        }
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    // MARK: - Statements

    /// Runs several statements without parameters, of which none returns rows.
    func script(_ sql: String) throws(Trouble) {
        errno = 0
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure(result, "change") }
    }

    /// Runs a statement to its end.
    func run(_ sql: String, _ values: [SQLiteValue] = []) throws(Trouble) {
        try using(sql, values) { (statement: SQLiteStatement) throws(Trouble) in while try statement.step() {} }
    }

    /// Runs a query and reads each row.
    func rows<Row>(
        _ sql: String, _ values: [SQLiteValue] = [], _ read: (SQLiteStatement) throws(Trouble) -> Row
    ) throws(Trouble) -> [Row] {
        var rows: [Row] = []
        try using(sql, values) { (statement: SQLiteStatement) throws(Trouble) in
            while try statement.step() { rows.append(try read(statement)) }
        }
        return rows
    }

    /// Runs a query and reads its first row; nil when there is none.
    func row<Row>(
        _ sql: String, _ values: [SQLiteValue] = [], _ read: (SQLiteStatement) throws(Trouble) -> Row
    ) throws(Trouble) -> Row? {
        var row: Row?
        try using(sql, values) { (statement: SQLiteStatement) throws(Trouble) in
            if try statement.step() { row = try read(statement) }
        }
        return row
    }

    /// Runs a query of one integer; 0 when there is no row.
    func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(Trouble) -> Int64 {
        try row(sql, values) { (row: SQLiteStatement) throws(Trouble) in row.integer(0) } ?? 0
    }

    /// Rows that the last statement changed.
    var changes: Int64 { sqlite3_changes64(handle) }

    /// Rows that were changed on this connection so far.
    var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    /// How many of them were rows of the decision log; whoever writes there counts them.
    var logChanges: Int64 = 0

    /// The number of the row inserted last.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Hands out the prepared statement with its parameters bound, and resets it afterwards.
    func using(
        _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws(Trouble) -> Void
    ) throws(Trouble) {
        let statement = try prepared(sql)
        defer { statement.reset() }
        try statement.bind(values)
        try body(statement)
    }

    private func prepared(_ sql: String) throws(Trouble) -> SQLiteStatement {
        // A statement in the middle of its rows belongs to a caller further up.
        if let statement = statements[sql], !statement.isBusy { return statement }
        var raw: OpaquePointer?
        errno = 0
        let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &raw, nil)
        guard result == SQLITE_OK, let raw else { throw failure(result, "use") }
        let statement = SQLiteStatement(raw) { [unowned self] result in failure(result, "use") }
        if statements[sql] == nil { statements[sql] = statement }
        return statement
    }

    // MARK: - Big values

    /// Writes pieces, front to back, over a value that was inserted as zeros of the same number.
    ///
    /// - Parameters:
    ///   - table: The value's table.
    ///   - column: Its column.
    ///   - row: The number of its row.
    ///   - pieces: Hands over one piece after another.
    /// - Throws: What SQLite says of the first piece that cannot be written.
    func write(table: String, column: String, row: Int64, pieces: (([UInt8]) -> Void) -> Void) throws(Trouble) {
        var blob: OpaquePointer?
        errno = 0
        var result = sqlite3_blob_open(handle, "main", table, column, row, 1, &blob)
        guard result == SQLITE_OK, let blob else { throw failure(result, "write") }
        var offset: Int32 = 0
        pieces { piece in
            guard result == SQLITE_OK, !piece.isEmpty else { return }
            result = piece.withUnsafeBytes {
                sqlite3_blob_write(blob, $0.baseAddress, Int32($0.count), offset)
            }
            offset += Int32(piece.count)
        }
        let closed = sqlite3_blob_close(blob)
        if result == SQLITE_OK { result = closed }
        guard result == SQLITE_OK else { throw failure(result, "write") }
    }

    // MARK: - Trouble

    /// Says what a result code means for the store.
    func failure(_ result: Int32, _ verb: String) -> Trouble {
        let inThread = errno
        metInterruptedChange = SQLiteFailure.isInterruptedChange(result)
        return SQLiteFailure.trouble(
            result, systemError: systemError(result, inThread), text: String(cString: sqlite3_errmsg(handle)),
            "cannot \(verb) trust store \(name)")
    }

    /// The errno behind a failure, 0 when there is none.
    ///
    /// SQLite often keeps it for itself: where it takes a failed read for damage, and where a sync fails. The database's
    /// file then remembers it, the journal's does not, for it is closed by now. So what the thread's errno says of a disk
    /// counts, too; each call begins with 0 there. What SQLite and the file remember is never taken back, so an old error
    /// must not explain later damage: there, only the thread's counts.
    private func systemError(_ code: Int32, _ inThread: Int32) -> Int32 {
        let ofThread = [EIO, ENXIO, ERANGE, ENOSPC, EDQUOT].contains(inThread) ? inThread : 0
        guard code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN else { return ofThread }
        let noted = sqlite3_system_errno(handle)
        // A journal that cannot be made is looked for once more, and "not found" is what is remembered.
        if code & 0xFF == SQLITE_CANTOPEN, noted == ENOENT, hasNoFileToSpare { return ENOSPC }
        if noted != 0 { return noted }
        var ofFile: Int32 = 0
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile)
        if result == SQLITE_OK, ofFile != 0 { return ofFile }
        return ofThread
    }

    /// Whether the file system has room for no further file, however many bytes are free.
    private var hasNoFileToSpare: Bool {
        var found = statvfs()
        return statvfs(path, &found) == 0 && found.f_files > 0 && found.f_favail == 0
    }

    /// Makes the trouble of a value that this program would not have written.
    func corrupt(_ what: String) -> Trouble {
        Trouble(.storeCorrupt, "trust store \(name) is damaged: \(what); restore it from a backup")
    }
}

/// How long locks of other processes are still waited for.
final class SQLitePatience {
    private var backoff = Backoff(seconds: 0)

    /// Starts the time.
    func start(seconds: Double) { backoff = Backoff(seconds: seconds) }

    /// Sleeps for a while; returns false at once when the time is over.
    func pause() -> Bool { backoff.pause() }
}
