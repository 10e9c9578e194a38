import Synchronization
public import WebImageCore
import WebImageProcessing
import WebImageSystem

/// The coders that read and write pictures; the one that was registered last is asked first. Any thread may use and
/// change it; a decode that has begun keeps its coder.
public final class CoderRegistry: Sendable {
    /// The registry of managers that are not given another one: the coders of this build.
    public static let standard = CoderRegistry()

    /// The coders of this build, in the order in which they are asked.
    public static var builtIn: [any ImageCoder] {
        var coders: [any ImageCoder] = [
            JPEGCoder(), PNGCoder(), WebPCoder(), GIFCoder(), BMPCoder(), ICOCoder(), QOICoder(), PNMCoder(),
        ]
        #if AVIF
            coders.append(AVIFCoder())
        #endif
        #if HEIF
            coders.append(HEIFCoder())
            coders.append(HEICSequenceCoder())
        #endif
        #if JXL
            coders.append(JXLCoder())
        #endif
        #if TIFF
            coders.append(TIFFCoder())
        #endif
        #if SVG
            coders.append(SVGCoder())
        #endif
        #if PDF
            coders.append(PDFCoder())
        #endif
        return coders
    }

    private final class Stored: Sendable {
        let coders: Guarded<[any ImageCoder]>

        init(_ coders: [any ImageCoder]) { self.coders = Guarded(coders) }
    }

    private let stored: Stored
    /// Runs the isolated decoders; nil: they run in this process.
    private let pool: DecoderPool?

    /// Makes converters to sRGB for pictures that are encoded. Profiles with tables are read where pictures are decoded.
    var converter: Image.MakeConverter {
        guard let pool else { return Image.makeConverterHere }
        return { (colors, layout) throws(WebImageError) in try pool.converter(for: colors, layout) }
    }

    /// - Parameter coders: the coders, in the order in which they are asked.
    public init(_ coders: [any ImageCoder] = CoderRegistry.builtIn) {
        stored = Stored(coders)
        pool = nil
    }

    private init(_ stored: Stored, _ pool: DecoderPool) {
        self.stored = stored
        self.pool = pool
    }

    /// Makes a registry that shares these coders, including later changes, and runs their decoders and encoders where
    /// the pool's policy says.
    package func isolated(by pool: DecoderPool) -> CoderRegistry {
        pool.isolation.formats == .none ? self : CoderRegistry(stored, pool)
    }

    /// Makes a registry of the coders of this build that read any of these formats. A program that only needs JPEG then
    /// has no other decoders that could be attacked.
    ///
    ///     let manager = ImageManager(coders: CoderRegistry(reading: [.jpeg, .png]))
    public convenience init(reading formats: Set<ImageFormat>) {
        self.init(Self.builtIn.filter { !$0.decodableFormats.isDisjoint(with: formats) })
    }

    /// The coders, in the order in which they are asked.
    public var coders: [any ImageCoder] { stored.coders.withLock { $0 } }

    /// All formats that one of the coders reads, sorted by name.
    public var decodableFormats: [ImageFormat] {
        Set(coders.flatMap(\.decodableFormats)).sorted { $0.rawValue < $1.rawValue }
    }

    /// All formats that one of the coders writes, sorted by name.
    public var encodableFormats: [ImageFormat] {
        Set(coders.flatMap(\.encodableFormats)).sorted { $0.rawValue < $1.rawValue }
    }

    /// Adds a coder, which is asked before all others. There may be several coders of the same type.
    public func register(_ coder: any ImageCoder) {
        stored.coders.withLock { $0.insert(coder, at: 0) }
    }

    /// Removes all coders of a type.
    public func remove<Coder: ImageCoder>(_ type: Coder.Type) {
        stored.coders.withLock { coders in coders.removeAll { $0 is Coder } }
    }

    /// Returns the coder for a picture that begins with `prefix`, and whose format is `format` if it was recognised.
    ///
    /// - Throws: `unknownFormat` when the format of the bytes is unknown, `formatNotBuilt` when no coder here reads it;
    ///   the message says what to do.
    public func coder(
        for format: ImageFormat?, prefix: UnsafeRawBufferPointer
    ) throws(WebImageError) -> any ImageCoder {
        if let coder = coders.first(where: { $0.canDecode(format, prefix: prefix) }) {
            return pool?.isolating(coder) ?? coder
        }
        guard let format else {
            throw WebImageError(.unknownFormat, UnknownBytes.describe(prefix) + unaskedCoders)
        }
        throw WebImageError(
            .formatNotBuilt, "there is no decoder for \(format.rawValue)\(Self.advice(for: format))",
            format: format)
    }

    /// For error messages: names the registered coders of formats without a signature, which only a request can choose.
    /// Empty if there are none.
    private var unaskedCoders: String {
        let formats = decodableFormats.filter { !$0.isRecognised }.map(\.rawValue)
        guard !formats.isEmpty else { return "" }
        return
            "; coders are registered for \(formats.joined(separator: ", ")), which no signature tells: they are asked "
            + "when ImageRequest.decoding.formatHint names the format, ImageRequest.decoding.coder is the coder, or its "
            + "canDecode(_:prefix:) knows the bytes"
    }

    /// Advice for error messages about a format without a coder, to be appended to the statement that there is none.
    ///
    /// - Parameters:
    ///   - isWriting: whether an encoder is missing, and not a decoder.
    ///   - builtIn: the coders of this build.
    package static func advice(
        for format: ImageFormat, isWriting: Bool = false, among builtIn: [any ImageCoder] = builtIn
    ) -> String {
        if builtIn.contains(where: { (isWriting ? $0.encodableFormats : $0.decodableFormats).contains(format) }) {
            return " in the CoderRegistry that is used; this build has one"
        }
        guard let trait = format.trait, !isWriting || format.has(.encoder) else { return " in this version" }
        let isOn = builtIn.contains { $0.decodableFormats.contains(format) }
        return isOn
            ? " in this version, also with the package trait \(trait)"
            : "; turn on the package trait \(trait) (or AllFormats)"
    }

    /// Returns the coder that writes `format` with `options`.
    ///
    /// - Throws: `formatNotBuilt` when no coder here writes it, `cannotEncode` when the options ask for lossless
    ///   encoding and the format does not support it.
    public func encoder(
        for format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> any ImageCoder {
        let coder = try encoder(for: format)
        guard !options.isLossless || coder.losslessFormats.contains(written(format)) else {
            let able = Set(coders.flatMap(\.losslessFormats)).map(\.rawValue).sorted().joined(separator: ", ")
            throw WebImageError(
                .cannotEncode, "\(format.rawValue) cannot be lossless in this build; these can: \(able)", format: format
            )
        }
        return coder
    }

    /// Returns the coder that writes `format`. An AVIF sequence is written by the coder for AVIF.
    ///
    /// - Throws: `formatNotBuilt` when no coder here does.
    public func encoder(for format: ImageFormat) throws(WebImageError) -> any ImageCoder {
        let written = written(format)
        if let coder = coders.first(where: { $0.encodableFormats.contains(written) }) {
            return pool?.isolating(coder) ?? coder
        }
        throw WebImageError(
            .formatNotBuilt,
            "there is no encoder for \(format.rawValue)\(Self.advice(for: written, isWriting: true))",
            format: format)
    }

    /// The format as which `format` is written: AVIF for an AVIF sequence, unless a coder writes that by itself.
    func written(_ format: ImageFormat) -> ImageFormat {
        guard format == .avifSequence, !coders.contains(where: { $0.encodableFormats.contains(format) }) else {
            return format
        }
        return .avif
    }
}
