internal import CSysSQLite
import Glibc

/// A call to SQLite that failed, by its result code.
struct SQLiteFault: Error {
    let code: Int32
    let message: String

    /// Somebody else is at it.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
}

/// A connection to a database, used by one thread at a time.
struct SQLiteDatabase: ~Copyable {
    private let handle: OpaquePointer

    /// Opens what is there; makes no file. The file's folder may lie behind symbolic links, the file may not be one.
    init(path: String) throws(SQLiteFault) {
        var handle: OpaquePointer?
        // This refuses links anywhere on the way.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(Self.followingFolders(path), &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw SQLiteFault(code: code, message: "it does not open")
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 20)
    }

    deinit { sqlite3_close_v2(handle) }

    private static func followingFolders(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), let folder = realpath(String(path[..<slash]), nil) else {
            return path
        }
        defer { free(folder) }
        return String(cString: folder) + path[slash...]
    }

    func run(_ sql: String) throws(SQLiteFault) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault(code) }
    }

    func prepare(_ sql: String) throws(SQLiteFault) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw fault(code) }
        return Statement(handle: statement)
    }

    /// The first column of the first row.
    func number(_ sql: String) throws(SQLiteFault) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : 0
    }

    private func fault(_ code: Int32) -> SQLiteFault {
        SQLiteFault(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }

    /// Belongs to its database, which must outlive it.
    struct Statement: ~Copyable {
        fileprivate let handle: OpaquePointer

        deinit { sqlite3_finalize(handle) }

        /// Returns whether there is a row.
        func step() throws(SQLiteFault) -> Bool {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            case let code: throw SQLiteFault(code: code, message: String(cString: sqlite3_errstr(code)))
            }
        }

        func reset() { sqlite3_reset(handle) }
        func bind(_ number: Int64, at place: Int32) { sqlite3_bind_int64(handle, place, number) }
        func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

        /// - Parameter bytes: not copied: they must stay until the next ``reset()`` or the end.
        func bind(_ bytes: UnsafeRawBufferPointer, at place: Int32) {
            // An empty blob without an address would be a null.
            guard let address = bytes.baseAddress, !bytes.isEmpty else {
                sqlite3_bind_zeroblob(handle, place, 0)
                return
            }
            sqlite3_bind_blob64(handle, place, address, UInt64(bytes.count), nil)
        }

        /// Valid until the next step.
        func blob(_ column: Int32) -> UnsafeRawBufferPointer {
            let address = sqlite3_column_blob(handle, column)
            return UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(handle, column)))
        }
    }
}
