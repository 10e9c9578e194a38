public import WebImage

/// All that the options of a URL say. A Boolean that is nil was not said: the configuration decides.
public struct ProcessingOptions: Hashable, Sendable {
    public struct Trim: Hashable, Sendable {
        public var threshold: Double
        /// nil: the colour of the pixel at the top left.
        public var color: RGBColor?
        public var equalHorizontally = false
        public var equalVertically = false
    }

    public struct Watermark: Hashable, Sendable {
        /// 0: there is none.
        public var opacity = 0.0
        public var place = ImgproxyGeometry.Place()
        public var tiles = false
        /// 0: the size that it has.
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

        /// What a source may be long; nil where the URL does not say it.
        public var bodyLimit: ByteCount? { sourceFileSize.map(Self.bodyLimit) }

        /// - Parameter bytes: 0: as many as come.
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
    /// 0: by the format.
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
    /// What was strange but taken, for the log.
    public internal(set) var warnings: [String] = []

    public init() {}
}
