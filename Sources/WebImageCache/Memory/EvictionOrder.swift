/// The order in which a memory cache evicts entries. Implement it for a policy of your own.
///
/// The cache gives each entry a small number as its id, and reuses the numbers of removed entries. It calls the order
/// under its lock, one call at a time: an order must not block or call other code. It must remember every inserted id
/// until the id is removed or returned as a victim.
public protocol EvictionOrder: Sendable {
    /// Whether ``use(_:)`` is called at each hit, which then takes the cache's one lock. An order that does not need
    /// this asks for an entry's number of hits when it looks for a victim; hits on several threads then do not contend
    /// for a lock.
    static var seesEveryHit: Bool { get }

    /// Adds a new entry. The hash identifies its key, so that an order can recognise a key that was in the cache
    /// before.
    mutating func insert(_ id: Int, hash: Int, cost: Int)
    /// Records a hit of an entry; called only with ``seesEveryHit``.
    mutating func use(_ id: Int)
    mutating func setCost(_ cost: Int, of id: Int)
    /// Removes an entry that left the cache without being a victim.
    mutating func remove(_ id: Int)
    mutating func removeAll()

    /// Removes and returns the entry to evict next; nil if there is none.
    ///
    /// - Parameters:
    ///   - limit: the cost that all entries together may have.
    ///   - uses: returns how often an entry was hit since it was last asked about that entry; 3 means three times or
    ///     more.
    mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int?

    /// All ids, as far as known in the order of eviction. For tests and tools.
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
