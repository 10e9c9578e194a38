/// The order in which a memory cache evicts entries. Implement it for a policy of your own.
///
/// The cache gives each entry a small number as its id, and reuses the numbers of removed entries. It calls the order
/// under its lock, one call at a time: an order must not block or call other code. It must remember every inserted id
/// until the id is removed or returned as a victim.
public protocol EvictionOrder: Sendable {
    /// Whether ``use(_:)`` is called at each hit, which then takes the cache's one lock. An order that does not need
    /// it asks how often an entry was hit when it looks for a victim: hits of several threads then meet nowhere.
    static var seesEveryHit: Bool { get }

    /// Takes on a new entry. The hash tells a key that was there before.
    mutating func insert(_ id: Int, hash: Int, cost: Int)
    /// The entry was hit; only with ``seesEveryHit``.
    mutating func use(_ id: Int)
    mutating func setCost(_ cost: Int, of id: Int)
    /// Forgets an entry that its owner removed.
    mutating func remove(_ id: Int)
    mutating func removeAll()

    /// The entry that leaves next, which the order forgets by that; nil when it has none.
    ///
    /// - Parameters:
    ///   - limit: what all entries together may cost.
    ///   - uses: how often an entry was hit since this was last asked of it, 3 for three times and more.
    mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int?

    /// All ids, those that leave first at the front as far as one can tell. For tests and tools.
    var ids: [Int] { get }
}

/// The policy by which a memory cache evicts entries.
public struct EvictionPolicy: Sendable {
    public let name: String
    let seesEveryHit: Bool
    let makeOrder: @Sendable () -> any EvictionOrder

    /// Makes a policy of your own.
    public init<Order: EvictionOrder>(name: String, _ makeOrder: @escaping @Sendable () -> Order) {
        self.name = name
        seesEveryHit = Order.seesEveryHit
        self.makeOrder = makeOrder
    }

    /// Two queues: new entries that are not hit again are evicted early, and entries with hits stay. This is the
    /// default: it keeps about what LRU keeps, withstands scans, and hits on several threads do not contend for a lock.
    public static let twoQueues = EvictionPolicy(name: "two queues") { TwoQueueOrder() }
    /// The least recently used entries are evicted first. Each hit takes the cache's one lock.
    public static let leastRecentlyUsed = EvictionPolicy(name: "least recently used") { RecencyOrder() }
}
