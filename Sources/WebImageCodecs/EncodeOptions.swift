public import WebImageCore

/// How a picture is written.
public struct EncodeOptions: Hashable, Sendable {
    /// 1 to 100, for lossy formats. nil: the format's default (JPEG, WebP and JPEG XL 80, AVIF 60).
    public var quality: Int?
    /// JPEG: several scans, ever finer. Default false.
    public var progressive: Bool
    /// PNG and TIFF: zlib's level, 0 to 9; at 0 a TIFF is not compressed. Default 6.
    public var compressionLevel: Int
    /// What shows through where the format has no alpha. Default white.
    public var background: RGBColor
    /// Whether the picture's ICC profile is written, or the code points of its colours for PQ and HLG (PNG, AVIF, JPEG XL).
    /// Default true.
    public var embedsICCProfile: Bool
    /// Writes a still of an animation's first frame also where the format holds animations. Default false.
    public var firstFrameOnly = false
    /// Whether EXIF, XMP and density of ``Image/Info-swift.struct/metadata`` are written; default false. Orientation,
    /// size and colour space in them are then those of the new file, and EXIF's thumbnail goes. JPEG, PNG, WebP, AVIF and
    /// JPEG XL hold all three, BMP and the other formats none of them.
    public var keepsMetadata: Bool

    public init(
        quality: Int? = nil, progressive: Bool = false, compressionLevel: Int = 6, background: RGBColor = .white,
        embedsICCProfile: Bool = true, keepsMetadata: Bool = false
    ) {
        self.quality = quality
        self.progressive = progressive
        self.compressionLevel = compressionLevel
        self.background = background
        self.embedsICCProfile = embedsICCProfile
        self.keepsMetadata = keepsMetadata
    }
}
