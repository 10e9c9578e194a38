import Synchronization

/// A decoded picture: a small value over shared, immutable memory. Copies are free, and any thread may use it.
public struct Image: Sendable {
    package final class Storage: Sendable {
        package let pixels: PixelBuffer
        package let info: Info
        package let animation: ImageAnimation?
        /// The loader's record of the answer from which the picture was decoded. This module does not use it.
        package let origin: (any ImageOrigin)?
        /// The settings of the downloader under which the picture was last found to be what its request would load.
        /// `max` for a picture without an origin, which is valid under all settings.
        private let goodUnder: Atomic<Int>

        package init(
            pixels: PixelBuffer, info: Info, animation: ImageAnimation?, origin: (any ImageOrigin)? = nil
        ) {
            self.pixels = pixels
            self.info = info
            self.animation = animation
            self.origin = origin
            goodUnder = Atomic(origin == nil ? .max : -1)
        }

        package func isKnownGood(under settings: Int) -> Bool {
            let known = goodUnder.load(ordering: .relaxed)
            return known == settings || known == .max
        }

        package func noteGood(under settings: Int) { goodUnder.store(settings, ordering: .relaxed) }
    }

    /// Information about a picture besides its pixels.
    public struct Info: Sendable, Hashable {
        /// The format that the picture was decoded from; nil for a picture that was drawn.
        public var format: ImageFormat? { header?.format }
        public var alpha: AlphaMode
        /// How the pixels must be turned to be upright; ``Orientation/up`` if the orientation has been applied.
        public var orientation: Orientation
        /// The size of the picture in its file, before scaling and turning.
        public var originalSize: PixelSize? { header?.size }
        /// The header of the file that the picture was decoded from; nil for a picture that was drawn.
        public var header: ImageHeader?
        /// True for a vector picture (SVG, PDF), which was drawn at the requested size.
        public var isVector: Bool { header?.isVector ?? false }
        /// The ICC profile of the pixels; nil means sRGB, unless there is a ``colorDescription``.
        public var iccProfile: [UInt8]?
        /// The colour space of high dynamic range pixels, which a profile does not describe well; nil for all other
        /// pixels.
        public var colorDescription: ColorDescription?
        /// EXIF, XMP, IPTC and density of the file, unless they were replaced. Their values for orientation, size and
        /// colours are corrected when the picture is written.
        public var metadata: ImageMetadata
        /// True for an incomplete picture: a preview, or the part before the data ended.
        public var isPartial: Bool

        public init(
            header: ImageHeader? = nil, alpha: AlphaMode, orientation: Orientation = .up,
            iccProfile: [UInt8]? = nil, colorDescription: ColorDescription? = nil, metadata: ImageMetadata? = nil,
            isPartial: Bool = false
        ) {
            self.header = header
            self.alpha = alpha
            self.orientation = orientation
            self.iccProfile = iccProfile
            self.colorDescription = colorDescription
            self.metadata = metadata ?? header?.metadata ?? ImageMetadata()
            self.isPartial = isPartial
        }
    }

    package let storage: Storage

    package init(_ storage: Storage) { self.storage = storage }

    package init(pixels: PixelBuffer, info: Info, animation: ImageAnimation? = nil) {
        storage = Storage(pixels: pixels, info: info, animation: animation)
    }

    /// Makes a picture whose pixels `fill` writes, row by row from the top.
    ///
    /// - Parameters:
    ///   - size: the size of the picture in pixels.
    ///   - layout: the memory layout of a pixel.
    ///   - alpha: the meaning of the fourth channel.
    ///   - fill: gets a buffer with `size.height` rows of `size.width * layout.bytesPerPixel` zeroed bytes to write.
    /// - Throws: `limitExceeded` when the size is empty or too large to address.
    public init(
        size: PixelSize, layout: PixelLayout = .rgba8, alpha: AlphaMode = .straight,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(WebImageError) {
        let pixels = try PixelBuffer(size: size, layout: layout)
        let bytes = pixels.mutableBytes
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        fill(bytes)
        self.init(pixels: pixels, info: Info(alpha: alpha))
    }

    public var pixels: PixelBuffer { storage.pixels }
    public var info: Info { storage.info }
    /// All frames of an animated picture, of which this is the first; nil for still pictures, and if only the first
    /// frame was requested.
    public var animation: ImageAnimation? { storage.animation }

    /// The size of the pixels in memory.
    public var size: PixelSize { storage.pixels.size }
    /// The size for display: ``size`` after applying ``Info/orientation``.
    public var displaySize: PixelSize { info.orientation.displaySize(of: size) }
    public var layout: PixelLayout { storage.pixels.layout }
    public var alpha: AlphaMode { info.alpha }
    /// The memory that the picture takes: its pixels, its metadata, and an animation's encoded bytes.
    public var byteCount: ByteCount {
        let besides = info.metadata.byteCount + (animation?.encodedByteCount.bytes ?? 0)
        return ByteCount(storage.pixels.byteCount.bytes + besides)
    }

    /// Reads the pixels: `size.height` rows of `pixels.bytesPerRow` bytes, laid out as ``layout`` says.
    public func withPixels<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.pixels.withBytes(body)
    }

    /// The same pixels with other information.
    package func with(_ change: (inout Info) -> Void) -> Image {
        var info = self.info
        change(&info)
        return Image(Storage(pixels: pixels, info: info, animation: animation, origin: storage.origin))
    }

    /// The same picture with another animation, of which it is the first frame; nil makes it a still picture.
    package func with(animation: ImageAnimation?) -> Image {
        Image(Storage(pixels: pixels, info: info, animation: animation, origin: storage.origin))
    }

    /// The same picture with a record of the answer from which it was decoded.
    package func with(origin: (any ImageOrigin)?) -> Image {
        Image(Storage(pixels: pixels, info: info, animation: animation, origin: origin))
    }
}

/// What a picture in memory keeps about where it came from.
package protocol ImageOrigin: AnyObject, Sendable {}
