/// A picture format. Custom coders can define further formats.
public struct ImageFormat: RawRepresentable, Hashable, Sendable, Codable {
    /// The name used in JSON and on the command line: `"jpeg"`, `"avif-sequence"`.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let jpeg = ImageFormat(rawValue: "jpeg")
    public static let png = ImageFormat(rawValue: "png")
    public static let apng = ImageFormat(rawValue: "apng")
    public static let gif = ImageFormat(rawValue: "gif")
    public static let webp = ImageFormat(rawValue: "webp")
    public static let avif = ImageFormat(rawValue: "avif")
    public static let avifSequence = ImageFormat(rawValue: "avif-sequence")
    public static let heic = ImageFormat(rawValue: "heic")
    public static let heif = ImageFormat(rawValue: "heif")
    public static let heicSequence = ImageFormat(rawValue: "heic-sequence")
    public static let jxl = ImageFormat(rawValue: "jxl")
    public static let tiff = ImageFormat(rawValue: "tiff")
    public static let bigTIFF = ImageFormat(rawValue: "bigtiff")
    public static let bmp = ImageFormat(rawValue: "bmp")
    public static let ico = ImageFormat(rawValue: "ico")
    public static let cur = ImageFormat(rawValue: "cur")
    public static let svg = ImageFormat(rawValue: "svg")
    public static let svgz = ImageFormat(rawValue: "svgz")
    public static let qoi = ImageFormat(rawValue: "qoi")
    public static let pnm = ImageFormat(rawValue: "pnm")
    public static let pdf = ImageFormat(rawValue: "pdf")
}

extension ImageFormat {
    /// What a format and its coder can do. `FormatFactsTests` compares this with the coders.
    package enum Feature {
        /// A decoder that holds only some rows at a time.
        case rowDecoder
        /// An encoder, built if ``trait`` is on.
        case encoder
        /// A setting of the encoder for the quality.
        case quality
        /// Still pictures with more than 8 bits a channel.
        case manyBits
        /// Animations with more than 8 bits a channel, decoded and written.
        case deepFrames
        /// Code points for high dynamic range.
        case dynamicRange
        /// The format has no place for a colour profile, so that readers assume sRGB.
        case noProfile
        /// An orientation of animations that other programs honour.
        case orientedFrames
        /// The orientation is a part of the picture and not a tag: the decoders of most programs apply it unasked.
        case uprightDecoder
        /// Only opaque pixels.
        case onlyOpaquePixels
        /// Pictures that are drawn at any size.
        case vectors
    }

    private struct Facts {
        let mimeType: String
        let fileExtensions: [String]
        let features: Set<Feature>
        let trait: String?

        init(_ mimeType: String, _ fileExtensions: [String], _ features: Set<Feature> = [], trait: String? = nil) {
            self.mimeType = mimeType
            self.fileExtensions = fileExtensions
            self.features = features
            self.trait = trait
        }
    }

    /// The properties of the known formats; formats of custom coders have none.
    private static let facts: [ImageFormat: Facts] = [
        .jpeg: Facts(
            "image/jpeg", ["jpg", "jpeg", "jpe", "jfif"], [.rowDecoder, .encoder, .quality, .onlyOpaquePixels]),
        .png: Facts("image/png", ["png"], [.rowDecoder, .encoder, .manyBits, .dynamicRange]),
        .apng: Facts("image/apng", ["apng"], [.rowDecoder, .encoder, .manyBits, .dynamicRange]),
        .gif: Facts("image/gif", ["gif"], [.rowDecoder, .encoder, .noProfile]),
        .webp: Facts("image/webp", ["webp"], [.encoder, .quality, .orientedFrames]),
        .avif: Facts(
            "image/avif", ["avif"], [.encoder, .quality, .manyBits, .deepFrames, .dynamicRange, .uprightDecoder],
            trait: "AVIF"),
        .avifSequence: Facts(
            "image/avif-sequence", ["avifs"], [.deepFrames, .dynamicRange, .uprightDecoder], trait: "AVIF"),
        .heic: Facts(
            "image/heic", ["heic"], [.encoder, .quality, .manyBits, .dynamicRange, .uprightDecoder], trait: "HEIF"),
        .heif: Facts("image/heif", ["heif"], [.manyBits, .dynamicRange, .uprightDecoder], trait: "HEIF"),
        .heicSequence: Facts(
            "image/heic-sequence", ["heics"],
            [.encoder, .quality, .manyBits, .deepFrames, .dynamicRange, .uprightDecoder],
            trait: "HEIF"),
        .jxl: Facts(
            "image/jxl", ["jxl"],
            [.encoder, .quality, .manyBits, .deepFrames, .dynamicRange, .uprightDecoder, .orientedFrames],
            trait: "JXL"),
        .tiff: Facts("image/tiff", ["tiff", "tif"], [.encoder, .manyBits, .deepFrames], trait: "TIFF"),
        .bigTIFF: Facts("image/tiff", ["btf", "tf8"], [.encoder, .manyBits, .deepFrames], trait: "TIFF"),
        .bmp: Facts("image/bmp", ["bmp", "dib"], [.encoder, .noProfile]),
        .ico: Facts("image/x-icon", ["ico"], [.encoder]),
        .cur: Facts("image/x-icon", ["cur"]),
        .svg: Facts("image/svg+xml", ["svg"], [.vectors], trait: "SVG"),
        .svgz: Facts("image/svg+xml", ["svgz"], [.vectors], trait: "SVG"),
        .qoi: Facts("image/qoi", ["qoi"], [.rowDecoder, .encoder, .noProfile]),
        .pnm: Facts(
            "image/x-portable-anymap", ["pnm", "ppm", "pgm", "pbm", "pam"],
            [.rowDecoder, .encoder, .manyBits, .noProfile]),
        .pdf: Facts("application/pdf", ["pdf"], [.vectors], trait: "PDF"),
    ]

    package func has(_ feature: Feature) -> Bool { Self.facts[self]?.features.contains(feature) ?? false }

    /// The formats with an encoder in a build with all traits, sorted by name.
    package static var written: [ImageFormat] {
        facts.keys.filter { $0.has(.encoder) }.sorted { $0.rawValue < $1.rawValue }
    }

    /// The package trait for the format's coder; nil if that is always built.
    package var trait: String? { Self.facts[self]?.trait }

    /// Whether the format is recognised by its content, and is not a custom coder's own.
    package var isRecognised: Bool { Self.facts[self] != nil }

    /// The media type; nil for a format of a custom coder.
    public var mimeType: String? { Self.facts[self]?.mimeType }

    /// The usual file extension, without dot.
    public var fileExtension: String { Self.facts[self]?.fileExtensions.first ?? rawValue }

    /// The format of a file extension (in any case, without dot); nil if it is unknown.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let format = Self.facts.first(where: { $0.value.fileExtensions.contains(wanted) })?.key else {
            return nil
        }
        self = format
    }

    /// The format of a name as on the command line, which is a ``rawValue`` or a file extension; nil if it is unknown.
    public init?(name: String) {
        let wanted = ImageFormat(rawValue: name.lowercased())
        if Self.facts[wanted] != nil { self = wanted } else { self.init(fileExtension: name) }
    }

    /// True for formats that can only hold opaque pixels.
    public var isOpaque: Bool { has(.onlyOpaquePixels) }

    /// True for formats whose pictures are drawn sharp at any size.
    public var isVector: Bool { has(.vectors) }
}
