public import WebImageCore
import WebImageProcessing

/// Reads and writes the pictures of one or more formats.
///
/// A coder has no state, and many threads use it at once. Each decoder that it makes belongs to one picture, and is
/// used by one thread at a time.
public protocol ImageCoder: Sendable {
    /// Tells it from coders that make other pixels of the same bytes; stands in the cache keys of requests that name it.
    /// A coder that is made with options of its own puts them in here. Default: the name of its type.
    var key: String { get }

    /// What it can read.
    var decodableFormats: Set<ImageFormat> { get }
    /// What it can write.
    var encodableFormats: Set<ImageFormat> { get }

    /// Whether it reads a picture that begins with `prefix`, whose format was recognised as `format` if it was.
    func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool

    /// By which whole numbers a decode can divide the sides of such a picture at less cost than a full one, in rising
    /// order, 1 first. The divided sides are rounded up.
    func scaleDenominators(for header: ImageHeader) -> [Int]

    /// How much larger than the result a divided picture must be at least, on both sides, so that the result is as good
    /// as that of a full decode. Default 3.
    var scalingMargin: Double { get }

    /// Whether a decode is one long call of a library, which cannot be left when it is cancelled or its time is up.
    /// Such decodes begin when all bytes are there, and never take all threads. Default false.
    var decodesInOneCall: Bool { get }

    /// Whether nothing of a picture is decoded before all bytes are there, since its parts may lie in any order: they are then
    /// not put together twice. Default false.
    var needsWholeFile: Bool { get }

    /// Whether the time of a decode goes by the number of its pixels alone, so that a small picture of one scan cannot take long
    /// whatever its bytes are. A task that asks for one whose bytes are at hand then decodes it itself, and no other thread is
    /// woken. Default false.
    var timeGoesByPixels: Bool { get }

    /// Whether ``DecodeOptions/page`` is looked at. Default false: there is one page.
    var readsPages: Bool { get }

    /// A decoder for one picture.
    ///
    /// - Parameters:
    ///   - options: limits and depth, and what is called between pieces of work.
    ///   - plan: asked once, from within `push`, when the header is known: where the rows go and at which scale. What it
    ///     throws ends the decode and is thrown by that `push`.
    func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder

    /// What it can write without loss, for ``EncodeOptions/isLossless``; none by default.
    var losslessFormats: Set<ImageFormat> { get }

    /// The bytes of `image` in `format`.
    ///
    /// - Throws: `cannotEncode` when the format cannot hold such a picture.
    func encode(_ image: Image, as format: ImageFormat, _ options: EncodeOptions) throws(WebImageError) -> [UInt8]

    /// A decoder for the frames of an animation; nil (the default) from coders of stills.
    func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)?

    /// An encoder of an animation in `format`; nil (the default) where it holds stills only.
    ///
    /// - Throws: `cannotEncode` when the format cannot hold such an animation.
    func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)?

    /// An encoder of several pictures in one file of `format`; nil (the default) where it has no pages.
    func makePageEncoder(_ format: ImageFormat, _ options: EncodeOptions) throws(WebImageError) -> (any PageEncoder)?
}

extension ImageCoder {
    public func makePageEncoder(
        _ format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> (any PageEncoder)? { nil }

    public func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? { nil }

    public func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? { nil }

    public var key: String { String(reflecting: Self.self) }
    public var encodableFormats: Set<ImageFormat> { [] }
    public var losslessFormats: Set<ImageFormat> { [] }

    public var decodesInOneCall: Bool { false }
    public var needsWholeFile: Bool { false }

    public var timeGoesByPixels: Bool { false }
    public var readsPages: Bool { false }

    public func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool {
        format.map { decodableFormats.contains($0) } ?? false
    }

    public func scaleDenominators(for header: ImageHeader) -> [Int] { [1] }
    public var scalingMargin: Double { ResizePlan.qualityMargin }

    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        throw WebImageError(.cannotEncode, "there is no encoder for \(format.rawValue)", format: format)
    }
}

public typealias DecodePlanner = (ImageHeader) throws(WebImageError) -> DecodePlan

/// Where a decoder's rows go, and at which scale they are decoded. The ``sink`` is not encoded (`Codable`): it is nil
/// in a decoded plan.
public struct DecodePlan: Codable {
    private enum CodingKeys: CodingKey {
        case scaleDenominator, raster, size
    }

    /// One of the coder's ``ImageCoder/scaleDenominators(for:)``.
    public var scaleDenominator: Int
    /// The part of a vector picture (``/WebImageCore/ImageHeader/isVector``) to draw, and its size. Other coders ignore
    /// it. Default nil: the whole picture in its natural size.
    public var raster: VectorRaster?
    /// Which of ``/WebImageCore/ImageHeader/otherSizes`` is decoded. Coders of files without them ignore it. Default
    /// nil: ``/WebImageCore/ImageHeader/size``.
    public var size: PixelSize?
    /// Where the rows go. Nil: the decoder stops after the header.
    public var sink: (any RowSink)?

    public init(
        scaleDenominator: Int = 1, raster: VectorRaster? = nil, size: PixelSize? = nil, sink: (any RowSink)?
    ) {
        self.scaleDenominator = scaleDenominator
        self.raster = raster
        self.size = size
        self.sink = sink
    }
}

/// The part of a vector picture to draw, and the size of the resulting rows.
public struct VectorRaster: Hashable, Sendable, Codable {
    /// The part in pixels of the header's size; it is stretched to ``size``.
    public var part: PixelRect
    public var size: PixelSize

    public init(part: PixelRect, size: PixelSize) {
        self.part = part
        self.size = size
    }
}

/// The limits of a decoder, and the depth of its pixels. The ``checkpoint`` is not encoded (`Codable`): it is nil in
/// decoded options.
public struct DecodeOptions: Sendable, Codable {
    private enum CodingKeys: CodingKey {
        case limits, keepsBitDepth, page, usesEmbeddedThumbnail
    }

    public var limits: DecodeLimits
    /// Whether pictures with more than 8 bits a channel give 16-bit rows (`PixelLayout.rgba16`). Default false: 8 bits.
    public var keepsBitDepth: Bool
    /// The page to decode, 0 for the first, for coders of formats with pages. Default 0.
    public var page = 0
    /// Whether an embedded thumbnail is decoded in place of the picture, for coders that support it (HEIC, AVIF).
    /// Default false.
    public var usesEmbeddedThumbnail = false
    /// Called between rows and pieces of work. An error that it throws ends the decode; this is how deadlines and
    /// cancellations reach the decoder.
    public var checkpoint: (@Sendable () throws(WebImageError) -> Void)?
    /// Who helps where a picture can be decoded in parts, and nobody else wants them. A process of its own has threads of its
    /// own, as many as are idle here when it gets the picture.
    package var idleThreads: (any IdleThreads)?

    public init(
        limits: DecodeLimits = .default, keepsBitDepth: Bool = false,
        checkpoint: (@Sendable () throws(WebImageError) -> Void)? = nil
    ) {
        self.limits = limits
        self.keepsBitDepth = keepsBitDepth
        self.checkpoint = checkpoint
    }
}

/// The state of a decoder after it has been given bytes.
public enum DecodeState: Sendable {
    /// The decoder has used all bytes that it can use, and needs more.
    case needsBytes
    /// The picture is complete; further bytes are ignored.
    case complete
    /// The plan asked only for the header, which is complete.
    case stoppedAtHeader
}

/// Decodes one picture from bytes as they arrive. Not thread-safe: use it on one thread at a time.
///
/// Pushing all bytes and then calling ``finish()`` decodes a picture at once; pushing the bytes in any pieces gives the
/// same pixels. After an error the decoder must not be used again.
public protocol ImageDecoder: AnyObject {
    /// What the first bytes told, as soon as they did. May learn more later: a PNG's orientation can come last.
    var header: ImageHeader? { get }

    /// Whether bytes to come may add to ``header`` what costs no decoding: the number of frames that are still being
    /// counted, an orientation that stands behind the picture. Such a decoder takes bytes also after it stopped at the
    /// header. Default false.
    var mayLearnMore: Bool { get }

    /// Whether it calls the checkpoint often enough by itself, however many bytes come at once. Bytes that are all there then
    /// come in one push, and can be read where they are. Default false: they come in pieces of at most 128 KiB.
    var takesLongPushes: Bool { get }

    /// So many bytes are put together, by a copy, where they are there but came in smaller pieces: for a decoder that makes
    /// better use of more at once. Default 0: it gets pieces as they came.
    var preferredPushLength: Int { get }

    /// Takes the next bytes, asks for the plan when the header is known, and writes into the plan's sink the rows that
    /// are complete. Empty `bytes` are fine.
    ///
    /// - Throws: `corruptData`, `limitExceeded`, `unsupportedFeature`, and what the plan, sink and checkpoint throw.
    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState

    /// Says that no more bytes come, and gives the sink the rows that can still be had of them.
    ///
    /// - Throws: `truncatedData` when the picture is not complete: then what the sink has is a part of it, and for a
    ///   picture that comes several times, the whole of it less fine. Also what `push` throws.
    func finish() throws(WebImageError)

    /// The whole picture as far as it is known, for formats that send it several times ever finer; costs a rendering.
    /// nil when there is nothing new to show, and for formats whose rows come once (their sink has what there is).
    func preview() throws(WebImageError) -> PixelBuffer?
}

extension ImageDecoder {
    public var mayLearnMore: Bool { false }
    public var takesLongPushes: Bool { false }
    public var preferredPushLength: Int { 0 }

    public func preview() throws(WebImageError) -> PixelBuffer? { nil }
}
