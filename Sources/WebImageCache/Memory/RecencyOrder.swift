/// Evicts the least recently used entries first.
package struct RecencyOrder: EvictionOrder {
    package static let seesEveryHit = true
    private var queues = EntryQueues(1)

    package init() {}

    package mutating func insert(_ id: Int, hash: Int, cost: Int) {
        queues.insert(id, hash: hash, cost: cost, into: 0)
    }

    package mutating func use(_ id: Int) { queues.move(id, to: 0) }
    package mutating func setCost(_ cost: Int, of id: Int) { queues.setCost(cost, of: id) }
    package mutating func remove(_ id: Int) { queues.remove(id) }
    package mutating func removeAll() { queues.removeAll() }

    package mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        let oldest = queues[0].oldest
        guard oldest >= 0 else { return nil }
        queues.remove(oldest)
        return oldest
    }

    package var ids: [Int] { queues.ids(in: 0) }
}
