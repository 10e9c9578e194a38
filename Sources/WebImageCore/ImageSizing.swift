/// How a picture is fitted to a requested size.
public enum ImageFit: String, Hashable, Sendable, Codable, CaseIterable {
    /// Fits inside the size and keeps the aspect ratio (the default).
    case contain
    /// Fills the size, keeps the aspect ratio, and crops around the centre.
    case cover
    /// Stretches the picture to exactly the size.
    case fill
}

/// A requested size, in display orientation; a side that is not given follows from the aspect ratio.
///
/// Vector pictures are drawn at the fitting size, even if it is larger than their natural size and whatever ``upscale``
/// says, since they stay sharp.
public struct TargetSize: Hashable, Sendable, Codable {
    /// The width in pixels, or nil if it is not given; values below 1 become nil.
    public var width: Int? { didSet { width = Self.given(width) } }
    /// The height in pixels, or nil if it is not given; values below 1 become nil.
    public var height: Int? { didSet { height = Self.given(height) } }
    public var fit: ImageFit
    /// Whether the result may be larger than the original. Default false.
    public var upscale: Bool

    /// - Parameters:
    ///   - width: in pixels; values below 1 count as not given.
    ///   - height: in pixels; values below 1 count as not given.
    ///   - fit: how the picture is fitted to the size.
    ///   - upscale: whether the result may be larger than the original.
    public init(width: Int? = nil, height: Int? = nil, fit: ImageFit = .contain, upscale: Bool = false) {
        self.width = Self.given(width)
        self.height = Self.given(height)
        self.fit = fit
        self.upscale = upscale
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            width: try values.decodeIfPresent(Int.self, forKey: .width),
            height: try values.decodeIfPresent(Int.self, forKey: .height),
            fit: try values.decode(ImageFit.self, forKey: .fit),
            upscale: try values.decode(Bool.self, forKey: .upscale))
    }

    private static func given(_ side: Int?) -> Int? { side.flatMap { $0 > 0 ? $0 : nil } }

    public init(_ size: PixelSize, fit: ImageFit = .contain, upscale: Bool = false) {
        self.init(width: size.width, height: size.height, fit: fit, upscale: upscale)
    }
}
