import Synchronization
package import WebImageCore
import WebImageSystem

/// An entry that is not on the disk yet and is found all the same.
package protocol UnwrittenEntry: Sendable {
    var key: CacheKey { get }
    var metadata: DiskMetadata { get }
    /// Its place in the order of all writes.
    var number: UInt64 { get }
    /// Its bytes. May block for a file.
    func allBytes() throws(WebImageError) -> [UInt8]
}

/// One whose bytes are known and that somebody outside the cache will write, as the write of ``order``.
package protocol ExpectedEntry: UnwrittenEntry, AnyObject {
    var order: DiskWriteOrder { get }
    /// Whether all its bytes are there.
    var isComplete: Bool { get }
}

extension ExpectedEntry {
    package var number: UInt64 { order.number }
}

extension DiskCache {
    /// Has an entry found from now on, in place of what was expected before; until ``endExpecting(_:)``, and as long as
    /// nothing beats its write. Does not block.
    package func expect(_ entry: some ExpectedEntry) {
        expected.withLock { expected in
            expected[EntryID(entry.key)] = entry
            expectedCount.store(expected.count, ordering: .releasing)
        }
    }

    /// It is written, or will not be.
    package func endExpecting(_ entry: some ExpectedEntry) {
        let id = EntryID(entry.key)
        expected.withLock { expected in
            if expected[id] === entry { expected[id] = nil }
            expectedCount.store(expected.count, ordering: .releasing)
        }
    }

    /// The entry that is expected under that key, unless something has beaten it.
    package func expectedEntry(for key: CacheKey) -> (any ExpectedEntry)? { expectedEntry(EntryID(key)) }

    private func expectedEntry(_ id: EntryID) -> (any ExpectedEntry)? {
        guard expectedCount.load(ordering: .acquiring) > 0, let entry = expected.withLock({ $0[id] }) else {
            return nil
        }
        return entry.order.isWanted && entry.metadata.isAlive(at: folder.clock.wallTime) ? entry : nil
    }

    /// The newest entry of that name that is on its way to the disk.
    /// - Parameter counts: whether that is a hit.
    func unwrittenEntry(_ id: EntryID, counts: Bool = true) -> (any UnwrittenEntry)? {
        var entry: (any UnwrittenEntry)? = stagedEntry(id)
        if let expected = expectedEntry(id), expected.isComplete, expected.number > entry?.number ?? 0 {
            entry = expected
        }
        if entry != nil, counts { state.withLock { $0.statistics.hits += 1 } }
        return entry
    }
}
