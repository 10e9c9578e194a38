public import WebImageCore

/// How a picture is written.
public struct EncodeOptions: Hashable, Sendable {
    /// 1 to 100, for lossy formats. nil: the format's default (JPEG, WebP and JPEG XL 80, AVIF and HEIC 60).
    public var quality: Int?
    /// Whether every pixel of 8 bits a channel comes back exactly, also one that cannot be seen. A format that cannot
    /// do that is refused. Default false. PNG, BMP, QOI and PNM are always lossless, except where ``anymap`` asks for
    /// less.
    public var isLossless: Bool
    /// JPEG, AVIF and HEIC: the resolution at which colour is kept. Default automatic. A lossy WebP has 4:2:0, a lossy
    /// JPEG XL and a lossless AVIF have 4:4:4: another value is refused for them. Formats that store red, green and
    /// blue ignore it.
    public var chroma = ChromaSubsampling.automatic
    /// AVIF: 0, the slowest and smallest, to 10, the fastest. Default 6.
    public var avifSpeed = 6
    /// Lossy WebP: how hard the encoder looks for a smaller file, 0, the fastest, to 6. Default nil: 4, and 2 for animations.
    public var webpEffort: Int?
    /// Lossy WebP: what the picture shows, by which the encoder is tuned. Default ``WebPContent/picture``.
    public var webpContent = WebPContent.picture
    /// JPEG XL: how hard the encoder looks for a smaller file, 1, the fastest, to 9. Default 4: above it an encode takes several times
    /// as long for a few percent less bytes.
    public var jxlEffort = 4
    /// PNM: which of Netpbm's formats is written. Default automatic.
    public var anymap = PortableAnymap.automatic
    /// JPEG: several scans, ever finer. PNG: seven passes (Adam7), which makes the file longer. Default false.
    public var progressive: Bool
    /// JPEG: whether a second pass makes Huffman codes for the picture. Without it an encode takes half the time, and the file is 1 to
    /// 20 % longer. Progressive files always have codes of their own. Default true.
    public var optimizesCoding = true
    /// PNG, APNG and TIFF: zlib's level, 0 to 9; at 0 a TIFF is not compressed. Default 6.
    public var compressionLevel: Int
    /// GIF, and PNG with ``paletteColors``: whether a picture of more colours than are kept is dithered. Default true.
    public var dithers: Bool
    /// PNG: at most so many colours are kept, 2 to 256, with their alpha: a file a fourth as long, of which drawings lose little.
    /// With ``isLossless`` a picture of more colours is written as without. Default nil: all colours. APNG ignores it.
    public var paletteColors: Int?
    /// What shows through where the format has no alpha. Default white.
    public var background: RGBColor
    /// Whether the picture's ICC profile is written, or the code points of its colours for PQ and HLG (PNG, AVIF, HEIC,
    /// JPEG XL; for other formats such pixels become sRGB). For formats without profiles (GIF, BMP, QOI, PNM) pixels with one become
    /// sRGB, unless ``isLossless`` keeps them. Default true.
    public var embedsICCProfile: Bool
    /// Writes a still of an animation's first frame also where the format holds animations. Default false.
    public var firstFrameOnly = false
    /// Larger pictures are scaled down to fit into it, aspect kept. Default nil.
    public var maxPixelSize: PixelSize?
    /// The quality of a lossy format is lowered until the file is not longer; `cannotEncode` when it cannot be.
    /// For stills. Default nil.
    public var maxFileSize: ByteCount?
    /// JPEG and HEIC: whether a copy with sides of at most 160 pixels is put in, for programs that list files. Default
    /// false. Other formats ignore it.
    public var embedsThumbnail = false
    /// Whether EXIF, XMP and density of ``/WebImageCore/Image/Info-swift.struct/metadata`` are written; default false. Orientation,
    /// size and colour space in them are then those of the new file, and EXIF's thumbnail goes. JPEG, PNG, WebP, AVIF, HEIC,
    /// JPEG XL and TIFF hold all three, icons those of the PNGs in them, BMP the density, and the other formats none of them.
    public var keepsMetadata: Bool

    /// Who helps with an encode, and nobody else wants.
    package var helpers = EncodeHelpers()

    /// The most that a side of such a copy has: EXIF's usual one.
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

/// What a WebP shows, by which libwebp's lossy encoder is tuned.
public enum WebPContent: String, Hashable, Sendable, CaseIterable {
    /// Anything; libwebp's "default".
    case picture
    /// A portrait or an indoor shot; libwebp's "picture".
    case portrait
    /// An outdoor photograph with natural light.
    case photo
    /// A drawing with lines of high contrast.
    case drawing
    /// Small and colourful.
    case icon
    case text
}

/// Threads that help with an encode: no part of what is encoded, and so of no identity.
package struct EncodeHelpers: Hashable, Sendable {
    package var threads: (any IdleThreads)?

    package init(_ threads: (any IdleThreads)? = nil) { self.threads = threads }

    package static func == (one: Self, other: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
