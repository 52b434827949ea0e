#include <sqlite3.h>

/* sqlite3_db_config takes variable arguments, which Swift cannot call. */
static inline int nsh_sqlite3_db_config_flag(sqlite3 *db, int option, int value) {
    int now = 0;
    return sqlite3_db_config(db, option, value, &now);
}

/* SQLITE_TRANSIENT is a cast that Swift does not import: SQLite copies the bytes before the call returns. */
static inline int nsh_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int nsh_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
