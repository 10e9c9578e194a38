public import WebImageCore

/// How a picture is written.
public struct EncodeOptions: Hashable, Sendable {
    /// 1 to 100, for lossy formats. nil: the format's default (JPEG, WebP and JPEG XL 80, AVIF 60).
    public var quality: Int?
    /// JPEG: several scans, ever finer. Default false.
    public var progressive: Bool
    /// PNG and APNG: zlib's level, 0 to 9. Default 6.
    public var compressionLevel: Int
    /// GIF: whether a picture of more than 256 colours is dithered. Default true.
    public var dithers: Bool
    /// What shows through where the format has no alpha. Default white.
    public var background: RGBColor
    /// Whether the picture's ICC profile is written. Default true.
    public var embedsICCProfile: Bool

    public init(
        quality: Int? = nil, progressive: Bool = false, compressionLevel: Int = 6, dithers: Bool = true,
        background: RGBColor = .white, embedsICCProfile: Bool = true
    ) {
        self.quality = quality
        self.progressive = progressive
        self.compressionLevel = compressionLevel
        self.dithers = dithers
        self.background = background
        self.embedsICCProfile = embedsICCProfile
    }
}
