public import WebImageCore

/// The progress of a list that is prefetched.
public struct PrefetchProgress: Hashable, Sendable {
    /// The number of pictures in the list.
    public var total: Int
    /// The number of pictures that were loaded.
    public var loaded = 0
    /// The number of pictures that were already in the cache.
    public var skipped = 0
    /// The number of pictures that failed.
    public var failed = 0
    /// The number of pictures that are not loaded, because they were cancelled or the list's
    /// ``PrefetchOptions/byteBudget`` was used up.
    public var dropped = 0
    /// The number of bytes from the network.
    public var bytes = ByteCount.zero

    /// - Parameter total: how many pictures there are.
    public init(total: Int) { self.total = total }

    /// The number of pictures that are done, in one way or another.
    public var finished: Int { [loaded, skipped, failed, dropped].reduce(0, Self.sum) }
    public var isFinished: Bool { finished >= total }
    /// 0 to 1; 1 for an empty list.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }

    static func + (one: Self, other: Self) -> Self {
        var sum = PrefetchProgress(total: Self.sum(one.total, other.total))
        sum.loaded = Self.sum(one.loaded, other.loaded)
        sum.skipped = Self.sum(one.skipped, other.skipped)
        sum.failed = Self.sum(one.failed, other.failed)
        sum.dropped = Self.sum(one.dropped, other.dropped)
        sum.bytes = ByteCount(Self.sum(one.bytes.bytes, other.bytes.bytes))
        return sum
    }

    /// Lists may be endless: sums end at the largest number.
    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

/// The result for one picture of a list.
public struct PrefetchedItem: Sendable {
    public enum Outcome: Sendable {
        /// It was loaded from that source, with that number of bytes (nil if they were not counted), and stored in the
        /// cache.
        case loaded(from: ImageSource, ByteCount?)
        /// It was already in the cache.
        case skipped
        case failed(WebImageError)
    }

    /// The index of the picture in the list.
    public var index: Int
    public var outcome: Outcome
    /// The original that was stored on disk, or was already there; nil with ``PrefetchOptions/Destination/memory``, and
    /// if the picture failed.
    public var original: OriginalResponse?
}

/// An event of a list that is prefetched.
public enum PrefetchEvent: Sendable {
    /// The picture with this index is loaded now.
    case began(index: Int)
    /// The progress of a picture's transfer. It is left out while an earlier event waits for the closure or keeps it
    /// busy.
    case transfer(index: Int, LoadProgress)
    /// One more picture is done.
    case item(PrefetchedItem, PrefetchProgress)
    /// The list has ended. This event comes exactly once, last, also after a cancellation.
    case finished(PrefetchProgress)
}
