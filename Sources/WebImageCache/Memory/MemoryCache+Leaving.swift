import Synchronization
public import WebImageCore
import WebImageSystem

/// Removes pictures. The removed entries are collected in `departed`, which the callers release after the locks.
extension MemoryCache {
    /// Removes the picture of a key. If somebody still holds it, it is no longer found, either.
    public func remove(_ key: CacheKey) {
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { takeOut(key, remembers: false, &$0, into: &departed) }
    }

    /// Removes every picture that was made from an original, including held ones. O(n).
    package func removeVariants(of original: CacheKey) {
        let isVariant = { (key: CacheKey) in key.isSameOrVariant(of: original) }
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { ledger in
            for shard in shards {
                shard.change { $0.held.removeAll(where: isVariant) }
                for key in shard.keys(where: { isVariant($0.key) }) {
                    takeOut(key, remembers: false, &ledger, into: &departed)
                }
            }
        }
    }

    /// Removes all pictures. Pictures that somebody still holds are no longer found, either.
    public func removeAll() {
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { forgetAll(&$0, into: &departed) }
    }

    /// Evicts pictures in the order of the policy, until the rest costs no more than `cost`. Call it when memory is
    /// short. A picture that somebody still holds can still be found.
    public func trim(toCost cost: ByteCount) {
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { makeRoom(cost: $0.limits.room - max(cost.bytes, 0), places: 0, &$0, into: &departed) }
    }

    /// Removes pictures whose lifetime is over. Without this call they are removed when they are asked for, or when
    /// room is needed.
    ///
    /// - Complexity: O(n).
    public func removeExpired() {
        let now = clock.now
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { ledger in
            for key in shards.flatMap({ $0.keys { $0.isExpired(at: now) } }) {
                takeOut(key, remembers: false, &ledger, into: &departed)
            }
        }
    }

    /// Removes an expired entry, unless another entry has the key by now.
    func removeExpired(_ key: CacheKey) {
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { ledger in
            guard !contains(key) else { return }
            takeOut(key, remembers: false, &ledger, into: &departed)
        }
    }

    // MARK: - Under the ledger's lock

    /// Returns a held picture to the cache, unless it was removed or replaced meanwhile.
    func adopt(_ image: Image, _ key: CacheKey) -> Image? {
        var departed: [MemoryTable.Entry] = []
        return ledger.withLock { ledger in
            let (now, entry) = shard(of: key).change { state -> (Image?, MemoryTable.Entry?) in
                let index = state.table.find(key)
                if index != MemoryTable.none { return (Image(state.table[index].storage), nil) }
                return (nil, state.held.entry(of: image, for: key))
            }
            guard now != nil || entry != nil else { return nil }
            ledger.heldHits += 1
            if let entry { insert(entry, &ledger, into: &departed) }
            return now ?? image
        }
    }

    /// Makes room for an entry whose key is not in the cache, and adds it.
    ///
    /// - Returns: whether it was stored.
    @discardableResult
    func insert(
        _ new: MemoryTable.Entry, _ ledger: inout MemoryLedger, into departed: inout [MemoryTable.Entry]
    ) -> Bool {
        var entry = new
        entry.cost = Self.cost(of: Image(entry.storage))
        let limits = ledger.limits
        guard entry.cost <= limits.room, limits.places >= 1 else {
            if remembersHeld, limits.room > 0, limits.places > 0 {
                shard(of: entry.key).change { $0.held.insert(entry) }
            }
            return false
        }
        if let variant = entry.variant, let surplus = ledger.variants.surplus(for: variant) {
            ledger.evictions += 1
            takeOut(surplus, remembers: remembersHeld, &ledger, into: &departed)
        }
        makeRoom(cost: entry.cost, places: 1, &ledger, into: &departed)
        let index = shard(of: entry.key).change { state in
            state.held.remove(entry.key)
            return state.table.insert(entry)
        }
        ledger.entered(id(index, entry.key), entry.key, cost: entry.cost, variant: entry.variant)
        return true
    }

    /// Evicts entries until there is room for `cost` more bytes and `places` more entries.
    func makeRoom(cost: Int, places: Int, _ ledger: inout MemoryLedger, into departed: inout [MemoryTable.Entry]) {
        let (most, entries) = (max(ledger.limits.room - cost, 0), max(ledger.limits.places - places, 0))
        while ledger.cost > most || ledger.count > entries {
            let id = ledger.order.takeVictim(limit: ledger.limits.room) { id in
                id < 0 ? 0 : shards[id % Self.shardCount].takeUses(of: id / Self.shardCount)
            }
            guard let id, id >= 0, let entry = takeOut(id) else {
                // A custom policy may lose track of its entries; the limits hold nevertheless.
                ledger.evictions += ledger.count
                return forgetAll(&ledger, into: &departed)
            }
            ledger.left(entry)
            ledger.evictions += 1
            departed.append(entry)
        }
    }

    private func takeOut(_ id: Int) -> MemoryTable.Entry? {
        shards[id % Self.shardCount].change { state in
            let index = id / Self.shardCount
            guard state.table.isLive(index) else { return nil }
            return state.takeOut(Int32(index), remembers: remembersHeld)
        }
    }

    private func forgetAll(_ ledger: inout MemoryLedger, into departed: inout [MemoryTable.Entry]) {
        for shard in shards {
            shard.change { state in
                state.held.removeAll()
                state.table.removeAll(into: &departed)
            }
        }
        (ledger.cost, ledger.count) = (0, 0)
        ledger.order.removeAll()
        ledger.variants = VariantIndex()
    }

    func takeOut(
        _ key: CacheKey, remembers: Bool, _ ledger: inout MemoryLedger, into departed: inout [MemoryTable.Entry]
    ) {
        let found = shard(of: key).change { state -> (Int32, MemoryTable.Entry)? in
            state.held.remove(key)
            let index = state.table.find(key)
            return index == MemoryTable.none ? nil : (index, state.takeOut(index, remembers: remembers))
        }
        guard let (index, entry) = found else { return }
        ledger.order.remove(id(index, key))
        ledger.left(entry)
        departed.append(entry)
    }

    // MARK: - Shards

    func shard(of key: CacheKey) -> MemoryShard { shards[Self.shardIndex(of: key)] }

    /// Uses bits that the tables' slots do not use.
    static func shardIndex(of key: CacheKey) -> Int { (key.hashCode >> 24) & (shardCount - 1) }

    /// The number by which the eviction order identifies an entry.
    func id(_ index: Int32, _ key: CacheKey) -> Int { Int(index) * Self.shardCount + Self.shardIndex(of: key) }
}
