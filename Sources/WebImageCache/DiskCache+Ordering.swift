package import WebImageCore
import WebImageSystem

// Entries that code outside the cache will write, and their places in the order of all writes.
extension DiskCache {
    /// Takes a place in the order of writes for a key. Does not block.
    package func orderWrite(of key: CacheKey) -> DiskWriteOrder { DiskWriteOrder(EntryID(key), unwritten) }

    /// Takes a place for a removal, which ``remove(_:as:)`` carries out. It cancels writes that have begun, but not
    /// those that begin from now on. As long as the place is held, the entry is not found. Does not block.
    package func orderRemoval(of key: CacheKey) -> DiskWriteOrder {
        DiskWriteOrder(EntryID(key), unwritten, isRemoval: true)
    }

    /// Makes an entry readable before it is written, until ``endExpecting(_:)`` or until its write is cancelled.
    /// Replaces an earlier expected entry. Does not block.
    package func expect(_ entry: some ExpectedEntry) { unwritten.expect(entry) }

    /// Ends ``expect(_:)``: the entry has been written, or will not be.
    package func endExpecting(_ entry: some ExpectedEntry) { unwritten.endExpecting(entry) }

    /// The expected entry of a key, unless its write was cancelled.
    package func expectedEntry(for key: CacheKey) -> (any ExpectedEntry)? { unwritten.expected(EntryID(key)) }

    /// The newest entry of a key that is not on disk yet. Counts as a hit.
    func unwrittenEntry(_ id: EntryID) -> (any UnwrittenEntry)? {
        guard let entry = unwritten.newest(id) else { return nil }
        books.withLock { $0.statistics.hits += 1 }
        return entry
    }
}
