import WebImageCore

/// What the originals take that wait for the disk, and whether the disk follows. A pure value: callers pass the time.
struct StoreBacklog {
    /// How much memory or temporary disk space originals may hold of which not all bytes are written. What somebody
    /// waits for is stored beyond it.
    let limit: Int
    /// How long the disk may write nothing before those who wait are told so.
    static let patience = Duration.seconds(60)

    private var bytes = 0
    private var count = 0
    private var lastProgress = Duration.zero
    /// The disk has written nothing for so long that waiting for it makes no sense.
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

    /// When the disk will have written nothing for too long; nil if nothing is to be written, or it is too long already.
    var nextCheck: Duration? { count > 0 && !hasStalled ? lastProgress + Self.patience : nil }

    /// Returns true if the disk has stalled just now.
    mutating func stalls(at now: Duration) -> Bool {
        guard let nextCheck, nextCheck <= now else { return false }
        hasStalled = true
        return true
    }

    /// Whether transfers that nobody waits for must stand. What is needed at once keeps the other half.
    var brakesTransfers: Bool { !hasStalled && bytes > limit / 2 }

    /// Writes have a low priority, until so much waits that transfers stand.
    private var priority: LoadPriority {
        switch bytes {
        case ..<(limit / 4): .low
        case ..<(limit / 2): .normal
        default: .high
        }
    }
}
