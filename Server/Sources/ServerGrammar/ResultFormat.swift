public import WebImage

/// A format that a URL can ask for.
public enum ResultFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg, png, webp, avif, gif, jxl, heic, tiff, bmp, ico, svg

    /// The formats that only clients get whose `Accept` field names them, best first.
    public static let negotiated: [ResultFormat] = [.jxl, .avif, .webp]

    /// - Parameter name: as in URLs: lower case; `jpg` is the same as `jpeg`.
    public init?(name: some StringProtocol) {
        self.init(rawValue: name == "jpg" ? "jpeg" : String(name))
    }

    public var imageFormat: ImageFormat { ImageFormat(rawValue: rawValue) }

    /// As in imgproxy, that of HEIC is HEIF's.
    public var mediaType: String {
        (self == .heic ? .heif : imageFormat).mimeType ?? "application/octet-stream"
    }

    public var fileExtension: String { imageFormat.fileExtension }

    public var holdsAlpha: Bool { !imageFormat.isOpaque }

    public var holdsAnimation: Bool { self == .gif || self == .webp }

    /// Whether a lower quality makes a shorter file.
    public var hasQuality: Bool { [.jpeg, .webp, .avif, .heic, .jxl, .tiff].contains(self) }
}
