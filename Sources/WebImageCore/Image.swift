import Synchronization

/// A decoded picture. A small value over shared, unchanging memory: copies are free and any thread may use it.
public struct Image: Sendable {
    package final class Storage: Sendable {
        package let pixels: PixelBuffer
        package let info: Info
        package let animation: ImageAnimation?
        /// What is known of the answer that it was decoded from, by whoever loaded it; means nothing to this room.
        package let origin: (any ImageOrigin)?
        /// Under which settings of the downloader the picture was last found to be what its request brings; `max` for one that
        /// has no origin, and so is good under all.
        private let judgement: Atomic<Int>

        package init(
            pixels: PixelBuffer, info: Info, animation: ImageAnimation?, origin: (any ImageOrigin)? = nil
        ) {
            self.pixels = pixels
            self.info = info
            self.animation = animation
            self.origin = origin
            judgement = Atomic(origin == nil ? .max : -1)
        }

        package func isJudged(under settings: Int) -> Bool {
            let known = judgement.load(ordering: .relaxed)
            return known == settings || known == .max
        }

        package func judge(under settings: Int) { judgement.store(settings, ordering: .relaxed) }
    }

    /// What is known of a picture besides its pixels.
    public struct Info: Sendable, Hashable {
        /// The format that it was decoded from; nil for a picture that was drawn.
        public var format: ImageFormat? { header?.format }
        public var alpha: AlphaMode
        /// How the pixels must still be turned to be upright; ``Orientation/up`` once the turn was applied.
        public var orientation: Orientation
        /// The size of the picture in its file, before scaling and turning.
        public var originalSize: PixelSize? { header?.size }
        /// What the file that it was decoded from says of itself; nil for a picture that was drawn.
        public var header: ImageHeader?
        /// True for a picture that was drawn from shapes (SVG, PDF) at the size that was asked for.
        public var isVector: Bool { header?.isVector ?? false }
        /// The ICC profile that the pixels are in; nil means sRGB, unless there is a ``colorDescription``.
        public var iccProfile: [UInt8]?
        /// The colours of pixels of high dynamic range, which no profile describes well; nil for all others.
        public var colorDescription: ColorDescription?
        /// EXIF, XMP and density: those of the file, unless they were replaced. What they say of orientation, size and
        /// colours is corrected when the picture is written.
        public var metadata: ImageMetadata
        /// True for a picture of which a part is missing: a preview, or what came before the data ended.
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

    /// A picture whose pixels `fill` writes, row by row from the top.
    ///
    /// - Parameters:
    ///   - size: the size of the picture in pixels.
    ///   - layout: how a pixel lies in memory.
    ///   - alpha: what the fourth channel means.
    ///   - fill: gets `size.height` rows of `size.width * layout.bytesPerPixel` zeroed bytes to write.
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
    /// All frames of an animated picture, of which this is the first; nil for stills, and when only the first was asked
    /// for.
    public var animation: ImageAnimation? { storage.animation }

    /// The size of the pixels as they lie in memory.
    public var size: PixelSize { storage.pixels.size }
    /// The size as it should be shown: ``size`` after ``Info/orientation``.
    public var displaySize: PixelSize { info.orientation.displaySize(of: size) }
    public var layout: PixelLayout { storage.pixels.layout }
    public var alpha: AlphaMode { info.alpha }
    /// What the picture costs in memory: its pixels, its metadata, and an animation's encoded bytes.
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

    /// The same picture as the first frame of an animation.
    package func with(animation: ImageAnimation?) -> Image {
        Image(Storage(pixels: pixels, info: info, animation: animation, origin: storage.origin))
    }

    /// The same picture, with what is known of the answer that it was decoded from.
    package func with(origin: (any ImageOrigin)?) -> Image {
        Image(Storage(pixels: pixels, info: info, animation: animation, origin: origin))
    }
}

/// What a picture in memory keeps of where it came from.
package protocol ImageOrigin: AnyObject, Sendable {}
