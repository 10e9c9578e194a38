public import WebImageCore
public import WebImageDownload

/// Where a picture came from.
public enum ImageSource: String, Hashable, Sendable {
    /// The memory cache.
    case memory
    /// The disk cache.
    case disk
    /// A further tier behind the disk cache (``ImageManager/Configuration/tiers``).
    case tier
    /// The origin, or a loader of the program (``/WebImageDownload/ImageLoader``).
    case network
    /// A `file:` or `data:` URL, a path, or bytes in memory (`ImageRequest(data:name:)`), for example
    /// the command's standard input.
    case file
    /// Nothing was loaded: an interceptor gave the picture, or it is the request's fallback.
    case given
}

/// The answer to a load.
public struct ImageResponse: Sendable {
    /// The picture, with the transformers of the request applied.
    public var image: Image
    /// Where the picture came from.
    public var source: ImageSource
    /// The header of the picture's file; nil if the picture came from memory without it.
    public var header: ImageHeader? { image.info.header }
    /// The original's bytes, when ``ImageRequest/Options/includesData`` asked for them.
    public var data: [UInt8]?
    /// The length of the original; nil if the picture came from memory.
    public var byteCount: ByteCount?
    /// Status and headers of the origin's answer. A picture from the disk cache has the headers that HTTP caching
    /// keeps. Nil for a picture from memory, and for a file.
    public var head: ResponseHead?
    /// The error of a picture that is incomplete (``ImageRequest/Decoding/allowsPartial``).
    public var partialError: WebImageError?
    /// Why the original could not be stored on disk; the picture itself is not affected. It is set only for a load that
    /// waits for the store (``ImageRequest/Caching/waitsForStore``).
    public var storeError: WebImageError?
    /// Why the load failed, if the picture is ``ImageRequest/Options/fallback``.
    public var failure: WebImageError?
    /// How long each stage of the load took.
    public var timings: LoadTimings
    /// The record from which the trace is made; nil if little is known.
    var tracing: ResponseRecord?

    /// Makes an answer without a load, for example for a test or a preview of a view. The other properties can then be
    /// set.
    public init(image: Image, source: ImageSource = .given) {
        self.init(image: image, source: source, data: nil)
    }

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

/// How long each stage of a load took; nil for a stage that did not happen.
public struct LoadTimings: Hashable, Sendable {
    /// The wait for a download slot, and for the disk look-up before it.
    public var queue: Duration?
    /// Name look-up, TCP and TLS; nil if a connection was reused.
    public var connect: Duration?
    /// From sending the request to the first byte of the response.
    public var firstByte: Duration?
    /// From the first byte to the last.
    public var transfer: Duration?
    /// The time of the decoder, including scaling and turning; it overlaps the transfer.
    public var decode: Duration?
    /// The time of the transformers.
    public var transform: Duration?
    /// Writing the original to the disk cache. It is set only for a load that waits for the store
    /// (``ImageRequest/Caching/waitsForStore``); for other loads the original is written after the answer.
    public var store: Duration?
    /// From the call to the answer.
    public var total: Duration?

    public init() {}
}

/// The progress of a transfer.
public struct LoadProgress: Hashable, Sendable {
    public var received: ByteCount
    /// The announced length; nil if the origin does not announce it.
    public var expected: ByteCount?

    public init(received: ByteCount, expected: ByteCount?) {
        self.received = received
        self.expected = expected
    }

    /// The progress from 0 to 1; nil if the length is not known.
    public var fraction: Double? {
        guard let expected, expected.bytes > 0 else { return nil }
        return min(Double(received.bytes) / Double(expected.bytes), 1)
    }
}

/// An event of a load. `finished` comes exactly once, last.
public enum ImageEvent: Sendable {
    /// The cached picture, while the origin is asked for a newer one (``CachePolicy/refresh``, and
    /// ``CachePolicy/protocol`` with `stale-while-revalidate`). `finished` then has the newer picture, or the same one
    /// if there is none newer, or the error. This event does not come after a newer picture.
    case cached(ImageResponse)
    /// How many bytes of the original have arrived.
    case progress(LoadProgress)
    /// A part of the picture, or all of it with less detail; `image.info.isPartial` is true.
    case preview(Image)
    /// The picture or the error.
    case finished(Result<ImageResponse, WebImageError>)
}

extension LoadTimings {
    /// Adds the times of a transfer, which all count from the transfer's start.
    mutating func add(_ metrics: TransferMetrics) {
        queue = (queue ?? .zero) + metrics.queued
        guard let timings = metrics.timings else { return }
        let connected = max(timings.connect, timings.secure)
        if !timings.isReused { connect = connected }
        firstByte = max(timings.firstByte - connected, .zero)
        transfer = max(timings.total - timings.firstByte, .zero)
    }
}
