import WebImageCore

/// What is taken of the limit beside the entries that the index has, what is promised, and the limits themselves.
struct DiskLedger {
    private var limits: DiskCacheConfiguration.Limits
    /// The limit in bytes where the user gave none.
    private var automaticLimit: Int64 = 1 << 30
    /// Blocks promised to entries that are being written.
    private(set) var reserved: Int64 = 0
    /// Each may become one entry more.
    var entriesBeingWritten = 0
    /// Entries that are out of the index and still on the disk.
    private var leaving: [EntryID: Int64] = [:]
    private(set) var leavingBytes: Int64 = 0
    /// Temporary files of others, by path: found by the scan, checked again until they are gone.
    private(set) var strays: [String: Int64] = [:]
    /// The length of the file system's blocks, a power of two.
    private(set) var blockLength: Int64 = 4096
    /// Blocks of what is there and of the cache's own files beside the entries.
    var overhead: Int64 = 0
    /// Blocks of the index's files.
    var indexBytes: Int64 = 0
    /// Beginnings of bodies lie beside the entries, and are counted by somebody else.
    var keepsPartials = false
    /// Background eviction is under way.
    var isEvicting = false
    /// It works its way down to ``lowWater``.
    var evictsToLowWater = false
    /// Somebody is making the cache smaller.
    var isTrimming = false
    /// What other caches of the same directory take.
    var share = DiskShare()
    /// The file that says what all of them take.
    var common = CommonFile()
    /// What may be written until the floor of free space is met; nil where that is not known.
    private(set) var spareSpace: Int64?
    /// What was promised since the free space was measured.
    private var unmeasuredBytes: Int64 = 0

    /// What this cache knows of the file that has the common total.
    struct CommonFile {
        /// The cache has joined the others and does not know yet what the directory holds.
        var isStranger = false
        /// Which file it is, and when it was last seen to be there.
        var inode: UInt64?
        var seen: Duration?
        /// Since the others could not be asked: the time after which they are asked again.
        var aloneUntil: Duration?
    }

    init(_ limits: DiskCacheConfiguration.Limits) { self.limits = limits }

    // MARK: - Limits

    var age: Duration? { limits.age }
    var ageBasis: DiskCacheConfiguration.AgeBasis { limits.ageBasis }
    var mostEntries: Int? { limits.count.map { max($0, 0) } }
    var byteLimit: Int64 { limits.bytes.map { Int64(max($0.bytes, 0)) } ?? automaticLimit }
    /// No entry of ours is longer than the limit for all of them, which may have been higher.
    var longestEntry: Int64 { max(byteLimit, 1 << 30) }
    /// What is left of the limit for entries.
    var capacity: Int64 { max(byteLimit - overhead - indexBytes - (keepsPartials ? partialLimit : 0), 0) }
    /// What beginnings of bodies may take of the limit.
    var partialLimit: Int64 { min(byteLimit / 16, 64 << 20) & ~4095 }
    /// Background eviction starts above this much and ends at ``lowWater``.
    var highWater: Int64 { capacity / 10 * 9 }
    var lowWater: Int64 { capacity / 10 * 8 }
    /// A part of the limit that hardly matters, in whole blocks.
    var grain: Int64 { byteLimit / 256 & ~4095 }

    /// So many tenths of the entries that there may be.
    func countAt(tenths: Int) -> Int { mostEntries.map { ($0 * tenths + 9) / 10 } ?? .max }

    mutating func setLimits(_ limits: DiskCacheConfiguration.Limits) {
        self.limits = limits
        spareSpace = nil
    }

    /// - Parameters:
    ///   - free: what may still be written on the disk.
    ///   - used: what the cache takes of it.
    mutating func setAutomaticLimit(free: Int64, used: Int64) {
        let (sum, overflow) = free.addingReportingOverflow(used)
        automaticLimit = min(1 << 30, max(overflow ? .max : sum, 0) / 10)
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

    // MARK: - Promises

    mutating func promise(_ bytes: Int64) {
        reserved += bytes
        share.didPromise(bytes)
        changeSpareSpace(by: -bytes)
        unmeasuredBytes += bytes
    }

    mutating func release(_ bytes: Int64) {
        reserved -= bytes
        changeSpareSpace(by: bytes)
    }

    /// - Parameters:
    ///   - known: what was known of what the change has taken from the disk.
    ///   - freed: what that really was; nil: as much.
    mutating func fulfil(_ bytes: Int64, known: Int64, freed: Freed?) {
        reserved -= bytes
        share.account(known: known, freed: freed)
    }

    // MARK: - Leaving

    func isLeaving(_ id: EntryID) -> Bool { leaving[id] != nil }
    func leavingBytes(of id: EntryID) -> Int64 { leaving[id] ?? 0 }

    mutating func beginLeaving(_ victim: DiskIndex.Victim) {
        leaving[victim.id, default: 0] += victim.bytes
        leavingBytes += victim.bytes
    }

    mutating func endLeaving(_ victim: DiskIndex.Victim) {
        leavingBytes -= victim.bytes
        let rest = (leaving[victim.id] ?? 0) - victim.bytes
        leaving[victim.id] = rest > 0 ? rest : nil
    }

    // MARK: - The floor of free space

    /// Whether the free space should be measured before that much is promised.
    func wantsSpace(for bytes: Int64) -> Bool {
        guard limits.freeSpace != nil else { return false }
        guard let spareSpace else { return true }
        return bytes > spareSpace || unmeasuredBytes + bytes > 8 << 20
    }

    /// - Parameter free: what may still be written on the disk; promises that are not kept yet are taken off.
    mutating func setFreeSpace(_ free: Int64) {
        spareSpace = limits.freeSpace.map { free - Int64($0.bytes) - reserved }
        unmeasuredBytes = 0
    }

    mutating func changeSpareSpace(by bytes: Int64) {
        if let spare = spareSpace { spareSpace = spare + bytes }
    }

    // MARK: - Others

    /// Temporary files of others count even where nobody else is there.
    var strayBytes: Int64 { strays.values.reduce(0, +) }
    var hasOthers: Bool { share.hasOthers }
    /// How often all was counted anew; nil where nobody else is there.
    var sharedRecounts: UInt64? { share.hasOthers ? share.recounts : nil }

    mutating func setStrays(_ strays: [String: Int64]) {
        self.strays = strays
        if !hasOthers { setOthers(false) }
    }

    mutating func setOthers(_ areThere: Bool) { share.setOthers(areThere, strays: strayBytes) }

    /// Whether the common total has gone wrong: others died in the middle, or two changed the same file at once.
    /// - Parameter promised: what the others may have on the disk beyond what can be counted there.
    func isTotalAmiss(promised: Int64) -> Bool { share.isAmiss(promised: promised, slack: max(grain * 2, 8192)) }

    /// The whole directory is gone.
    mutating func reset() {
        strays = [:]
        share.reset()
    }
}
