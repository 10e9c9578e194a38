import Synchronization
package import WebImageCore
import WebImageSystem

/// A place in the order of all writes of a key, taken before there is anything to write: a remove from then on beats the
/// write, and so does a store that begins later and ends earlier.
package final class DiskWriteOrder: Sendable {
    let number: UInt64
    private let id: EntryID
    private let cache: DiskCache

    init(_ id: EntryID, _ cache: DiskCache) {
        self.id = id
        self.cache = cache
        number = cache.state.withLock { $0.writes.reserve(id) }
    }

    deinit { cache.state.withLock { $0.writes.giveUpReserved(id) } }

    /// Whether nothing has beaten the write.
    package var isWanted: Bool { cache.state.withLock { $0.writes.wants(number, id) } }
}

extension DiskCache {
    /// Takes a place in the order of writes for that key. Does not block.
    package func orderWrite(of key: CacheKey) -> DiskWriteOrder { DiskWriteOrder(EntryID(key), self) }

    /// As ``makeWriter(for:)``, for a write whose place in the order was taken before.
    package func makeWriter(for key: CacheKey, as order: DiskWriteOrder) throws(WebImageError) -> DiskWriter {
        let id = EntryID(key)
        return try makeWriter(key, id, unstaging: staging.withLock { ($0[id]?.number ?? 0) < order.number }) { writes in
            _ = writes.begin(id)
            return order.number
        }
    }
}
