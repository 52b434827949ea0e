import CSQLite
import Glibc

/// A value of a column or a parameter.
enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// So many zero bytes, to be written over later.
    case zeros(Int)

    /// A digest's 32 bytes, or null.
    static func digest(_ digest: Digest?) -> SQLiteValue { digest.map { .blob($0.bytes) } ?? .null }
    /// An integer, or null.
    static func optional(_ value: Int64?) -> SQLiteValue { value.map { .integer($0) } ?? .null }
    /// A text, or null.
    static func optional(_ value: String?) -> SQLiteValue { value.map { .text($0) } ?? .null }
    /// 1 or 0.
    static func boolean(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }
}

/// A prepared statement and, while it is stepped, its current row.
final class SQLiteStatement {
    private let raw: OpaquePointer
    private let failure: (Int32) -> Trouble

    init(_ raw: OpaquePointer, failure: @escaping (Int32) -> Trouble) {
        self.raw = raw
        self.failure = failure
    }

    deinit { sqlite3_finalize(raw) }

    /// Whether rows of it are being read.
    var isBusy: Bool { sqlite3_stmt_busy(raw) != 0 }

    /// Gives every parameter its value, in order.
    func bind(_ values: [SQLiteValue]) throws(Trouble) {
        precondition(values.count == Int(sqlite3_bind_parameter_count(raw)), "each parameter has a value")
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index) + 1) }
    }

    /// Gives one parameter, counted from 1, its value.
    func bind(_ value: SQLiteValue, at index: Int32) throws(Trouble) {
        let result: Int32 =
            switch value {
            case .null: sqlite3_bind_null(raw, index)
            case .integer(let number): sqlite3_bind_int64(raw, index, number)
            case .text(let text):
                text.utf8.count == 0
                    ? nsh_sqlite3_bind_text(raw, index, "", 0)
                    : nsh_sqlite3_bind_text(raw, index, text, UInt64(text.utf8.count))
            case .blob(let bytes):
                // SQLite would take an empty buffer's null pointer for NULL.
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob64(raw, index, 0)
                    : bytes.withUnsafeBytes { nsh_sqlite3_bind_blob(raw, index, $0.baseAddress, UInt64($0.count)) }
            case .zeros(let count): sqlite3_bind_zeroblob64(raw, index, UInt64(count))
            }
        guard result == SQLITE_OK else { throw failure(result) }
    }

    /// Goes to the next row; returns false at the end.
    func step() throws(Trouble) -> Bool {
        errno = 0
        switch sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw failure(result)
        }
    }

    /// Makes the statement ready to run again, without values.
    func reset() {
        // The result repeats what the last step said.
        sqlite3_reset(raw)
        sqlite3_clear_bindings(raw)
    }

    /// Makes the statement ready to run again with its values.
    func rewind() { sqlite3_reset(raw) }

    // MARK: - The current row

    /// Whether a column, counted from 0, is null.
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }

    /// An integer.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

    /// An integer, or nil for null.
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// The bytes of a blob or text; none for null.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(raw, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }

    /// The first eight bytes of a blob as a number, the first of them highest; nil when there are fewer.
    func prefix(_ column: Int32) -> UInt64? {
        guard let start = sqlite3_column_blob(raw, column), sqlite3_column_bytes(raw, column) >= 8 else { return nil }
        return UInt64(bigEndian: UnsafeRawBufferPointer(start: start, count: 8).loadUnaligned(as: UInt64.self))
    }

    /// A text; bytes that are not UTF-8 become replacement characters, which no value of ours has.
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// A text, or nil for null.
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
