import WebImageCore

/// The index as it is kept in SQLite: for each of the 256 directories one row with all of its entries.
///
/// It is a cache of the directory and never believed against it: a row counts only while its checksum holds and the
/// directory is still the one, with the time of last change, that the row was made of. A damaged, foreign or missing
/// file costs a scan, and nothing else. That is why no journal is kept and nothing is synced.
struct IndexStore {
    /// What one directory held.
    struct Shard {
        var modified: Int64
        var inode: UInt64
        var records: [DiskIndex.Record]

        func describes(_ directory: FileStatus) -> Bool {
            modified == directory.modifiedNanoseconds && inode == directory.inode
        }

        /// Other processes, and the files themselves, may know of later uses.
        mutating func takeLaterDates(of others: [DiskIndex.Record]) {
            let dates = Dictionary(others.map { ($0.id, $0.date) }, uniquingKeysWith: max)
            for place in records.indices {
                let record = records[place]
                records[place].date = max(record.date, record.recordedDate, dates[record.id] ?? .min)
            }
        }
    }

    /// Hits and misses of all processes so far.
    struct Counts: Hashable {
        var hits: Int64 = 0
        var misses: Int64 = 0
    }

    private static let version: Int64 = 1
    private static let recordLength = 72

    let path: String
    let files: any FileSystem

    /// What is written down and sound. Empty where there is nothing.
    func load() throws(SQLiteFault) -> (shards: [Int: Shard], counts: Counts) {
        guard (try? files.status(at: path))?.isRegularFile ?? false else { return ([:], Counts()) }
        let database = try SQLiteDatabase(path: path)
        guard try database.number("PRAGMA user_version") == Self.version else { return ([:], Counts()) }
        var shards: [Int: Shard] = [:]
        let statement = try database.prepare(Self.rows)
        while try statement.step() {
            if let (number, shard) = Self.row(statement) { shards[number] = shard }
        }
        return (shards, try counts(database))
    }

    private static let rows = "SELECT shard, modified, inode, checksum, records FROM shards"

    /// Nil for a row that is damaged.
    private static func row(_ statement: borrowing SQLiteDatabase.Statement) -> (number: Int, shard: Shard)? {
        let numbers = [statement.number(0), statement.number(1), statement.number(2)]
        let bytes = statement.blob(4)
        guard (0..<256).contains(numbers[0]), statement.number(3) == checksum(numbers, bytes),
            let records = decode(bytes, shard: Int(numbers[0]))
        else { return nil }
        let shard = Shard(modified: numbers[1], inode: UInt64(bitPattern: numbers[2]), records: records)
        return (Int(numbers[0]), shard)
    }

    private func counts(_ database: borrowing SQLiteDatabase) throws(SQLiteFault) -> Counts {
        Counts(
            hits: max(try database.number("SELECT value FROM counts WHERE name = 'hits'"), 0),
            misses: max(try database.number("SELECT value FROM counts WHERE name = 'misses'"), 0))
    }

    /// Writes shards down, in place of what was there of them but for later dates of use, and adds to the counts.
    /// - Returns: the sum of the counts.
    func save(_ shards: [Int: Shard], adding counts: Counts) throws(SQLiteFault) -> Counts {
        makeFile()
        do {
            return try write(shards, adding: counts)
        } catch {
            if error.isBusy { throw error }
        }
        // Not a database, or a broken one: a new one takes its place.
        try? files.remove(path)
        makeFile()
        return try write(shards, adding: counts)
    }

    /// Where there is none: SQLite would make it readable for everybody. Follows no link.
    private func makeFile() {
        if let file = try? files.open(path, .createNew) { files.close(file) }
    }

    private func write(_ shards: [Int: Shard], adding counts: Counts) throws(SQLiteFault) -> Counts {
        let database = try SQLiteDatabase(path: path)
        try database.run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF")
        try database.run("BEGIN IMMEDIATE")
        if try database.number("PRAGMA user_version") != Self.version {
            try database.run(
                """
                DROP TABLE IF EXISTS shards; DROP TABLE IF EXISTS counts;
                CREATE TABLE shards(
                    shard INTEGER PRIMARY KEY, modified INTEGER, inode INTEGER, checksum INTEGER, records BLOB);
                CREATE TABLE counts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
                INSERT INTO counts VALUES ('hits', 0), ('misses', 0);
                PRAGMA user_version = \(Self.version)
                """)
        }
        let earlier = try database.prepare(Self.rows + " WHERE shard = ?")
        let statement = try database.prepare("INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?)")
        for (number, var shard) in shards {
            earlier.bind(Int64(number), at: 1)
            let known = try earlier.step() ? Self.row(earlier)?.shard.records : nil
            earlier.reset()
            shard.takeLaterDates(of: known ?? [])
            try insert(shard, number, statement)
        }
        try database.run("UPDATE counts SET value = value + \(counts.hits) WHERE name = 'hits'")
        try database.run("UPDATE counts SET value = value + \(counts.misses) WHERE name = 'misses'")
        try database.run("COMMIT")
        return try self.counts(database)
    }

    private func insert(
        _ shard: Shard, _ number: Int, _ statement: borrowing SQLiteDatabase.Statement
    ) throws(SQLiteFault) {
        let numbers = [Int64(number), shard.modified, Int64(bitPattern: shard.inode)]
        let blob = Self.encode(shard.records)
        let address = UnsafeMutableRawBufferPointer.allocate(byteCount: blob.count, alignment: 8)
        defer { address.deallocate() }
        address.copyBytes(from: blob)
        let bytes = UnsafeRawBufferPointer(address)
        for (place, number) in numbers.enumerated() { statement.bind(number, at: Int32(place + 1)) }
        statement.bind(Self.checksum(numbers, bytes), at: 4)
        statement.bind(bytes, at: 5)
        _ = try statement.step()
        statement.reset()
    }

    // MARK: - Rows

    private static func checksum(_ numbers: [Int64], _ bytes: UnsafeRawBufferPointer) -> Int64 {
        var checksum = RunningChecksum()
        numbers.withUnsafeBytes { checksum.add($0) }
        checksum.add(bytes)
        return Int64(bitPattern: checksum.value)
    }

    private static func encode(_ records: [DiskIndex.Record]) -> [UInt8] {
        var out = ByteWriter(capacity: records.count * recordLength)
        for record in records {
            let words = record.id.words
            for word in [words.0, words.1, words.2, words.3] { out.integer(word) }
            for number in [record.bytes, record.length, record.date, record.recordedDate, record.expires] {
                out.integer(number)
            }
        }
        return out.bytes
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, shard: Int) -> [DiskIndex.Record]? {
        guard bytes.count % recordLength == 0 else { return nil }
        var records: [DiskIndex.Record] = []
        records.reserveCapacity(bytes.count / recordLength)
        for start in stride(from: 0, to: bytes.count, by: recordLength) {
            func word(_ number: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 8 * number, as: UInt64.self))
            }
            func number(_ place: Int) -> Int64 { Int64(bitPattern: word(place)) }
            let record = DiskIndex.Record(
                id: EntryID(words: (word(0), word(1), word(2), word(3))), bytes: number(4), length: number(5),
                date: number(6), recordedDate: number(7), expires: number(8))
            guard record.id.shard == shard, record.bytes >= 0, record.length >= 0 else { return nil }
            records.append(record)
        }
        return records
    }
}
