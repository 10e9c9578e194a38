import WebImageCore

/// The bytes that count in addition to the index's entries, the reserved bytes, and the limits.
struct DiskLedger {
    private var limits: DiskCacheConfiguration.Limits
    /// The limit in bytes if the user set none.
    private var automaticLimit: Int64 = 1 << 30
    /// Blocks that are reserved for entries that are being written.
    private(set) var reserved: Int64 = 0
    /// How many entries are being written; each may become one more entry.
    var entriesBeingWritten = 0
    /// Entries that were removed from the index and whose files still exist.
    private var leaving: [EntryID: Int64] = [:]
    private(set) var leavingBytes: Int64 = 0
    /// Temporary files of other caches, by path: found by the scan, checked again until they are removed.
    private(set) var strays: [String: Int64] = [:]
    /// The length of the file system's blocks, a power of two.
    private(set) var blockLength: Int64 = 4096
    /// The blocks of the cache's other files.
    var overhead: Int64 = 0
    /// Blocks of the index's files.
    var indexBytes: Int64 = 0
    /// Whether partial bodies are stored next to the entries; another object counts them.
    var keepsPartials = false
    /// Whether background eviction is running.
    var isEvicting = false
    /// Whether it evicts down to ``lowWater``.
    var evictsToLowWater = false
    /// Whether a trim is running.
    var isTrimming = false
    /// The bytes of the other caches of the same directory.
    var share = DiskShare()
    /// What is known of the file with the common total.
    var common = CommonFile()
    /// How many bytes may be written before the minimum of free space is reached; nil if it is not known.
    private(set) var spareSpace: Int64?
    /// The bytes that were reserved since the free space was measured.
    private var unmeasuredBytes: Int64 = 0

    /// The state of the file with the common total.
    struct CommonFile {
        /// Whether the cache has joined the others, but does not know the directory's content yet.
        var isStranger = false
        /// The inode of the file, and when it was last seen.
        var inode: UInt64?
        var seen: Duration?
        /// If the common file could not be locked: the time of the next attempt.
        var aloneUntil: Duration?
    }

    init(_ limits: DiskCacheConfiguration.Limits) { self.limits = limits }

    // MARK: - Limits

    var age: Duration? { limits.age }
    var ageBasis: DiskCacheConfiguration.AgeBasis { limits.ageBasis }
    var maxEntries: Int? { limits.count.map { max($0, 0) } }
    var byteLimit: Int64 { limits.bytes.map { Int64(max($0.bytes, 0)) } ?? automaticLimit }
    /// No entry is longer than the limit, which may have been higher before.
    var longestEntry: Int64 { max(byteLimit, 1 << 30) }
    /// The part of the limit for entries.
    var capacity: Int64 { max(byteLimit - overhead - indexBytes - (keepsPartials ? partialLimit : 0), 0) }
    /// The part of the limit for partial bodies.
    var partialLimit: Int64 { min(byteLimit / 16, 64 << 20) & ~4095 }
    /// Background eviction starts above this size and ends at ``lowWater``.
    var highWater: Int64 { capacity / 10 * 9 }
    var lowWater: Int64 { capacity / 10 * 8 }
    /// A negligible part of the limit, in whole blocks. At most 1 GiB: it is encoded in the length of a cache's own
    /// file (``DiskPromise``), and file systems refuse files of many terabytes.
    var grain: Int64 { min(byteLimit / 256, 1 << 30) & ~4095 }

    /// The given tenths of the maximum number of entries.
    func countAt(tenths: Int) -> Int {
        // In two parts, because the maximum may be `Int.max`.
        maxEntries.map { $0 / 10 * tenths + ($0 % 10 * tenths + 9) / 10 } ?? .max
    }

    mutating func setLimits(_ limits: DiskCacheConfiguration.Limits) {
        self.limits = limits
        spareSpace = nil
    }

    /// - Parameters:
    ///   - free: the bytes that can still be written to the disk.
    ///   - used: the bytes of the cache.
    mutating func setAutomaticLimit(free: Int64, used: Int64) {
        let (sum, overflow) = free.addingReportingOverflow(used)
        automaticLimit = min(1 << 30, max(overflow ? .max : sum, 0) / 10)
    }

    /// - Parameter length: the value from the file system; an implausible one is ignored.
    mutating func setBlockLength(_ length: Int64) {
        guard length > 4096, length <= 1 << 24, length & (length - 1) == 0 else { return }
        blockLength = length
    }

    func isExpired(date: Int64, at now: Int64) -> Bool {
        guard let age = limits.age else { return false }
        let (idle, overflow) = now.subtractingReportingOverflow(date)
        return overflow ? date < now : idle >= age.wholeSeconds
    }

    // MARK: - Promises

    mutating func promise(_ bytes: Int64) {
        reserved += bytes
        share.didReserve(bytes)
        changeSpareSpace(by: -bytes)
        unmeasuredBytes += bytes
    }

    mutating func release(_ bytes: Int64) {
        reserved -= bytes
        changeSpareSpace(by: bytes)
    }

    /// - Parameters:
    ///   - known: the expected bytes of the change.
    ///   - freed: the bytes that the change really freed; nil: the expected ones.
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

    /// Whether the free space should be measured before that many bytes are reserved.
    func wantsSpace(for bytes: Int64) -> Bool {
        guard limits.freeSpace != nil else { return false }
        guard let spareSpace else { return true }
        return bytes > spareSpace || unmeasuredBytes + bytes > 8 << 20
    }

    /// No disk is that large; the sum of two such sizes does not overflow.
    private static let maxSpace = 1 << 61

    /// - Parameter free: the bytes that can still be written to the disk; reserved bytes are subtracted.
    mutating func setFreeSpace(_ free: Int64) {
        spareSpace = limits.freeSpace.map { free - Int64(min(max($0.bytes, 0), Self.maxSpace)) - reserved }
        unmeasuredBytes = 0
    }

    mutating func changeSpareSpace(by bytes: Int64) {
        if let spare = spareSpace { spareSpace = spare + bytes }
    }

    // MARK: - Others

    /// The bytes of other caches' temporary files. They count even if there are no other caches.
    var strayBytes: Int64 { strays.values.reduce(0, +) }
    var hasOthers: Bool { share.hasOthers }
    /// The number of recounts; nil without other caches.
    var sharedRecounts: UInt64? { share.hasOthers ? share.recounts : nil }

    mutating func setStrays(_ strays: [String: Int64]) {
        self.strays = strays
        if !hasOthers { setOthers(false) }
    }

    mutating func setOthers(_ areThere: Bool) { share.setOthers(areThere, strays: strayBytes) }

    /// Whether the common total is wrong, because another cache died or two changed the same file at once.
    /// - Parameter promised: the bytes that the other caches may have on the disk in addition to those that can be
    ///   counted.
    func isTotalWrong(promised: Int64) -> Bool { share.isWrong(promised: promised, slack: max(grain * 2, 8192)) }

    /// The whole directory was removed.
    mutating func reset() {
        strays = [:]
        share.reset()
    }
}
