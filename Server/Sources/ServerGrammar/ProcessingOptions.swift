public import WebImage

/// The options of a URL. A Boolean that is nil was not given: the configuration decides.
public struct ProcessingOptions: Hashable, Sendable {
    public struct Trim: Hashable, Sendable {
        public var threshold: Double
        /// nil: the colour of the pixel at the top left.
        public var color: RGBColor?
        public var equalHorizontally = false
        public var equalVertically = false
    }

    public struct Watermark: Hashable, Sendable {
        /// 0: no watermark.
        public var opacity = 0.0
        public var place = ImgproxyGeometry.Place()
        public var tiles = false
        /// 0: its own size.
        public var scale = 0.0
    }

    /// Limits that a URL sets for itself.
    public struct Security: Hashable, Sendable {
        /// In megapixels.
        public var sourceResolution: Double?
        public var sourceFileSize: Int?
        public var animationFrames: Int?
        /// In megapixels.
        public var animationFrameResolution: Double?
        public var resultDimension: Int?

        public init() {}

        /// The limit for the source's bytes; nil if the URL sets none.
        public var bodyLimit: ByteCount? { sourceFileSize.map(Self.bodyLimit) }

        /// - Parameter bytes: 0: no limit.
        public static func bodyLimit(_ bytes: Int) -> ByteCount { bytes > 0 ? ByteCount(bytes) : .mebibytes(1 << 20) }
    }

    /// Sizes, crops, turns, canvas and padding. `rotation` is in quarters.
    public var geometry = ImgproxyGeometry()
    public var saysWidth = false
    public var saysDPR = false
    public var trim: Trim?
    public var autoRotate: Bool?
    public var background: RGBColor?
    public var blur = 0.0
    public var sharpen = 0.0
    public var pixelate = 1
    public var watermark = Watermark()
    public var stripMetadata: Bool?
    public var keepCopyright: Bool?
    public var stripColorProfile: Bool?
    public var preserveHDR: Bool?
    public var enforceThumbnail: Bool?
    /// 0: the default of the format.
    public var quality = 0
    public var formatQuality: [ResultFormat: Int] = [:]
    /// 0: no limit.
    public var maxBytes = 0
    public var format: ResultFormat?
    public var skipProcessing: Set<ResultFormat> = []
    public var raw = false
    public var cachebuster = ""
    public var filename = ""
    public var returnAttachment: Bool?
    /// Seconds since 1970; 0: never.
    public var expires = 0
    public var security = Security()
    /// Options that are unusual but accepted, for the log.
    public var warnings: [String] = []

    public init() {}
}
