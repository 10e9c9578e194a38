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
    private struct Facts {
        let mimeType: String
        let fileExtensions: [String]
    }

    private static let facts: [ImageFormat: Facts] = [
        .jpeg: Facts(mimeType: "image/jpeg", fileExtensions: ["jpg", "jpeg", "jpe", "jfif"]),
        .png: Facts(mimeType: "image/png", fileExtensions: ["png"]),
        .apng: Facts(mimeType: "image/apng", fileExtensions: ["apng"]),
        .gif: Facts(mimeType: "image/gif", fileExtensions: ["gif"]),
        .webp: Facts(mimeType: "image/webp", fileExtensions: ["webp"]),
        .avif: Facts(mimeType: "image/avif", fileExtensions: ["avif"]),
        .avifSequence: Facts(mimeType: "image/avif-sequence", fileExtensions: ["avifs"]),
        .heic: Facts(mimeType: "image/heic", fileExtensions: ["heic"]),
        .heif: Facts(mimeType: "image/heif", fileExtensions: ["heif"]),
        .heicSequence: Facts(mimeType: "image/heic-sequence", fileExtensions: ["heics"]),
        .jxl: Facts(mimeType: "image/jxl", fileExtensions: ["jxl"]),
        .tiff: Facts(mimeType: "image/tiff", fileExtensions: ["tiff", "tif"]),
        .bigTIFF: Facts(mimeType: "image/tiff", fileExtensions: ["btf", "tf8"]),
        .bmp: Facts(mimeType: "image/bmp", fileExtensions: ["bmp", "dib"]),
        .ico: Facts(mimeType: "image/x-icon", fileExtensions: ["ico"]),
        .cur: Facts(mimeType: "image/x-icon", fileExtensions: ["cur"]),
        .svg: Facts(mimeType: "image/svg+xml", fileExtensions: ["svg"]),
        .svgz: Facts(mimeType: "image/svg+xml", fileExtensions: ["svgz"]),
        .qoi: Facts(mimeType: "image/qoi", fileExtensions: ["qoi"]),
        .pnm: Facts(mimeType: "image/x-portable-anymap", fileExtensions: ["pnm", "ppm", "pgm", "pbm", "pam"]),
        .pdf: Facts(mimeType: "application/pdf", fileExtensions: ["pdf"]),
    ]

    /// Whether it is one of those that their content tells, and not a custom coder's own.
    package var isRecognised: Bool { Self.facts[self] != nil }

    /// The media type; nil for a format of a custom coder.
    public var mimeType: String? { Self.facts[self]?.mimeType }

    /// The usual file extension, without dot.
    public var fileExtension: String { Self.facts[self]?.fileExtensions.first ?? rawValue }

    /// The format with a file extension (in any case, without dot).
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let format = Self.facts.first(where: { $0.value.fileExtensions.contains(wanted) })?.key else {
            return nil
        }
        self = format
    }

    /// The format with a name as on the command line: ``rawValue`` or a file extension.
    public init?(name: String) {
        let wanted = ImageFormat(rawValue: name.lowercased())
        if Self.facts[wanted] != nil { self = wanted } else { self.init(fileExtension: name) }
    }

    /// True for formats that can only hold opaque pixels.
    public var isOpaque: Bool { self == .jpeg }

    /// Whether its pictures are drawn at any size.
    package var isVector: Bool { self == .svg || self == .svgz || self == .pdf }
}
