public import WebImageCore
import WebImageSystem

// The places and sizes of entries, without reading their bodies.
extension DiskCache {
    /// The length of the entry's file, which is the memory that reading it takes; the file is not opened. 0 if there is
    /// no entry. Blocks.
    package func fileLength(of key: CacheKey) -> Int {
        let id = EntryID(key)
        if let known = books.withLock({ $0.index.record(of: id)?.length }), known > 0 { return Int(clamping: known) }
        return (try? folder.files.status(at: folder.layout.path(of: id))).map { Int(clamping: $0.size) } ?? 0
    }

    /// Whether the key has an entry, without reading its body. Blocks.
    package func contains(_ key: CacheKey) throws(WebImageError) -> Bool {
        if unwritten.newest(EntryID(key)) != nil { return true }
        return try path(for: key) != nil || pathElsewhere(key, EntryID(key)) != nil
    }

    /// The path of the key's entry in this cache, whether it exists or not.
    public func defaultPath(for key: CacheKey) -> String { folder.layout.path(of: EntryID(key)) }

    /// The path of the entry's file; nil if there is no entry. Blocks; a staged entry is written first.
    package func path(for key: CacheKey) throws(WebImageError) -> String? {
        let id = EntryID(key)
        try writeStaged(id)
        let path = folder.layout.path(of: id)
        do {
            try folder.check()
            try folder.checkShard(id.shard)
            let status = try folder.files.status(at: path)
            if isExpired(id, status) { return nil }
            return try hasOutlived(id, path, status) ? nil : path
        } catch  where error.isMissing {
            forget(id)
            return nil
        } catch {
            throw reading(error, path)
        }
    }

    /// Whether an entry's own lifetime has ended. Reads the end of its file if the index does not know it.
    private func hasOutlived(_ id: EntryID, _ path: String, _ status: FileStatus) throws(FileFault) -> Bool {
        let record = books.withLock { $0.index.record(of: id) }
        if let record, record.expires != 0, record.length == status.size, record.date >= status.modified {
            return folder.clock.wallTime >= record.expires
        }
        guard let expires = try folder.readTail(path)?.trailer.endOfLifetime else { return false }
        if record?.length == status.size { books.withLock { $0.learn(id, expires: expires) } }
        return folder.clock.wallTime >= expires
    }

    /// Uses the later of the dates of index and file, because another process may have used the entry.
    func isExpired(_ id: EntryID, _ status: FileStatus) -> Bool {
        let now = folder.clock.wallTime
        let modified = folder.withoutFutureDate(status, of: folder.layout.path(of: id)).modified
        return books.withLock { $0.isExpired(id, modified: modified, at: now) }
    }
}
