import Synchronization
package import WebImageCore
import WebImageSystem

/// For tests and tools.
extension MemoryCache {
    /// The keys; those that are evicted first come first, as far as the policy shows it.
    package var keysInOrder: [CacheKey] {
        ledger.withLock { ledger in
            ledger.order.ids.map { id in
                shards[id % Self.shardCount].change { $0.table[Int32(id / Self.shardCount)].key }
            }
        }
    }

    /// How many records of held pictures there are.
    package var heldRecords: Int { shards.reduce(0) { sum, shard in sum + shard.change { $0.held.count } } }

    /// A problem of sums, order and tables; nil if there is none. O(n) under the lock.
    package func fault() -> String? {
        ledger.withLock { ledger in
            var (cost, count, variants) = (0, 0, 0)
            for shard in shards {
                let fault = shard.change { state -> String? in
                    count += state.table.count
                    state.table.forEachIndex { index in
                        cost += state.table[index].cost
                        variants += state.table[index].variant == nil ? 0 : 1
                    }
                    return state.table.fault()
                }
                if let fault { return fault }
            }
            if cost != ledger.cost { return "cost is \(ledger.cost), the entries' sum is \(cost)" }
            if count != ledger.count { return "count is \(ledger.count), the tables have \(count)" }
            if variants != ledger.variants.count { return "\(variants) variants, \(ledger.variants.count) are known" }
            if cost > ledger.limits.room || count > ledger.limits.places { return "a limit is passed" }
            let ids = ledger.order.ids
            let live = ids.filter { id in
                shards[id % Self.shardCount].change { $0.table.isLive(id / Self.shardCount) }
            }
            return live.count == count && Set(ids).count == ids.count ? nil : "the order has other entries"
        }
    }
}
