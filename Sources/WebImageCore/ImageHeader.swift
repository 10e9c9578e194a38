/// The information in a picture's first bytes, before anything is decoded.
public struct ImageHeader: Hashable, Sendable, Codable {
    public var format: ImageFormat
    /// The size of the decoded pixels, before applying ``orientation``.
    public var size: PixelSize
    /// The size of the stored pixels if the file says that only a part of them is shown (HEIF's `clap`), otherwise nil.
    public var sizeBeforeCrop: PixelSize?
    public var orientation: Orientation
    /// The orientation by the file's tag, if the request takes the stored pixels for upright whatever the tag says
    /// (`ignoresOrientation`). ``orientation`` is then ``Orientation/up``. Otherwise nil.
    public var ignoredOrientation: Orientation?
    public var hasAlpha: Bool
    /// Bits of one channel as stored.
    public var bitDepth: Int
    /// The colour model of the stored samples; decoders convert all models to RGB. A profile for another model is
    /// ignored. Default RGB.
    public var colorModel = ColorModel.rgb
    /// Bits of one pixel, 1 to 8, if pixels are stored as indices into a palette (PNG, GIF, BMP); otherwise nil. For a
    /// GIF it is the value of the first frame.
    public var paletteBits: Int?
    /// True if the file holds the picture in several passes of increasing detail (a progressive JPEG, an interlaced
    /// PNG). False for JPEG XL, whose first bytes do not tell.
    public var isProgressive: Bool
    /// The ICC profile, unless something with precedence (`cICP` of a PNG) is beside it.
    public var iccProfile: [UInt8]?
    /// The colours by code points; used if there is no ``iccProfile``.
    public var colorDescription: ColorDescription?
    /// PNG's `gAMA` and `cHRM`; used if there is nothing else.
    public var colorCalibration: ColorCalibration?
    /// EXIF, XMP and density, as far as they come before the pixels in the file; the rest is known when the whole file
    /// was read.
    public var metadata = ImageMetadata()
    /// The number of frames of an animation, 1 for a still picture; nil if the first bytes do not tell.
    public var frameCount: Int? = 1
    /// How often an animation plays, 0 for ever; nil if the file does not say, which means once. The value has the same
    /// meaning for all formats: a GIF that says "3" repeats three times after the first play, so that this is 4, as in
    /// browsers; an AVIF that says nothing plays for ever, and so has 0.
    public var loopCount: Int?
    /// True for a vector picture (SVG, PDF), which is drawn sharp at any size; ``size`` is its natural size.
    public var isVector = false
    /// An upper bound of the memory for drawing a vector picture, beside its pixels. Default: nothing.
    public var drawingMemory = DrawingMemory()
    /// Smaller sizes in which the file contains the same picture (icons); a decoder decodes one of them if its plan
    /// names it.
    public var otherSizes: [PixelSize] = []
    /// Whether the coder scales this picture down by the low frequencies of its blocks. The alternative, the means of
    /// its pixels, loses detail.
    package var isDividedByFrequencies = false
    /// Whether the decoder holds the whole picture, although for most pictures of the format it does not.
    package var keepsWholePicture = false
    /// The greatest number by which the coder can divide the sides of this picture's tiles: a power of two. 1 if the
    /// format has no tiles, or this picture's cannot be divided.
    package var tileDivisor = 1

    public init(
        format: ImageFormat, size: PixelSize, orientation: Orientation = .up, hasAlpha: Bool = false,
        bitDepth: Int = 8, isProgressive: Bool = false, iccProfile: [UInt8]? = nil
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.hasAlpha = hasAlpha
        self.bitDepth = bitDepth
        self.isProgressive = isProgressive
        self.iccProfile = iccProfile
    }

    /// The size of the stored pixels, including those that are not shown.
    public var storedSize: PixelSize { sizeBeforeCrop ?? size }

    /// Whether the file states its orientation by a tag (EXIF, TIFF), which a program may apply or not.
    package var isOrientedByTag: Bool { !format.has(.uprightDecoder) }

    /// ``orientation`` if it is that of a tag, otherwise upright.
    package var taggedOrientation: Orientation { isOrientedByTag ? orientation : .up }

    /// The size of the upright picture.
    public var displaySize: PixelSize { orientation.displaySize(of: size) }
}

/// The colour model of the samples of a stored picture.
public enum ColorModel: String, Hashable, Sendable, Codable {
    case gray
    case rgb
    /// Cyan, magenta, yellow and black.
    case cmyk
}

/// The memory that a library needs for drawing a vector picture, beside that of its pixels.
public struct DrawingMemory: Hashable, Sendable, Codable {
    /// Bytes for each pixel of the drawing.
    public var bytesPerPixel: Double
    /// Bytes that do not depend on the size of the drawing.
    public var fixed: ByteCount

    public init(bytesPerPixel: Double = 0, fixed: ByteCount = .zero) {
        self.bytesPerPixel = bytesPerPixel
        self.fixed = fixed
    }

    /// The memory for a drawing of this size.
    public func bytes(at size: PixelSize) -> ByteCount {
        let pixels = Double(size.pixelCount ?? .max)
        let total = bytesPerPixel * pixels + Double(fixed.bytes)
        return ByteCount(total < 0x1p62 ? Int(total) : 1 << 62)
    }
}
