public import WebImageCore
import WebImageProcessing

/// Reads and writes the pictures of one or more formats.
///
/// A coder has no state, and many threads use it at once. Each decoder that it makes belongs to one picture, and is
/// used by one thread at a time.
public protocol ImageCoder: Sendable {
    /// Identifies the coder among coders that make other pixels from the same bytes. It is part of the cache keys of
    /// requests that name the coder. A coder with options must include them. Default: the name of its type.
    var key: String { get }

    /// The formats that the coder reads.
    var decodableFormats: Set<ImageFormat> { get }
    /// The formats that the coder writes.
    var encodableFormats: Set<ImageFormat> { get }

    /// Whether the coder reads a picture that begins with `prefix`, and whose format is `format` if it was recognised.
    func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool

    /// The whole numbers by which a decode can divide the sides of such a picture at less cost than a full decode, in
    /// rising order, 1 first. The divided sides are rounded up.
    func scaleDenominators(for header: ImageHeader) -> [Int]

    /// The least factor by which both sides of a picture that is divided by `denominator` must exceed those of the
    /// final picture, so that this is as good as after a full decode. Default 3.
    func scalingMargin(for header: ImageHeader, denominator: Int) -> Double

    /// Whether a decode is one long call of a library, which cannot be interrupted when the decode is cancelled or its
    /// time is over. Such decodes begin when all bytes have arrived, and never take all threads. Default false.
    var decodesInOneCall: Bool { get }

    /// Whether decoding begins only when all bytes have arrived, because the parts of a file may be in any order. The
    /// bytes are then not collected twice. Default false.
    var needsWholeFile: Bool { get }

    /// Whether the time of a decode depends only on the number of pixels, so that a small picture with one scan cannot
    /// take long, whatever its bytes are. If the bytes are available, the calling task then decodes it itself, and no
    /// other thread is woken. Default false.
    var timeDependsOnlyOnPixels: Bool { get }

    /// Whether the coder uses ``DecodeOptions/page``. Default false: there is one page.
    var readsPages: Bool { get }

    /// Makes a decoder for one picture.
    ///
    /// - Parameters:
    ///   - options: limits, depth, and the checkpoint that is called between pieces of work.
    ///   - plan: called once, from within `push`, when the header is known. It returns where the rows go and at which
    ///     scale. If it throws, the decode ends and `push` throws that error.
    func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder

    /// The formats that the coder can write without loss, for ``EncodeOptions/isLossless``; none by default.
    var losslessFormats: Set<ImageFormat> { get }

    /// Encodes `image` in `format`.
    ///
    /// - Throws: `cannotEncode` when the format cannot hold such a picture.
    func encode(_ image: Image, as format: ImageFormat, _ options: EncodeOptions) throws(WebImageError) -> [UInt8]

    /// Makes a decoder for the frames of an animation; nil (the default) for coders without animations.
    func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)?

    /// Makes an encoder for an animation in `format`; nil (the default) if it holds only stills.
    ///
    /// - Throws: `cannotEncode` when the format cannot hold such an animation.
    func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)?

    /// Makes an encoder for several pictures in one file of `format`; nil (the default) if it has no pages.
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

    public var timeDependsOnlyOnPixels: Bool { false }
    public var readsPages: Bool { false }

    public func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool {
        format.map { decodableFormats.contains($0) } ?? false
    }

    public func scaleDenominators(for header: ImageHeader) -> [Int] { [1] }
    public func scalingMargin(for header: ImageHeader, denominator: Int) -> Double { ResizePlan.qualityMargin }

    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        throw WebImageError(.cannotEncode, "there is no encoder for \(format.rawValue)", format: format)
    }
}

/// Decides, when the header of a picture is known, where its rows go and at which scale it is decoded.
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
    /// The size of the resulting rows, in pixels.
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

    /// The limits of the decode. Default ``/WebImageCore/DecodeLimits/default``.
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
    /// The idle threads that help if a picture can be decoded in parts. A decoding process has its own threads: as many
    /// as are idle here when it gets the picture.
    package var idleThreads: (any IdleThreads)?
    /// Whether the plan will ask only for the header. Another process then gets the first bytes at once, because most
    /// formats have their header there, even if it would need all bytes for the pixels.
    package var isForHeader = false

    public init(
        limits: DecodeLimits = .default, keepsBitDepth: Bool = false,
        checkpoint: (@Sendable () throws(WebImageError) -> Void)? = nil
    ) {
        self.limits = limits
        self.keepsBitDepth = keepsBitDepth
        self.checkpoint = checkpoint
    }

    /// The layout of the decoded pixels of a picture with `bits` bits a channel.
    func layout(ofBits bits: Int) -> PixelLayout { keepsBitDepth && bits > 8 ? .rgba16 : .rgba8 }
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
    /// The header, as soon as the first bytes contain it. More may become known later: a PNG's orientation can come
    /// last.
    var header: ImageHeader? { get }

    /// Whether further bytes may add information to ``header`` that needs no decoding: the number of frames that are
    /// still being counted, or an orientation after the picture. Such a decoder accepts bytes even after it has stopped
    /// at the header. Default false.
    var mayExtendHeader: Bool { get }

    /// Whether metadata may follow the picture. A decoder that has stopped at the header finds it in further bytes, but
    /// unlike for ``mayExtendHeader``, only bytes that have already arrived are worth reading. Default false.
    var mayFindLateMetadata: Bool { get }

    /// Whether the decoder calls the checkpoint often enough by itself, however many bytes it gets at once. If all
    /// bytes are available, they then come in one push, and can be read in place. Default false: they come in pieces of
    /// at most 128 KiB.
    var acceptsLongPushes: Bool { get }

    /// How many bytes the decoder prefers to get at once. Available bytes that arrived in smaller pieces are copied
    /// together up to this length. Default 0: the decoder gets the pieces as they arrived.
    var preferredPushLength: Int { get }

    /// Decodes the next bytes: asks for the plan when the header is known, and writes complete rows to the plan's sink.
    /// `bytes` may be empty.
    ///
    /// - Throws: `corruptData`, `limitExceeded`, `unsupportedFeature`, and the errors of plan, sink and checkpoint.
    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState

    /// Ends the input, and gives the sink the rows that can still be decoded.
    ///
    /// - Throws: `truncatedData` if the picture is not complete: the sink then has a part of it, or, for a progressive
    ///   picture, all of it with less detail. Also the errors of `push`.
    func finish() throws(WebImageError)

    /// Renders the whole picture as far as it is known, for progressive formats. Nil if there is nothing new to show,
    /// and for formats whose rows come only once, which are in the sink.
    func preview() throws(WebImageError) -> PixelBuffer?
}

extension ImageDecoder {
    public var mayExtendHeader: Bool { false }
    public var mayFindLateMetadata: Bool { false }
    public var acceptsLongPushes: Bool { false }
    public var preferredPushLength: Int { 0 }

    public func preview() throws(WebImageError) -> PixelBuffer? { nil }
}
