public import WebImageCore

/// What has become of a list that is prefetched.
public struct PrefetchProgress: Hashable, Sendable {
    /// How many pictures the list has.
    public var total: Int
    /// Those that were loaded.
    public var loaded = 0
    /// Those that were in the cache already.
    public var skipped = 0
    /// Those that failed.
    public var failed = 0
    /// Those that are not loaded since they were cancelled, or the list's ``PrefetchOptions/byteBudget`` was used up.
    public var dropped = 0
    /// Bytes that came by the network.
    public var bytes = ByteCount.zero

    /// - Parameter total: how many pictures there are.
    public init(total: Int) { self.total = total }

    /// Those that nothing more is done about.
    public var finished: Int { loaded + skipped + failed + dropped }
    public var isFinished: Bool { finished >= total }
    /// 0 to 1; 1 for an empty list.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }

    static func + (one: Self, other: Self) -> Self {
        var sum = PrefetchProgress(total: one.total + other.total)
        sum.loaded = one.loaded + other.loaded
        sum.skipped = one.skipped + other.skipped
        sum.failed = one.failed + other.failed
        sum.dropped = one.dropped + other.dropped
        sum.bytes = ByteCount(one.bytes.bytes + other.bytes.bytes)
        return sum
    }
}

/// What has become of one picture of a list.
public struct PrefetchedItem: Sendable {
    public enum Outcome: Sendable {
        /// It came from there, with so many bytes (nil where nobody counted them), and was put into the cache.
        case loaded(from: ImageSource, ByteCount?)
        /// The cache had it already.
        case skipped
        case failed(WebImageError)
    }

    /// Where it stands in the list.
    public var index: Int
    public var outcome: Outcome
    /// The original that was brought to disk, or was there; nil with ``PrefetchOptions/Destination/memory``, and when it failed.
    public var original: OriginalResponse?
}

/// What a prefetcher tells of a list.
public enum PrefetchEvent: Sendable {
    /// The picture with this index is loaded now.
    case began(index: Int)
    /// How far the transfer of a picture is. Not told while the last event is still being taken.
    case transfer(index: Int, LoadProgress)
    /// One more picture is done.
    case item(PrefetchedItem, PrefetchProgress)
    /// Nothing more is done about the list. Comes exactly once, last, also after a cancel.
    case finished(PrefetchProgress)
}
