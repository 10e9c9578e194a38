public import WebImageCore

/// Where a prefetcher brings pictures, and what it may take for that.
public struct PrefetchOptions: Sendable {
    public enum Destination: Hashable, Sendable {
        /// The original into the disk cache, without making a picture of it.
        case disk(check: OriginalCheck = .header)
        /// The finished picture into memory, and wherever else its request says (``ImageRequest/Caching/store``).
        case memory
    }

    /// Default ``Destination/disk(check:)`` with a look at the header.
    public var destination = Destination.disk()
    /// How many pictures are loaded at once. Default 3; at least 1.
    public var width = 3
    /// How many bytes one list may bring by the network; the pictures that are not begun by then are dropped. Those that run
    /// end, so that it may become more by at most ``width`` pictures. Default nil: no limit.
    public var byteBudget: ByteCount?
    /// How many bytes a second all lists together may bring by the network, on average: after a picture nothing begins for
    /// as long as its bytes should have taken. A picture that has begun is not slowed down. Default nil: no limit.
    public var bytesPerSecond: ByteCount?
    /// Whether nothing begins while the manager loads a picture that somebody waits for at a higher priority. Default false.
    public var onlyWhenIdle = false
    /// How urgent it is, for requests that do not say it: those whose priority is `normal`. Default
    /// ``/WebImageCore/LoadPriority/veryLow``, which takes no slot away from anything else.
    public var priority = LoadPriority.veryLow

    public init() {}
}
