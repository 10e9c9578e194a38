import WebImageCore

/// Entries that were given for storing and are not on the disk yet: by name, the newest of each.
struct DiskStaging {
    typealias Completion = @Sendable (Result<Bool, WebImageError>) -> Void

    struct Entry {
        let key: CacheKey
        let body: [UInt8]
        let metadata: DiskMetadata
        /// Its place in the order of all writes.
        let number: UInt64
        let completion: Completion
        /// Somebody is writing it.
        var isTaken = false
    }

    private(set) var entries: [EntryID: Entry] = [:]
    private(set) var bytes = 0

    subscript(id: EntryID) -> Entry? { entries[id] }

    /// - Returns: the entry that it takes the place of.
    mutating func add(_ entry: Entry, _ id: EntryID) -> Entry? {
        bytes += entry.body.count
        let old = entries.updateValue(entry, forKey: id)
        bytes -= old?.body.count ?? 0
        return old
    }

    /// Gives an entry to its writer, once; it is found here until ``remove(_:number:)``.
    mutating func take(_ id: EntryID, number: UInt64? = nil) -> Entry? {
        guard var entry = entries[id], !entry.isTaken, entry.number == number ?? entry.number else { return nil }
        entry.isTaken = true
        entries[id] = entry
        return entry
    }

    /// - Parameter number: when given, another one of that name stays.
    @discardableResult
    mutating func remove(_ id: EntryID, number: UInt64? = nil) -> Entry? {
        guard let entry = entries[id], entry.number == number ?? entry.number else { return nil }
        entries[id] = nil
        bytes -= entry.body.count
        return entry
    }

    mutating func removeAll() -> [EntryID: Entry] {
        defer { self = DiskStaging() }
        return entries
    }
}
