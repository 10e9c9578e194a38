package import WebImageCore
import WebImageSystem

// Entries that somebody outside the cache will write, and their places in the order of all writes.
extension DiskCache {
    /// Takes a place in the order of writes for that key. Does not block.
    package func orderWrite(of key: CacheKey) -> DiskWriteOrder { DiskWriteOrder(EntryID(key), unwritten) }

    /// Takes a place for a removal, which ``remove(_:as:)`` carries out: it beats the writes that have begun, and is beaten by those that
    /// begin from now on. Does not block.
    package func orderRemoval(of key: CacheKey) -> DiskWriteOrder {
        let order = orderWrite(of: key)
        unwritten.cancelWrites(of: EntryID(key), before: order.number)
        return order
    }

    /// Has an entry found from now on, in place of what was expected before; until ``endExpecting(_:)``, and as long as
    /// nothing beats its write. Does not block.
    package func expect(_ entry: some ExpectedEntry) { unwritten.expect(entry) }

    /// It is written, or will not be.
    package func endExpecting(_ entry: some ExpectedEntry) { unwritten.endExpecting(entry) }

    /// The entry that is expected under that key, unless something has beaten it.
    package func expectedEntry(for key: CacheKey) -> (any ExpectedEntry)? { unwritten.expected(EntryID(key)) }

    /// The newest entry of that name that is on its way to the disk. Counts as a hit.
    func unwrittenEntry(_ id: EntryID) -> (any UnwrittenEntry)? {
        guard let entry = unwritten.newest(id) else { return nil }
        books.withLock { $0.statistics.hits += 1 }
        return entry
    }
}
