/// What a picture's first bytes tell, before anything is decoded.
public struct ImageHeader: Hashable, Sendable, Codable {
    public var format: ImageFormat
    /// The size of the pixels that a decoder gives, before ``orientation``.
    public var size: PixelSize
    /// The size of the stored pixels where the file says that only a part of them is shown (HEIF's `clap`), else nil.
    public var sizeBeforeCrop: PixelSize?
    public var orientation: Orientation
    public var hasAlpha: Bool
    /// Bits of one channel as stored.
    public var bitDepth: Int
    /// What the stored samples are; decoders give RGB of all. A profile of other colours does not count. Default RGB.
    public var colorModel = ColorModel.rgb
    /// Bits of one pixel, 1 to 8, where pixels are stored as places in a palette of colours (PNG, GIF, BMP); nil elsewhere. A GIF's is
    /// that of its first frame.
    public var paletteBits: Int?
    /// True when the whole picture comes several times, ever finer (a progressive JPEG, an interlaced PNG). False for
    /// JPEG XL, whose first bytes do not tell.
    public var isProgressive: Bool
    /// The ICC profile, unless something that counts more (`cICP` of a PNG) stands beside it.
    public var iccProfile: [UInt8]?
    /// The colours by code points; counts where there is no ``iccProfile``.
    public var colorDescription: ColorDescription?
    /// PNG's `gAMA` and `cHRM`; counts where there is nothing else.
    public var colorCalibration: ColorCalibration?
    /// EXIF, XMP and density, as far as they stand before the pixels; what comes later is there when the whole file was
    /// read.
    public var metadata = ImageMetadata()
    /// Frames of an animation, 1 for a still; nil when its first bytes do not tell.
    public var frameCount: Int? = 1
    /// How often an animation is to be played, 0 for ever; nil when the file says nothing of it, which means once.
    /// Whatever a format counts: a GIF that says "3" repeats three times after the first, so that this is 4, as browsers
    /// have it; an AVIF that says nothing is played for ever, and so has 0.
    public var loopCount: Int?
    /// True for a picture of shapes (SVG, PDF), which is drawn sharp at any size; ``size`` is its natural one.
    public var isVector = false
    /// What drawing a vector picture takes beside its pixels, from above. Default: nothing.
    public var drawingMemory = DrawingMemory()
    /// Smaller sizes that the file has the same picture in, each drawn for it (icons); a decoder gives one of them when its
    /// plan names it.
    public var otherSizes: [PixelSize] = []

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

    /// The size of the stored pixels, also of those that are not shown.
    public var storedSize: PixelSize { sizeBeforeCrop ?? size }

    /// The size of the upright picture.
    public var displaySize: PixelSize { orientation.displaySize(of: size) }
}

/// What the samples of a stored picture are amounts of.
public enum ColorModel: String, Hashable, Sendable, Codable {
    case gray
    case rgb
    /// Cyan, magenta, yellow and black.
    case cmyk
}

/// The memory that a library takes for drawing a vector picture, beside that of the pixels it gives.
public struct DrawingMemory: Hashable, Sendable, Codable {
    /// Bytes for each pixel of the drawing.
    public var bytesPerPixel: Double
    /// Bytes that do not depend on how large it is drawn.
    public var fixed: ByteCount

    public init(bytesPerPixel: Double = 0, fixed: ByteCount = .zero) {
        self.bytesPerPixel = bytesPerPixel
        self.fixed = fixed
    }

    /// What a drawing of so many pixels takes.
    public func bytes(at size: PixelSize) -> ByteCount {
        let pixels = Double(size.pixelCount ?? .max)
        let total = bytesPerPixel * pixels + Double(fixed.bytes)
        return ByteCount(total < 0x1p62 ? Int(total) : 1 << 62)
    }
}
