/// S3-FIFO by cost (Yang et al., SOSP 2023), with a larger small queue than its authors use, because pictures that were
/// scrolled away are soon needed again.
///
/// A new entry goes to the small queue, or to the main queue if its key was evicted recently. An entry at the end of
/// the small queue is evicted if it was not hit, else it moves to the main queue. There, each hit gives it another
/// round.
package struct TwoQueueOrder: EvictionOrder {
    package static let seesEveryHit = false
    private static let (small, main) = (0, 1)

    private var queues = EntryQueues(2)
    private var ghosts = GhostKeys()
    /// The small queue's share of the limit, in percent.
    private let share: Int
    /// How many hits take a newcomer into the main queue.
    private let promotion: Int

    package init(share: Int = 50, promotion: Int = 1) {
        self.share = share
        self.promotion = promotion
    }

    package mutating func insert(_ id: Int, hash: Int, cost: Int) {
        let wasHere = ghosts.remove(hash, within: queues[Self.small].count + queues[Self.main].count)
        queues.insert(id, hash: hash, cost: cost, into: wasHere ? Self.main : Self.small)
    }

    package mutating func use(_ id: Int) {}
    package mutating func setCost(_ cost: Int, of id: Int) { queues.setCost(cost, of: id) }
    package mutating func remove(_ id: Int) { queues.remove(id) }

    package mutating func removeAll() {
        queues.removeAll()
        ghosts = GhostKeys()
    }

    package mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        while true {
            let isSmall = queues[Self.main].count == 0 || queues[Self.small].cost > limit / 100 * share
            let id = queues[isSmall ? Self.small : Self.main].oldest
            guard id >= 0 else { return nil }
            let node = queues.node(id)
            let hits = min(node.mark + uses(id), 3)
            if isSmall, hits >= promotion {
                queues.setMark(0, of: id)
                queues.move(id, to: Self.main)
            } else if !isSmall, hits > 0 {
                queues.setMark(hits - 1, of: id)
                queues.move(id, to: Self.main)
            } else {
                queues.remove(id)
                if isSmall { ghosts.insert(node.hash) }
                return id
            }
        }
    }

    package var ids: [Int] { queues.ids(in: Self.small) + queues.ids(in: Self.main) }
}

/// The hashes of recently evicted keys, in a table of fixed size (16 KiB), in which newer keys overwrite older ones.
struct GhostKeys: Sendable {
    private struct Ghost: Sendable {
        var tag: UInt32 = 0
        /// The sequence number of the eviction; 0 for none.
        var number: UInt32 = 0
    }

    private static let mask = 2047
    private var table: [Ghost] = []
    private var number: UInt32 = 0

    private static func tag(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 24) }

    mutating func insert(_ hash: Int) {
        if table.isEmpty { table = Array(repeating: Ghost(), count: Self.mask + 1) }
        number &+= 1
        table[hash & Self.mask] = Ghost(tag: Self.tag(hash), number: number)
    }

    /// Returns whether the key was among the last `count` evicted ones, and removes it.
    mutating func remove(_ hash: Int, within count: Int) -> Bool {
        guard !table.isEmpty else { return false }
        let ghost = table[hash & Self.mask]
        guard ghost.number != 0, ghost.tag == Self.tag(hash) else { return false }
        table[hash & Self.mask] = Ghost()
        return Int(number &- ghost.number) < max(count, 16)
    }
}
