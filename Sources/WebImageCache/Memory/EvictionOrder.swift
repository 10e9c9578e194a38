/// The order in which entries leave a memory cache. Implement it for a policy of your own.
///
/// The cache gives each entry a small number, its id, and uses the numbers of gone entries again. It calls the order
/// under its lock, one call at a time: an order must not block or call out. It must remember every id that was inserted
/// until it was removed or given as a victim.
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

/// Which entries of a memory cache leave first.
public struct EvictionPolicy: Sendable {
    public let name: String
    let seesEveryHit: Bool
    let makeOrder: @Sendable () -> any EvictionOrder

    /// A policy of one's own.
    public init<Order: EvictionOrder>(name: String, _ makeOrder: @escaping @Sendable () -> Order) {
        self.name = name
        seesEveryHit = Order.seesEveryHit
        self.makeOrder = makeOrder
    }

    /// Two queues: newcomers that are not hit again leave early, what is hit stays. The default: it keeps what LRU keeps
    /// and withstands scans, and hits of several threads do not meet.
    public static let twoQueues = EvictionPolicy(name: "two queues") { TwoQueueOrder() }
    /// The least recently used leave first. Each hit takes the cache's one lock.
    public static let leastRecentlyUsed = EvictionPolicy(name: "least recently used") { RecencyOrder() }
}
