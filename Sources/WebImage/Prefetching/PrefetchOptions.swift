public import WebImageCore

/// The destination of a prefetcher's pictures, and the limits of its work.
public struct PrefetchOptions: Sendable {
    public enum Destination: Hashable, Sendable {
        /// ``disk(check:)`` for requests that have a disk cache or a further tier, ``memory`` for the others.
        case automatic
        /// Loads the original into the disk cache, without making a picture from it.
        /// Without a disk cache or a further tier, pictures from the network fail before they are transferred.
        case disk(check: OriginalCheck = .header)
        /// Loads the finished picture into memory, and wherever else its request stores it
        /// (``ImageRequest/Caching/store``).
        case memory
    }

    /// Where pictures are loaded to. Default ``Destination/automatic``.
    public var destination = Destination.automatic
    /// How many pictures are loaded at once. Default 3; at least 1.
    public var width = 3
    /// How many bytes one list may load from the network. Pictures that have not begun by then are dropped. Running
    /// loads finish, so that the limit may be exceeded by at most ``width`` pictures. Default nil: no limit.
    public var byteBudget: ByteCount?
    /// How many bytes a second all lists together may load from the network, on average. After a picture, no other
    /// begins for as long as its bytes should have taken. A picture that has begun is not slowed down. Default nil: no
    /// limit.
    public var bytesPerSecond: ByteCount?
    /// Whether no picture begins while the manager runs a load of a higher priority that somebody waits for. Default
    /// false.
    public var onlyWhenIdle = false
    /// The priority of requests without one of their own, that is, with the priority `normal`. Default
    /// ``/WebImageCore/LoadPriority/veryLow``, which takes no slot from other transfers.
    public var priority = LoadPriority.veryLow

    public init() {}
}
