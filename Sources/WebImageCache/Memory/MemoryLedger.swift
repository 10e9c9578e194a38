import WebImageCore

/// The memory cache's data about all entries together: sums, limits, the eviction order, and which entries are variants
/// of one picture.
struct MemoryLedger: ~Copyable {
    var order: any EvictionOrder
    var limits: MemoryCache.Limits
    var cost = 0
    var count = 0
    var evictions = 0
    var heldHits = 0
    var variants = VariantIndex()

    init(order: any EvictionOrder, limits: MemoryCache.Limits) {
        self.order = order
        self.limits = limits
    }

    mutating func entered(_ id: Int, _ key: CacheKey, cost: Int, variant: ImageVariant?) {
        self.cost += cost
        count += 1
        order.insert(id, hash: key.hashCode, cost: cost)
        if let variant { variants.insert(variant, key) }
    }

    /// Records that an entry has left. The eviction order has removed it already.
    mutating func left(_ entry: MemoryTable.Entry) {
        cost -= entry.cost
        count -= 1
        if let variant = entry.variant { variants.remove(variant, entry.key) }
    }

    mutating func costChanged(of id: Int, from old: Int, to new: Int) {
        cost += new - old
        order.setCost(new, of: id)
    }
}
