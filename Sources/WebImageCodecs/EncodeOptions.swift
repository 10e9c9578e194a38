public import WebImageCore

/// The options for encoding a picture.
public struct EncodeOptions: Hashable, Sendable {
    /// 1 to 100, for lossy formats. nil: the format's default (JPEG, WebP and JPEG XL 80, AVIF and HEIC 60).
    public var quality: Int?
    /// Whether every pixel is preserved exactly, even an invisible one. Default false. Encoding fails with
    /// `cannotEncode` where that is impossible: in formats without lossless encoding; for pictures of 16 bits a channel
    /// in BMP, ICO, QOI and WebP, and of more than 12 bits in AVIF; for sides over 256 in ICO; and for animations of
    /// more than 8 bits except in AVIF, JPEG XL and TIFF. PNG and PNM are always lossless, BMP and QOI for 8 bits,
    /// unless ``anymap`` chooses a format with fewer colours.
    public var isLossless: Bool
    /// JPEG, AVIF and HEIC: the resolution of colour. Default automatic. A lossy WebP has 4:2:0, a lossy JPEG XL and a
    /// lossless AVIF have 4:4:4: another value is refused for them. Formats that store red, green and blue ignore it.
    public var chroma = ChromaSubsampling.automatic
    /// AVIF: 0, the slowest and smallest, to 10, the fastest. Default nil: 6, and 8 for animations of more than 4
    /// megapixels: for animations, libaom takes some 300 bytes of memory a pixel at lower speeds, and 40 at 8. Lossless
    /// animations get 6 at most, because libaom loses some of their pixels at higher speeds.
    public var avifSpeed: Int?
    /// Lossy WebP: the effort for a smaller file, from 0, the fastest, to 6. Default nil: 4, and 2 for animations.
    public var webpEffort: Int?
    /// Lossy WebP: the kind of picture for which the encoder is tuned. Default ``WebPContent/picture``.
    public var webpContent = WebPContent.picture
    /// JPEG XL: the effort for a smaller file, from 1, the fastest, to 9. Default 4: above it, encoding takes several
    /// times as long and saves a few percent of the bytes.
    public var jxlEffort = 4
    /// PNM: which of Netpbm's formats is written. Default automatic.
    public var anymap = PortableAnymap.automatic
    /// Whether a picture is written progressively. JPEG: several scans of increasing detail. PNG: seven passes (Adam7),
    /// which makes the file longer. Default false.
    public var progressive: Bool
    /// JPEG: whether a second pass makes Huffman codes for the picture. Without it encoding takes half the time, and
    /// the file is 1 to 20 % longer. Progressive files always have their own codes. Default true.
    public var optimizesCoding = true
    /// PNG, APNG and TIFF: zlib's level, 0 to 9; at 0 a TIFF is not compressed. Default 6.
    public var compressionLevel: Int
    /// GIF, and PNG with ``paletteColors``: whether a picture with more colours than the palette is dithered. Default
    /// true.
    public var dithers: Bool
    /// PNG: the maximum number of colours, 2 to 256, with their alpha. With 256 the file is about a fourth as long, and
    /// drawings lose little. With ``isLossless``, a picture with more colours keeps them all. Default nil: all colours.
    /// APNG ignores it.
    public var paletteColors: Int?
    /// The background of transparent pixels in formats without alpha. Default white.
    public var background: RGBColor
    /// Whether the picture's ICC profile is written, or for PQ and HLG the code points of its colours (PNG, AVIF, HEIC,
    /// JPEG XL; for other formats such pixels are converted to sRGB). For formats without profiles (GIF, BMP, QOI,
    /// PNM), pixels with a profile are converted to sRGB, unless ``isLossless`` is true. If this is false, pixels are
    /// converted to sRGB in the same way. Default true.
    public var embedsICCProfile: Bool
    /// Whether only the first frame of an animation is written, as a still, even if the format supports animations.
    /// Default false.
    public var firstFrameOnly = false
    /// A size into which larger pictures are scaled down, with the aspect ratio kept. Default nil.
    public var maxPixelSize: PixelSize?
    /// The maximum length of the file. The quality of a lossy format is lowered until the file fits; if that is not
    /// possible, encoding fails with `cannotEncode`. For still pictures. Default nil.
    public var maxFileSize: ByteCount?
    /// JPEG and HEIC: whether a thumbnail with sides of at most 160 pixels is embedded, for file managers. Default
    /// false. Other formats ignore it.
    public var embedsThumbnail = false
    /// Whether EXIF, XMP and density of ``/WebImageCore/Image/Info-swift.struct/metadata`` are written; default false.
    /// Orientation, size and colour space in them are then those of the new file, and EXIF's thumbnail is removed.
    /// JPEG, PNG, WebP, AVIF, HEIC, JPEG XL and TIFF can hold all three, icons those of the PNGs in them, BMP the
    /// density, and the other formats none of them.
    public var keepsMetadata: Bool

    package var context = EncodeContext()

    /// The maximum side of EXIF thumbnails.
    static let thumbnailSide = 160

    public init(
        quality: Int? = nil, isLossless: Bool = false, progressive: Bool = false, compressionLevel: Int = 6,
        dithers: Bool = true, background: RGBColor = .white, embedsICCProfile: Bool = true, keepsMetadata: Bool = false
    ) {
        self.quality = quality
        self.isLossless = isLossless
        self.progressive = progressive
        self.compressionLevel = compressionLevel
        self.dithers = dithers
        self.background = background
        self.embedsICCProfile = embedsICCProfile
        self.keepsMetadata = keepsMetadata
    }
}

/// The kind of picture for which libwebp's lossy encoder is tuned.
public enum WebPContent: String, Hashable, Sendable, CaseIterable {
    /// Anything; libwebp's "default".
    case picture
    /// A portrait or an indoor shot; libwebp's "picture".
    case portrait
    /// An outdoor photograph with natural light.
    case photo
    /// A drawing with lines of high contrast.
    case drawing
    /// A small and colourful picture.
    case icon
    case text
}

/// The environment of an encode. It does not change the file, so all contexts compare as equal.
package struct EncodeContext: Hashable, Sendable {
    /// The idle threads that help.
    package var idleThreads: (any IdleThreads)?
    /// Called before each frame of an animation and each attempt to fit a file size, during a WebP's encode, and while
    /// an encoder works in another process. An error that it throws ends the encode.
    package var checkpoint: (@Sendable () throws(WebImageError) -> Void)?

    package init() {}

    package static func == (one: Self, other: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
