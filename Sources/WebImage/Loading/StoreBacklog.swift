import WebImageCore

/// Counts the bytes of originals that wait for the disk, and detects a disk that stalls. A pure value: callers pass the
/// time.
struct StoreBacklog {
    /// How many bytes of originals that are not completely written may be held in memory or temporary files. Originals
    /// whose store a caller awaits are accepted beyond the limit.
    let limit: Int
    /// How long the disk may write nothing before waiting callers get an error.
    static let patience = Duration.seconds(60)

    private var bytes = 0
    private var count = 0
    private var lastProgress = Duration.zero
    /// Whether the disk has written nothing for so long that callers no longer wait for it.
    private(set) var hasStalled = false

    init(limit: Int) { self.limit = limit }

    /// - Parameter isAwaited: whether a caller waits until the original is stored. Such callers limit themselves.
    /// - Returns: how urgent the write is; nil if the original is not stored.
    mutating func add(_ length: Int, isAwaited: Bool, at now: Duration) -> LoadPriority? {
        guard count == 0 || !hasStalled && (isAwaited || bytes + length <= limit) else { return nil }
        if count == 0 { lastProgress = now }
        count += 1
        bytes += length
        return priority
    }

    /// The write has ended.
    mutating func remove(_ length: Int, at now: Duration) {
        count -= 1
        bytes -= length
        progress(at: now)
    }

    /// Some bytes were written.
    mutating func progress(at now: Duration) { (lastProgress, hasStalled) = (now, false) }

    /// When the disk will have stalled if it writes nothing until then; nil if nothing waits, or the disk has stalled
    /// already.
    var nextCheck: Duration? { count > 0 && !hasStalled ? lastProgress + Self.patience : nil }

    /// Returns true if the disk has stalled just now.
    mutating func stalls(at now: Duration) -> Bool {
        guard let nextCheck, nextCheck <= now else { return false }
        hasStalled = true
        return true
    }

    /// Whether transfers of low priority must pause. The other half of the limit is left to urgent ones.
    var brakesTransfers: Bool { !hasStalled && bytes > limit / 2 }

    /// Writes have a low priority, which rises as more bytes wait.
    private var priority: LoadPriority {
        switch bytes {
        case ..<(limit / 4): .low
        case ..<(limit / 2): .normal
        default: .high
        }
    }
}
