import WebImageCore

/// What the disk cache knows and decides, without touching the disk: a value that takes events and answers with what
/// must be done.
struct DiskState {
    /// An answer to a wish for room.
    enum Room {
        case granted
        /// No eviction can make that room.
        case refused
        /// These must go first; then ask again.
        case evict([DiskIndex.Victim])
    }

    var index = DiskIndex()
    var statistics = DiskStatistics()
    private(set) var isScanned = false
    /// Blocks promised to entries that are being written.
    private(set) var reserved: Int64 = 0
    /// Blocks of entries that are out of the index and still on the disk.
    private(set) var leaving: Int64 = 0
    /// Temporary files of other processes, by name: found by the scan, looked at again until they are gone.
    private(set) var strays: [String: Int64] = [:]
    private var strayBytes: Int64 = 0
    private var limits: DiskCacheConfiguration.Limits
    /// The limit in bytes where the user gave none.
    private var automaticLimit: Int64 = 1 << 30
    /// Set while background eviction works its way down.
    private var evictionTarget: Int64?
    private(set) var isEvicting = false
    /// Entries removed while the scan ran, which it may have seen before.
    private var removedDuringScan: Set<EntryID> = []

    init(limits: DiskCacheConfiguration.Limits) { self.limits = limits }

    var age: Duration? { limits.age }
    var byteLimit: Int64 { limits.bytes.map { Int64(max($0.bytes, 0)) } ?? automaticLimit }
    /// Everything on the disk that is ours, and what is promised.
    var used: Int64 { index.bytes + reserved + leaving + strayBytes }
    /// Background eviction starts above this much and ends at ``lowWater``.
    private var highWater: Int64 { byteLimit / 10 * 9 }
    private var lowWater: Int64 { byteLimit / 10 * 8 }

    mutating func setLimits(_ limits: DiskCacheConfiguration.Limits) { self.limits = limits }

    func isExpired(lastUse: Int64, at now: Int64) -> Bool {
        guard let age = limits.age else { return false }
        return now - lastUse >= age.components.seconds
    }

    // MARK: - Room

    /// Reserves bytes if nothing must go for them.
    mutating func reserveFreeRoom(_ bytes: Int64) -> Bool {
        let limit = byteLimit
        guard bytes <= limit, used <= limit - bytes else { return false }
        reserved += bytes
        return true
    }

    mutating func reserve(_ bytes: Int64) -> Room {
        let limit = byteLimit
        guard bytes <= limit else { return .refused }
        if reserveFreeRoom(bytes) { return .granted }
        let victims = takeVictims { state in state.used - state.leaving > limit - bytes }
        return victims.isEmpty ? .refused : .evict(victims)
    }

    mutating func release(_ bytes: Int64) { reserved -= bytes }

    /// A promise of `reserved` bytes has become an entry.
    mutating func fulfil(_ reserved: Int64, _ id: EntryID, bytes: Int64, at now: Int64) {
        self.reserved -= reserved
        index.set(id, bytes: bytes, lastUse: now)
    }

    // MARK: - Eviction

    /// Takes the least recently used entries out of the index while `condition` holds, at most `most` of them.
    mutating func takeVictims(most: Int = .max, while condition: (DiskState) -> Bool) -> [DiskIndex.Victim] {
        var victims: [DiskIndex.Victim] = []
        while victims.count < most, condition(self), let victim = index.takeOldest() {
            leaving += victim.bytes
            victims.append(victim)
        }
        return victims
    }

    mutating func takeExpired(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        takeVictims(most: most) { state in
            guard let oldest = state.index.oldest else { return false }
            return state.isExpired(lastUse: oldest.lastUse, at: now)
        }
    }

    /// Returns whether background eviction should be started; the answer is true once until ``nextVictims(most:at:)``
    /// has none left.
    mutating func shouldStartEviction(at now: Int64) -> Bool {
        guard !isEvicting, isScanned else { return false }
        let hasExpired = index.oldest.map { isExpired(lastUse: $0.lastUse, at: now) } ?? false
        if used > highWater { evictionTarget = lowWater }
        isEvicting = hasExpired || evictionTarget != nil
        return isEvicting
    }

    mutating func nextVictims(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        var victims = takeExpired(most: most, at: now)
        if evictionTarget != nil {
            let target = min(evictionTarget ?? 0, lowWater)
            victims += takeVictims(most: most - victims.count) { state in state.used - state.leaving > target }
        }
        if victims.isEmpty { stopEvicting() }
        return victims
    }

    mutating func stopEvicting() {
        isEvicting = false
        evictionTarget = nil
    }

    /// A victim's file is gone, or was replaced by a new entry in the meantime.
    mutating func didEvict(_ victim: DiskIndex.Victim) {
        leaving -= victim.bytes
        statistics.evictions += 1
    }

    /// A victim's file could not be removed: it still counts, and others are tried before it.
    mutating func didNotEvict(_ victim: DiskIndex.Victim) {
        leaving -= victim.bytes
        if !index.contains(victim.id) { index.set(victim.id, bytes: victim.bytes, lastUse: victim.lastUse) }
    }

    // MARK: - Scan

    mutating func remove(_ id: EntryID) {
        index.remove(id)
        if !isScanned { removedDuringScan.insert(id) }
    }

    /// The whole directory is gone.
    mutating func removeAll() {
        index.removeAll()
        strays = [:]
        strayBytes = 0
    }

    mutating func finishScan(_ found: [DiskIndex.Victim], strays: [String: Int64], freeSpace: Int64?) {
        index.adopt(found.filter { !removedDuringScan.contains($0.id) })
        removedDuringScan = []
        setStrays(strays)
        if let freeSpace {
            let (sum, overflow) = freeSpace.addingReportingOverflow(used)
            automaticLimit = min(1 << 30, max(overflow ? .max : sum, 0) / 10)
        }
        isScanned = true
    }

    mutating func setStrays(_ strays: [String: Int64]) {
        self.strays = strays
        strayBytes = strays.values.reduce(0, +)
    }
}
