public import WebImageCore

/// How a picture is written.
public struct EncodeOptions: Hashable, Sendable {
    /// 1 to 100, for lossy formats. nil: the format's default (JPEG, WebP and JPEG XL 80, AVIF 60).
    public var quality: Int?
    /// Whether every pixel of 8 bits a channel comes back exactly, also one that cannot be seen; refused for formats
    /// that cannot. Default false. PNG, BMP, QOI and PNM are always lossless.
    public var isLossless: Bool
    /// JPEG: several scans, ever finer. Default false.
    public var progressive: Bool
    /// PNG: zlib's level, 0 to 9. Default 6.
    public var compressionLevel: Int
    /// What shows through where the format has no alpha. Default white.
    public var background: RGBColor
    /// Whether the picture's ICC profile is written. Default true.
    public var embedsICCProfile: Bool

    public init(
        quality: Int? = nil, isLossless: Bool = false, progressive: Bool = false, compressionLevel: Int = 6,
        background: RGBColor = .white, embedsICCProfile: Bool = true
    ) {
        self.quality = quality
        self.isLossless = isLossless
        self.progressive = progressive
        self.compressionLevel = compressionLevel
        self.background = background
        self.embedsICCProfile = embedsICCProfile
    }
}
