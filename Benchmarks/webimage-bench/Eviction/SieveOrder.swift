import WebImageCache

/// SIEVE (Zhang et al., NSDI 2024), for comparison: one queue, and a hand that spares entries with hits.
struct SieveOrder: EvictionOrder {
    static let seesEveryHit = false
    private var queues = EntryQueues(1)
    private var hand = -1

    mutating func insert(_ id: Int, hash: Int, cost: Int) { queues.insert(id, hash: hash, cost: cost, into: 0) }
    mutating func use(_ id: Int) {}
    mutating func setCost(_ cost: Int, of id: Int) { queues.setCost(cost, of: id) }

    mutating func remove(_ id: Int) {
        if hand == id { hand = queues.newer(than: id) ?? -1 }
        queues.remove(id)
    }

    mutating func removeAll() {
        queues.removeAll()
        hand = -1
    }

    mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        guard queues[0].count > 0 else { return nil }
        var id = hand < 0 ? queues[0].oldest : hand
        while uses(id) > 0 { id = queues.newer(than: id) ?? queues[0].oldest }
        hand = id
        remove(id)
        return id
    }

    var ids: [Int] { queues.ids(in: 0) }
}
