/// A format that a URL can ask for.
public enum ResultFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg, png, webp, avif, gif, jxl, heic, tiff, bmp, ico, svg

    /// - Parameter name: as in URLs: lower case; `jpg` is the same as `jpeg`.
    public init?(name: some StringProtocol) {
        self.init(rawValue: name == "jpg" ? "jpeg" : String(name))
    }

    public var mediaType: String {
        switch self {
        case .heic: "image/heif"
        case .ico: "image/x-icon"
        case .svg: "image/svg+xml"
        default: "image/" + rawValue
        }
    }

    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    public var holdsAlpha: Bool { self != .jpeg }

    public var holdsAnimation: Bool { self == .gif || self == .webp }

    /// Whether a lower quality makes a shorter file.
    public var hasQuality: Bool { [.jpeg, .webp, .avif, .heic, .jxl, .tiff].contains(self) }
}
