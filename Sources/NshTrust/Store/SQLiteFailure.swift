import CSQLite
import Glibc

/// What SQLite's result codes mean for a trust store.
enum SQLiteFailure {
    // Extended codes: macros of more than one token, which Swift does not import.
    private static let readOnlyRecovery = SQLITE_READONLY | 1 << 8
    private static let readOnlyRollback = SQLITE_READONLY | 3 << 8
    private static let readOnlyMoved = SQLITE_READONLY | 4 << 8
    private static let cannotOpenLink = SQLITE_CANTOPEN | 6 << 8

    /// Whether a result code says that a change was interrupted and that this connection may not undo it.
    static func isInterruptedChange(_ result: Int32) -> Bool {
        result == readOnlyRollback || result == readOnlyRecovery
    }

    /// Makes the trouble of a result code.
    ///
    /// - Parameters:
    ///   - result: The extended result code.
    ///   - systemError: The errno behind it, or 0.
    ///   - text: SQLite's own words, for what has no better ones.
    ///   - what: What was tried: `cannot open trust store /var/lib/x/trust.sqlite`.
    /// - Returns: The trouble; an unknown code is `ioFailure`.
    static func trouble(_ result: Int32, systemError: Int32, text: String, _ what: String) -> Trouble {
        switch result & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            return Trouble(.storeBusy, "\(what): another process has kept it locked for too long; try again")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            // What could not be read is not known to be damaged; nobody should restore a backup because a disk failed.
            if [EIO, ENXIO, ERANGE].contains(systemError) {
                return Trouble(.ioFailure, SystemCall.trouble(systemError, what).message)
            }
            return Trouble(.storeCorrupt, "\(what): it is damaged or not a trust store; restore it from a backup")
        case SQLITE_FULL:
            return full(what)
        case SQLITE_READONLY where isInterruptedChange(result):
            return Trouble(
                .ioFailure, "\(what): an interrupted change must be undone first; open it once with write access")
        case SQLITE_READONLY where result == readOnlyMoved:
            return Trouble(.ioFailure, "\(what): the file was moved or removed while in use; start again")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            return Trouble(.ioFailure, "\(what): it may not be written; check its owner and mode and the file system")
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            if systemError == ENOSPC || systemError == EDQUOT { return full(what) }
            if result == cannotOpenLink { return Trouble(.storeUnsafe, "\(what): it is a symbolic link") }
            return systemError == 0
                ? Trouble(.ioFailure, "\(what): \(Printable.escaped(text))")
                : Trouble(.ioFailure, SystemCall.trouble(systemError, what).message)
        case SQLITE_NOMEM:
            return Trouble(.ioFailure, "\(what): out of memory")
        case SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            // The schema is not the one that its version stands for, or rows contradict each other.
            return Trouble(
                .storeCorrupt, "\(what): \(Printable.escaped(text)); it is damaged, restore it from a backup")
        default:
            return Trouble(.ioFailure, "\(what): \(Printable.escaped(text)) (SQLite code \(result))")
        }
    }

    private static func full(_ what: String) -> Trouble {
        Trouble(.storeFull, "\(what): there is no space left; free some and try again")
    }
}
