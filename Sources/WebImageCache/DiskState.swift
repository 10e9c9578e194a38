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
    /// Each may become one entry more.
    var entriesBeingWritten = 0
    /// Entries that are out of the index and still on the disk.
    private(set) var leaving: [EntryID: Int64] = [:]
    private(set) var leavingBytes: Int64 = 0
    /// Temporary files of others, by name: found by the scan, looked at again until they are gone.
    private(set) var strays: [String: Int64] = [:]
    /// The length of the file system's blocks, a power of two.
    private(set) var blockLength: Int64 = 4096
    /// Blocks of what is there and of the cache's own files beside the entries.
    var overhead: Int64 = 0
    /// Beginnings of bodies lie beside the entries, and are counted by somebody else.
    var keepsPartials = false
    /// How often the index has been forgotten, and with it what is written down.
    private(set) var indexGeneration = 0
    /// Blocks of the index's files.
    var indexBytes: Int64 = 0
    /// When each shard's directory was last changed, in nanoseconds, when it was last looked at.
    var shardTimes = [Int64?](repeating: nil, count: 256)
    /// Hits and misses of all caches of this directory before this one's that are not written down yet.
    var earlierCounts = DiskCounts()
    /// This one's hits and misses that are.
    var writtenCounts = DiskCounts()
    /// What is to be done once the directory is scanned.
    private var waiting: [@Sendable () -> Void] = []
    var changes = DiskChanges()
    private var limits: DiskCacheConfiguration.Limits
    /// The limit in bytes where the user gave none.
    private var automaticLimit: Int64 = 1 << 30
    /// Set while background eviction works its way down.
    private var evictsToLowWater = false
    private(set) var isEvicting = false
    /// Entries removed while the scan ran, which it may have seen before.
    private var removedDuringScan: Set<EntryID> = []

    /// What other caches of the same directory take.
    var share = DiskShare()
    /// It has joined the others and does not know yet what the directory holds.
    var isStranger = false
    /// Which file has the common total, and when it was last seen to be there.
    var usageInode: UInt64?
    var usageSeen: Duration?
    /// Since the others could not be asked: the time after which they are asked again.
    var aloneUntil: Duration?

    /// How soon the index will be written down, where that is on its way.
    var flushDelay: Duration?
    /// How long that took the last time.
    var flushCost: Duration = .zero
    var flushesPutOff = 0
    /// Somebody is making the cache smaller.
    var isTrimming = false

    // The floor of free space.
    private var spareSpace: Int64?
    private var unlookedBytes: Int64 = 0

    init(limits: DiskCacheConfiguration.Limits) { self.limits = limits }

    var age: Duration? { limits.age }
    var ageBasis: DiskCacheConfiguration.AgeBasis { limits.ageBasis }
    var byteLimit: Int64 { limits.bytes.map { Int64(max($0.bytes, 0)) } ?? automaticLimit }
    /// No entry of ours is longer than the limit for all of them, which may have been higher.
    var longestEntry: Int64 { max(byteLimit, 1 << 30) }
    /// What is left of the limit for entries.
    var capacity: Int64 { max(byteLimit - overhead - indexBytes - (keepsPartials ? partialLimit : 0), 0) }
    /// What beginnings of bodies may take of the limit.
    var partialLimit: Int64 { min(byteLimit / 16, 64 << 20) & ~4095 }
    /// What this cache knows of: the sum of what it did.
    var known: Int64 { index.bytes + reserved + leavingBytes }
    /// Everything on the disk that counts, and what is promised.
    var used: Int64 { known + share.foreign }
    /// The same without what others may yet take; never less than what was seen in the directory.
    var usage: Int64 { used - share.othersHeadroom(strays: strayBytes) }
    var strayBytes: Int64 { strays.values.reduce(0, +) }
    var hasOthers: Bool { share.hasOthers }
    var headroom: Int64 { share.headroom }
    /// How often all was counted anew; nil where nobody else is there.
    var sharedRecounts: UInt64? { share.hasOthers ? share.recounts : nil }
    /// Background eviction starts above this much and ends at ``lowWater``.
    var highWater: Int64 { capacity / 10 * 9 }
    private var lowWater: Int64 { capacity / 10 * 8 }

    mutating func setLimits(_ limits: DiskCacheConfiguration.Limits) {
        self.limits = limits
        spareSpace = nil
    }

    /// - Parameter length: what the file system says; what cannot be a block's length is ignored.
    mutating func setBlockLength(_ length: Int64) {
        guard length > 4096, length <= 1 << 24, length & (length - 1) == 0 else { return }
        blockLength = length
    }

    func isExpired(date: Int64, at now: Int64) -> Bool {
        guard let age = limits.age else { return false }
        return now - date >= age.wholeSeconds
    }

    // MARK: - Room

    /// Reserves bytes if nothing must go for them.
    mutating func reserveFreeRoom(_ bytes: Int64) -> Bool {
        guard bytes <= capacity, used <= capacity - bytes, bytes <= spareSpace ?? .max, !isOverCount else {
            return false
        }
        reserved += bytes
        share.didPromise(bytes)
        if let spare = spareSpace { spareSpace = spare - bytes }
        unlookedBytes += bytes
        return true
    }

    /// The same out of what the others count as taken already, so that they need not be told.
    mutating func reserveHeadroom(_ bytes: Int64) -> Bool {
        guard bytes <= headroom, reserveFreeRoom(bytes) else { return false }
        share.didPromiseHeadroom(bytes)
        return true
    }

    mutating func reserve(_ bytes: Int64) -> Room {
        let capacity = capacity
        guard bytes <= capacity, limits.count != 0 else { return .refused }
        if reserveFreeRoom(bytes) { return .granted }
        let victims = takeVictims { state in
            state.used - state.leavingBytes > capacity - bytes || state.isOverCount
                || state.spareSpace.map { $0 + state.leavingBytes < bytes } ?? false
        }
        return victims.isEmpty ? .refused : .evict(victims)
    }

    /// Whether room that is refused now may come about when others' doings are looked at again.
    func maySucceedLater(_ bytes: Int64) -> Bool { bytes <= capacity && share.foreign != 0 }

    mutating func release(_ bytes: Int64) {
        reserved -= bytes
        if let spare = spareSpace { spareSpace = spare + bytes }
    }

    /// A promise of `reserved` bytes has become an entry, or a change of one.
    /// - Parameter freed: what that has taken from the disk; nil: what was known of the entry.
    mutating func fulfil(
        _ reserved: Int64, _ record: DiskIndex.Record, keepsPlace: Bool = false, freed: Freed? = nil
    ) {
        self.reserved -= reserved
        let known = (index.record(of: record.id)?.bytes ?? 0) + (leaving[record.id] ?? 0)
        share.account(known: known, freed: freed)
        if keepsPlace { index.update(record) } else { index.set(record) }
        changes.note(record.id)
    }

    /// A use of an entry that is known, not expired and about to be read.
    struct Use {
        /// The file's length.
        let length: Int64
        let expires: Int64
        /// Its file should be told of the use.
        let isBehind: Bool
        let flushDelay: Duration?
    }

    /// Counts a hit, which ``missAfterAll()`` takes back.
    mutating func useKnown(_ id: EntryID, at now: Int64) -> Use? {
        guard let place = index.place(of: id) else { return nil }
        let record = index[place]
        guard record.length > 0, record.length <= longestEntry, !isExpired(date: record.date, at: now) else {
            return nil
        }
        statistics.hits += 1
        var isBehind = false
        if ageBasis == .lastUse {
            isBehind = index.use(place, at: now)
            changes.noteUse(id)
        }
        return Use(length: record.length, expires: record.expires, isBehind: isBehind, flushDelay: scheduleFlush())
    }

    mutating func missAfterAll() { statistics.hits -= 1 }

    mutating func learn(_ id: EntryID, expires: Int64) { index.learn(id, expires: expires) }

    /// - Returns: nil when it is not known; else whether its file should be told of the use.
    mutating func use(_ id: EntryID, at now: Int64, expires: Int64) -> Bool? {
        statistics.hits += 1
        index.learn(id, expires: expires)
        guard ageBasis == .lastUse else { return index.contains(id) ? false : nil }
        guard let isBehind = index.place(of: id).map({ index.use($0, at: now) }) else { return nil }
        changes.noteUse(id)
        return isBehind
    }

    private var isOverCount: Bool {
        guard let limit = limits.count else { return false }
        return index.count + max(entriesBeingWritten, 1) > max(limit, 0) && index.count > 0
    }

    // MARK: - The floor of free space

    /// Whether the free space should be asked for before that much is promised.
    func wantsSpace(for bytes: Int64) -> Bool {
        guard limits.freeSpace != nil else { return false }
        guard let spareSpace else { return true }
        return bytes > spareSpace || unlookedBytes + bytes > 8 << 20
    }

    /// - Parameter free: what may still be written on the disk; promises that are not kept yet are taken off.
    mutating func setFreeSpace(_ free: Int64) {
        spareSpace = limits.freeSpace.map { free - Int64($0.bytes) - reserved }
        unlookedBytes = 0
    }

    // MARK: - Eviction

    /// Takes the first entries to leave out of the index while `condition` holds, at most `most` of them.
    mutating func takeVictims(most: Int = .max, while condition: (DiskState) -> Bool) -> [DiskIndex.Victim] {
        takeVictims(most: most) { state in condition(state) ? state.index.takeOldest() : nil }
    }

    private mutating func takeVictims(
        most: Int, next: (inout DiskState) -> DiskIndex.Victim?
    ) -> [DiskIndex.Victim] {
        var victims: [DiskIndex.Victim] = []
        while victims.count < most, let victim = next(&self) {
            leaving[victim.id, default: 0] += victim.bytes
            leavingBytes += victim.bytes
            changes.note(victim.id)
            victims.append(victim)
        }
        return victims
    }

    mutating func takeExpired(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        takeVictims(most: most) { state in
            if let oldest = state.index.oldest, state.isExpired(date: oldest.date, at: now) {
                return state.index.takeOldest()
            }
            return state.index.takeExpired(at: now)
        }
    }

    /// Returns whether background eviction should be started; the answer is true once until ``nextVictims(most:at:)``
    /// has none left.
    mutating func shouldStartEviction(at now: Int64) -> Bool {
        guard !isEvicting, isScanned else { return false }
        let hasExpired = index.oldest.map { isExpired(date: $0.date, at: now) } ?? false
        if used > highWater || index.count > countAt(tenths: 9) || (spareSpace ?? 0) < 0 { evictsToLowWater = true }
        isEvicting = hasExpired || index.hasExpired(at: now) || evictsToLowWater
        return isEvicting
    }

    private func countAt(tenths: Int) -> Int {
        guard let count = limits.count else { return .max }
        return (max(count, 0) * tenths + 9) / 10
    }

    mutating func nextVictims(most: Int, at now: Int64) -> [DiskIndex.Victim] {
        var victims = takeExpired(most: most, at: now)
        if evictsToLowWater {
            let (target, count) = (lowWater, countAt(tenths: 8))
            victims += takeVictims(most: most - victims.count) { state in
                state.used - state.leavingBytes > target || state.index.count > count
                    || (state.spareSpace ?? 0) + state.leavingBytes < 0
            }
        }
        if victims.isEmpty { stopEvicting() }
        return victims
    }

    mutating func stopEvicting() {
        isEvicting = false
        evictsToLowWater = false
    }

    /// A victim's file is gone, or was replaced by a new entry in the meantime.
    /// - Parameter freed: what this cache has taken from the disk by it; nil: what was known of it.
    mutating func didEvict(_ victim: DiskIndex.Victim, freed: Freed? = nil) {
        endLeaving(victim)
        statistics.evictions += 1
        if let spare = spareSpace { spareSpace = spare + victim.bytes }
        share.account(known: victim.bytes, freed: freed)
    }

    /// A victim's file could not be removed: it still counts, and others are tried before it.
    mutating func didNotEvict(_ victim: DiskIndex.Victim) {
        endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.set(DiskIndex.Record(id: victim.id, bytes: victim.bytes, length: 0, date: victim.date, recordedDate: 0))
    }

    /// A victim's file stays: another cache has used it, or put another in its place.
    mutating func spare(_ victim: DiskIndex.Victim, _ record: DiskIndex.Record) {
        endLeaving(victim)
        guard !index.contains(victim.id) else { return }
        index.adopt([record])
        share.account(known: victim.bytes - record.bytes, freed: .nothing)
    }

    private mutating func endLeaving(_ victim: DiskIndex.Victim) {
        leavingBytes -= victim.bytes
        let rest = (leaving[victim.id] ?? 0) - victim.bytes
        leaving[victim.id] = rest > 0 ? rest : nil
    }

    // MARK: - What happens to the directory

    /// An entry's file is gone.
    /// - Parameter freed: what this cache has taken from the disk by it; nil: what was known of it.
    mutating func remove(_ id: EntryID, freed: Freed? = nil) {
        share.account(known: index.remove(id)?.bytes ?? 0, freed: freed)
        changes.note(id)
        if !isScanned { removedDuringScan.insert(id) }
    }

    /// An entry's file is there, by somebody else's doing.
    mutating func adopt(_ record: DiskIndex.Record) {
        guard !index.contains(record.id), leaving[record.id] == nil else { return }
        index.adopt([record])
        changes.note(record.id)
        share.account(known: -record.bytes, freed: .nothing)
    }

    /// An entry's file is seen; it may be another one than was known, by somebody else's doing.
    mutating func see(_ status: FileStatus, of id: EntryID) {
        guard var record = index.record(of: id) else { return adopt(status.record(of: id)) }
        let isOther = record.bytes != status.blockBytes
        guard isOther || status.modified > record.recordedDate else { return }
        // By a later use of somebody else's it gets its place in the order when its turn to leave has come.
        record.recordedDate = max(record.recordedDate, status.modified)
        if isOther {
            share.account(known: record.bytes - status.blockBytes, freed: .nothing)
            (record.bytes, record.length, record.expires) = (status.blockBytes, status.size, 0)
            changes.note(id)
        }
        index.update(record)
    }

    /// An entry is used whose file the index does not have: it was about to leave, or it is somebody else's.
    /// - Returns: whether its file should be told of the use.
    mutating func comeBack(_ record: DiskIndex.Record, usedAt now: Int64) -> Bool {
        var record = record
        let isBehind = ageBasis == .lastUse && record.use(at: now)
        guard !index.contains(record.id) else { return false }
        if leaving[record.id] == nil, isScanned {
            adopt(record)
        } else {
            index.set(record)
            changes.note(record.id)
        }
        return isBehind
    }

    /// The whole directory is gone.
    mutating func removeAll() {
        for record in index.recordsByDate { changes.note(record.id) }
        index.removeAll()
        indexGeneration += 1
        strays = [:]
        shardTimes = [Int64?](repeating: nil, count: 256)
        share.reset()
    }

    /// - Parameter found: the index as the scan makes it; what happened since goes before it.
    mutating func finishScan(
        _ found: inout DiskIndex, shardTimes: [Int64?], strays: [String: Int64], freeSpace: Int64?
    ) {
        for id in removedDuringScan { found.remove(id) }
        for record in index.recordsByDate { found.set(record) }
        // Exchanged, not copied: others wait for the lock meanwhile.
        swap(&index, &found)
        self.shardTimes = shardTimes
        removedDuringScan = []
        setStrays(strays)
        if let freeSpace {
            let (sum, overflow) = freeSpace.addingReportingOverflow(used)
            automaticLimit = min(1 << 30, max(overflow ? .max : sum, 0) / 10)
        }
        isScanned = true
    }

    /// - Returns: false when the directory is scanned already.
    mutating func waitForScan(_ run: @escaping @Sendable () -> Void) -> Bool {
        if !isScanned { waiting.append(run) }
        return !isScanned
    }

    mutating func takeWaiting() -> [@Sendable () -> Void] {
        defer { waiting = [] }
        return waiting
    }

    mutating func setStrays(_ strays: [String: Int64]) {
        self.strays = strays
        if !hasOthers { share.setOthers(false, strays: strayBytes) }
    }
}
