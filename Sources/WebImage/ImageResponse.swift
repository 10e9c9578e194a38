public import WebImageCore
public import WebImageDownload

/// Where a picture came from.
public enum ImageSource: String, Hashable, Sendable {
    case memory
    case disk
    /// A further tier behind the disk cache (``ImageManager/Configuration/tiers``).
    case tier
    case network
    /// A `file:` or `data:` URL, or a path.
    case file
    /// No load: an interceptor's picture, or the one that the request gives for a load that fails.
    case given
}

/// The answer to a load.
public struct ImageResponse: Sendable {
    public var image: Image
    public var source: ImageSource
    /// What the picture's file says of itself; nil when it came from memory without it.
    public var header: ImageHeader? { image.info.header }
    /// The original's bytes, when ``ImageRequest/Options/includesData`` asked for them.
    public var data: [UInt8]?
    /// How long the original is; nil when it came from memory.
    public var byteCount: ByteCount?
    /// Status and headers of the origin's answer. A picture from the disk cache has the headers that HTTP caching
    /// keeps. Nil for a picture from memory, and for a file.
    public var head: ResponseHead?
    /// What was wrong with a picture that came only in part (``ImageRequest/Decoding/allowsPartial``).
    public var partialError: WebImageError?
    /// Why the original could not be kept on disk; the picture is as good without. Known only to a load that waits for it
    /// (``ImageRequest/Caching/waitsForStore``).
    public var storeError: WebImageError?
    /// Why the load failed for which ``ImageRequest/Options/fallback`` stands.
    public var failure: WebImageError?
    public var timings: LoadTimings
    /// What the trace is made of; nil where little is known.
    var tracing: ResponseRecord?

    package init(
        image: Image, source: ImageSource, data: [UInt8]? = nil, byteCount: ByteCount? = nil,
        partialError: WebImageError? = nil, failure: WebImageError? = nil, timings: LoadTimings = LoadTimings()
    ) {
        self.failure = failure
        self.image = image
        self.source = source
        self.data = data
        self.byteCount = byteCount
        self.partialError = partialError
        self.timings = timings
    }
}

/// How long each stage of a load took; nil for a stage that it did not have.
public struct LoadTimings: Hashable, Sendable {
    /// Waiting for a download slot and for the disk look-up before it.
    public var queue: Duration?
    /// Name look-up, TCP and TLS; nil on a connection that was re-used.
    public var connect: Duration?
    /// From the request's being sent to the response's first byte.
    public var firstByte: Duration?
    /// From the first byte to the last.
    public var transfer: Duration?
    /// Work of the decoder, scaling and turning included; it overlaps the transfer.
    public var decode: Duration?
    public var transform: Duration?
    /// Writing the original into the disk cache. Known only to a load that waits for it
    /// (``ImageRequest/Caching/waitsForStore``): it is written after the others are answered.
    public var store: Duration?
    /// From asking to answering.
    public var total: Duration?

    public init() {}
}

/// How far a load is.
public struct LoadProgress: Hashable, Sendable {
    public var received: ByteCount
    /// nil when the origin does not say.
    public var expected: ByteCount?

    public init(received: ByteCount, expected: ByteCount?) {
        self.received = received
        self.expected = expected
    }

    /// 0 to 1, nil when the length is not known.
    public var fraction: Double? {
        guard let expected, expected.bytes > 0 else { return nil }
        return min(Double(received.bytes) / Double(expected.bytes), 1)
    }
}

/// What happens on the way of a load. `finished` comes exactly once, last.
public enum ImageEvent: Sendable {
    /// What the caches have, while the origin is still asked whether there is something newer (``CachePolicy/refresh``,
    /// and ``CachePolicy/protocol`` with `stale-while-revalidate`). `finished` then has what is newer, or the same picture
    /// when nothing is, or what went wrong on the way. Not told any more once there is a newer picture.
    case cached(ImageResponse)
    case progress(LoadProgress)
    /// A part of the picture, or all of it less fine; `image.info.isPartial` is true.
    case preview(Image)
    case finished(Result<ImageResponse, WebImageError>)
}

extension LoadTimings {
    /// Takes over what a transfer says of itself, whose own times all count from its start.
    mutating func add(_ metrics: TransferMetrics) {
        queue = (queue ?? .zero) + metrics.queued
        guard let timings = metrics.timings else { return }
        let connected = max(timings.connect, timings.secure)
        if !timings.isReused { connect = connected }
        firstByte = max(timings.firstByte - connected, .zero)
        transfer = max(timings.total - timings.firstByte, .zero)
    }
}
