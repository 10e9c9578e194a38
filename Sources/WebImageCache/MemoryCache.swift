import Synchronization
public import WebImageCore
import WebImageSystem

/// Decoded pictures in memory, by key; the least recently used go first.
///
/// Synchronous and safe to use from any thread: one lock, one look-up, no allocation on a hit. The limits hold at every
/// moment, and the memory of an evicted picture is given back after the lock is released. Pictures of which a part is
/// missing do not belong here; that is up to the caller.
///
/// SDWebImage's rows MC-01, MC-03, CC-10 and CC-11.
public final class MemoryCache: Sendable {
    /// How much the cache may hold. Both limits are strict.
    public struct Limits: Hashable, Sendable {
        /// Bytes of pixels, with ``MemoryCache/entryOverhead`` for each picture. Default: ``MemoryBudget``.
        public var cost: ByteCount
        /// Pictures. Default: as many as `cost` allows.
        public var count: Int

        public init(cost: ByteCount, count: Int = .max) {
            self.cost = cost
            self.count = count
        }

        /// 20 % of the memory that this process may use, at most 512 MiB; read once.
        public static let `default` = Limits(cost: MemoryBudget.ofThisProcess.cacheCost)
    }

    /// What the cache has done since it was made.
    public struct Statistics: Hashable, Sendable {
        public var hits = 0
        public var misses = 0
        /// Pictures that left because of a limit.
        public var evictions = 0
    }

    /// What an entry costs beside its pixels: key, list links, table slots, the picture's own record.
    public static let entryOverhead: ByteCount = 512

    /// No more entries than 32-bit indices reach, whatever the limits say.
    private static let mostEntries = 1 << 30

    private struct State: ~Copyable {
        var table = MemoryTable()
        var limits: Limits
        var statistics = Statistics()

        mutating func evict(toCost cost: Int, count: Int, into evicted: inout [MemoryTable.Entry]) {
            while table.oldest != MemoryTable.none, table.cost > cost || table.count > count {
                evicted.append(table.remove(table.oldest))
            }
        }
    }

    private let state: Guarded<State>

    public init(limits: Limits = .default) {
        state = Guarded(State(limits: limits))
    }

    /// The picture of that key, which counts as used now; nil when there is none.
    public func image(for key: CacheKey) -> Image? {
        state.withLock { state in
            let index = state.table.find(key)
            guard index != MemoryTable.none else {
                state.statistics.misses += 1
                return nil
            }
            state.statistics.hits += 1
            state.table.touch(index)
            return state.table.image(at: index)
        }
    }

    /// True when there is a picture of that key; does not count as use, nor as hit or miss.
    public func contains(_ key: CacheKey) -> Bool {
        state.withLock { $0.table.find(key) != MemoryTable.none }
    }

    /// Keeps a picture in place of the one of that key; others make room for it.
    ///
    /// A picture that is larger than the limit is not kept, and an older one of that key goes all the same.
    /// - Returns: whether it was kept.
    @discardableResult
    public func store(_ image: Image, for key: CacheKey) -> Bool {
        let (cost, overflow) = image.byteCount.bytes.addingReportingOverflow(Self.entryOverhead.bytes)
        // Declared out here so that what was evicted is released after the lock.
        var evicted: [MemoryTable.Entry] = []
        return state.withLock { state in
            let index = state.table.find(key)
            if index != MemoryTable.none { evicted.append(state.table.remove(index)) }
            let room = state.limits.cost.bytes
            let most = min(state.limits.count, Self.mostEntries)
            guard !overflow, cost <= room, most >= 1 else { return false }
            let before = evicted.count
            state.evict(toCost: room - cost, count: most - 1, into: &evicted)
            state.statistics.evictions += evicted.count - before
            state.table.insert(image, for: key, cost: cost)
            return true
        }
    }

    public func remove(_ key: CacheKey) {
        var removed: MemoryTable.Entry?
        state.withLock { state in
            let index = state.table.find(key)
            if index != MemoryTable.none { removed = state.table.remove(index) }
        }
        _ = consume removed
    }

    public func removeAll() {
        var old = MemoryTable()
        state.withLock { swap(&$0.table, &old) }
    }

    /// Lets the least recently used pictures go until the rest costs no more than that: when memory is short.
    public func trim(toCost cost: ByteCount) {
        var evicted: [MemoryTable.Entry] = []
        state.withLock { state in
            state.evict(toCost: max(cost.bytes, 0), count: .max, into: &evicted)
            state.statistics.evictions += evicted.count
        }
    }

    /// What all pictures cost: their bytes, with ``entryOverhead`` for each.
    public var cost: ByteCount { state.withLock { ByteCount($0.table.cost) } }
    public var count: Int { state.withLock { $0.table.count } }
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Lower limits hold at once.
    public var limits: Limits {
        get { state.withLock { $0.limits } }
        set {
            var evicted: [MemoryTable.Entry] = []
            state.withLock { state in
                state.limits = newValue
                state.evict(toCost: max(newValue.cost.bytes, 0), count: max(newValue.count, 0), into: &evicted)
                state.statistics.evictions += evicted.count
            }
        }
    }

    /// The keys from the least to the most recently used. O(n) under the lock: for tests and tools.
    package var keysByUse: [CacheKey] {
        state.withLock { state in
            var keys: [CacheKey] = []
            state.table.forEach { keys.append($0.key) }
            return keys
        }
    }

    /// What is wrong with the table's sums, links and slots, or nil. For tests; O(n) under the lock.
    package func fault() -> String? { state.withLock { $0.table.fault() } }
}
