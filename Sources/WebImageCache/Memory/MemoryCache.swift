import Synchronization
public import WebImageCore
import WebImageSystem

/// A cache of decoded pictures in memory, by key. An ``EvictionPolicy`` decides which pictures are evicted first.
///
/// Synchronous and safe to use from any thread. A hit takes one lock, for which threads on other processors do not
/// contend, and one look-up, without allocation. The limits hold at every moment, and the memory of an evicted picture
/// is released after the locks. An evicted picture that somebody still holds is found as long as it is held. Callers
/// must not store incomplete pictures.
public final class MemoryCache: Sendable {
    /// How much the cache may hold. Both limits are strict.
    public struct Limits: Hashable, Sendable {
        /// The most bytes of pixels, with ``MemoryCache/entryOverhead`` for each picture. Default: ``MemoryBudget``.
        public var cost: ByteCount
        /// The most pictures. Default: as many as `cost` allows.
        public var count: Int

        public init(cost: ByteCount, count: Int = .max) {
            self.cost = cost
            self.count = count
        }

        /// 20 % of the memory that this process may use, at most 512 MiB; read once.
        public static let `default` = Limits(cost: MemoryBudget.ofThisProcess.cacheCost)

        var room: Int { max(cost.bytes, 0) }
        /// At most as many entries as a shard's 32-bit indices can address.
        var places: Int { min(max(count, 0), 1 << 30) }
    }

    /// What the cache has done since it was made.
    public struct Statistics: Hashable, Sendable {
        /// Pictures that were found, including evicted ones that somebody held.
        public var hits = 0
        /// Look-ups that found no picture.
        public var misses = 0
        /// Pictures that were evicted because of a limit or to free memory.
        public var evictions = 0
        /// Hits on evicted pictures that somebody held.
        public var heldHits = 0
    }

    /// The cost of an entry beside its pixels: its key, table slots, places in the eviction order, and the picture's
    /// own record.
    public static let entryOverhead: ByteCount = 512

    static let shardCount = 16

    let shards: [MemoryShard]
    private let readerLocks: ReaderLocks
    /// The shards without reference counting, which would cost as much as the lock of a hit.
    private let uncounted: [Unmanaged<MemoryShard>]
    /// Locked before a shard, never after it.
    let ledger: Guarded<MemoryLedger>
    let clock: any LoadClock
    let remembersHeld: Bool
    private let seesEveryHit: Bool

    /// - Parameters:
    ///   - limits: how much the cache may hold.
    ///   - policy: which pictures are evicted first.
    ///   - remembersHeld: whether an evicted picture that somebody holds can still be found.
    public convenience init(
        limits: Limits = .default, policy: EvictionPolicy = .twoQueues, remembersHeld: Bool = true
    ) {
        self.init(limits: limits, policy: policy, remembersHeld: remembersHeld, clock: SystemClock.shared)
    }

    package init(limits: Limits, policy: EvictionPolicy, remembersHeld: Bool, clock: any LoadClock) {
        let locks = ReaderLocks(shardCount: Self.shardCount)
        readerLocks = locks
        shards = (0..<Self.shardCount).map { MemoryShard(number: $0, locks: locks) }
        uncounted = shards.map { Unmanaged.passUnretained($0) }
        ledger = Guarded(MemoryLedger(order: policy.makeOrder(), limits: limits))
        self.clock = clock
        self.remembersHeld = remembersHeld
        seesEveryHit = policy.seesEveryHit
    }

    // MARK: - Asking

    /// Returns the picture of a key, and marks it as used; nil if there is none.
    public func image(for key: CacheKey) -> Image? {
        let answer = seesEveryHit ? lookOrdering(key) : look(key)
        switch answer {
        case .hit(let image, _): return image
        case .held(let image): return adopt(image, key)
        case .expired:
            removeExpired(key)
            return nil
        case .miss: return nil
        }
    }

    private func look(_ key: CacheKey) -> MemoryShard.Answer {
        // `shards` holds them as long as the cache lives.
        uncounted[Self.shardIndex(of: key)]._withUnsafeGuaranteedRef { $0.look(for: key, clock: clock) }
    }

    private func lookOrdering(_ key: CacheKey) -> MemoryShard.Answer {
        ledger.withLock { ledger in
            let answer = look(key)
            if case .hit(_, let index) = answer { ledger.order.use(id(index, key)) }
            return answer
        }
    }

    /// Whether there is a picture with that key. This does not count as a use, nor as a hit or miss.
    public func contains(_ key: CacheKey) -> Bool {
        shard(of: key).read { state in
            let index = state.table.find(key)
            return index != MemoryTable.none && !state.table[index].isExpired(at: clock.now)
        }
    }

    // MARK: - Storing

    /// Stores a picture under a key, and replaces an older one. Other pictures are evicted to make room.
    ///
    /// A picture that is larger than the limit is not stored, but an older one with that key is removed anyway.
    /// - Parameters:
    ///   - image: the picture.
    ///   - key: the key of the picture.
    ///   - lifetime: how long the picture is found; nil: without limit.
    /// - Returns: whether the picture was stored.
    @discardableResult
    public func store(_ image: Image, for key: CacheKey, lifetime: Duration? = nil) -> Bool {
        store(image, for: key, lifetime: lifetime, variant: nil)
    }

    /// - Parameter variant: the description for ``variant(in:fit:atLeast:wanted:)``.
    @discardableResult
    package func store(_ image: Image, for key: CacheKey, lifetime: Duration? = nil, variant: ImageVariant?) -> Bool {
        let expires = lifetime.map { clock.now + $0 }
        let entry = MemoryTable.Entry(key: key, storage: image.storage, cost: 0, expires: expires, variant: variant)
        var departed: [MemoryTable.Entry] = []
        return ledger.withLock { ledger in
            takeOut(key, remembers: false, &ledger, into: &departed)
            return insert(entry, &ledger, into: &departed)
        }
    }

    /// Updates the cost of a picture whose animation keeps more or fewer frames than before.
    ///
    /// Other pictures are evicted to make room. If the picture is larger than the limit, it is removed. If there is
    /// another picture under the key by now, nothing happens.
    public func updateCost(of image: Image, for key: CacheKey) {
        var departed: [MemoryTable.Entry] = []
        ledger.withLock { ledger in
            // Computed under the lock, so that of two threads the later one uses the later cost.
            let cost = Self.cost(of: image)
            guard let (index, old) = currentEntry(of: image, key) else { return }
            guard cost <= ledger.limits.room else {
                ledger.evictions += 1
                return takeOut(key, remembers: remembersHeld, &ledger, into: &departed)
            }
            shard(of: key).change { $0.table[index].cost = cost }
            ledger.costChanged(of: id(index, key), from: old, to: cost)
            makeRoom(cost: 0, places: 0, &ledger, into: &departed)
        }
    }

    private func currentEntry(of image: Image, _ key: CacheKey) -> (index: Int32, cost: Int)? {
        shard(of: key).change { state in
            let index = state.table.find(key)
            guard index != MemoryTable.none, state.table[index].storage === image.storage else { return nil }
            return (index, state.table[index].cost)
        }
    }

    /// The cost of a picture: its pixels, its metadata, its animation's bytes and kept frames, and ``entryOverhead``.
    static func cost(of image: Image) -> Int {
        let frames = image.animation?.keptByteCount.bytes ?? 0
        let (sum, overflow) = image.byteCount.bytes.addingReportingOverflow(frames)
        let (cost, overflows) = sum.addingReportingOverflow(entryOverhead.bytes)
        return overflow || overflows ? .max : cost
    }

    // MARK: - Sums

    /// The cost of all pictures: their bytes, with ``entryOverhead`` for each.
    public var cost: ByteCount { ledger.withLock { ByteCount($0.cost) } }
    /// The number of pictures.
    public var count: Int { ledger.withLock { $0.count } }

    /// What the cache has done since it was made.
    public var statistics: Statistics {
        var sum = ledger.withLock { Statistics(hits: $0.heldHits, evictions: $0.evictions, heldHits: $0.heldHits) }
        let counts = readerLocks.counts
        sum.hits += counts.hits
        sum.misses += counts.misses
        // A hit of a held picture was counted as a miss of its shard.
        sum.misses -= sum.heldHits
        return sum
    }

    /// The limits. Lower limits take effect at once.
    public var limits: Limits {
        get { ledger.withLock { $0.limits } }
        set {
            var departed: [MemoryTable.Entry] = []
            ledger.withLock { ledger in
                ledger.limits = newValue
                makeRoom(cost: 0, places: 0, &ledger, into: &departed)
            }
        }
    }
}
