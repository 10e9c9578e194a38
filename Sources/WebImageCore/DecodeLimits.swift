/// The limits for decoding a picture. They are checked before memory is allocated. A picture over a limit is refused
/// with ``WebImageError/Code-swift.struct/limitExceeded``.
public struct DecodeLimits: Hashable, Sendable, Codable {
    /// The most pixels of one picture, as stored. Default 128 Mi.
    public var pixels: Int
    /// The most pixels of all frames of an animation together. Default 1 Gi.
    public var animationPixels: Int
    /// The most frames of an animation. Default 10 000.
    public var frames: Int
    /// The most bytes of one encoded picture. Default 64 MiB.
    public var bytes: ByteCount
    /// How long one decode may take; checked between rows and pieces. Default 30 s.
    public var time: Duration
    /// How much of ``time`` drawing an SVG or PDF may take, since the time cannot be checked during the drawing.
    /// Default 8 s.
    public var drawingTime: Duration
    /// The most bytes of one piece of metadata (an ICC profile, EXIF, XMP); a longer one is ignored. Default 4 MiB.
    public var metadata: ByteCount

    public init(
        pixels: Int = 128 << 20, animationPixels: Int = 1 << 30, frames: Int = 10_000,
        bytes: ByteCount = .mebibytes(64), time: Duration = .seconds(30),
        drawingTime: Duration = .seconds(8), metadata: ByteCount = .mebibytes(4)
    ) {
        self.pixels = pixels
        self.animationPixels = animationPixels
        self.frames = frames
        self.bytes = bytes
        self.time = time
        self.drawingTime = drawingTime
        self.metadata = metadata
    }

    public static let `default` = DecodeLimits()

    /// Refuses a picture that is empty or has more pixels than allowed.
    ///
    /// - Throws: `limitExceeded` when it has too many pixels, `corruptData` when a side is not positive.
    public func check(_ size: PixelSize, of format: ImageFormat? = nil) throws(WebImageError) {
        guard !size.isEmpty else {
            throw WebImageError(.corruptData, "the picture's size is \(size)", format: format)
        }
        guard let count = size.pixelCount, count <= pixels else {
            throw WebImageError(
                over: .pixels, "the picture is \(size), more than \(pixels) pixels", format: format)
        }
    }

    /// The same for a picture that is made from another one, by scaling it or by a transform.
    package func check(result size: PixelSize, of format: ImageFormat? = nil) throws(WebImageError) {
        if let count = size.pixelCount, count <= pixels { return try check(size, of: format) }
        throw WebImageError(
            over: .resultPixels, "the result would be \(size), more than \(pixels) pixels", format: format)
    }
}
