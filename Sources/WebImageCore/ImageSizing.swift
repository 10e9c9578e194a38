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
    public var width: Int?
    public var height: Int?
    public var fit: ImageFit
    /// Whether the result may be larger than the original. Default false.
    public var upscale: Bool

    /// - Parameters:
    ///   - width: in pixels; values below 1 count as not given.
    ///   - height: in pixels; values below 1 count as not given.
    ///   - fit: how the picture is fitted to the size.
    ///   - upscale: whether the result may be larger than the original.
    public init(width: Int? = nil, height: Int? = nil, fit: ImageFit = .contain, upscale: Bool = false) {
        self.width = width.flatMap { $0 > 0 ? $0 : nil }
        self.height = height.flatMap { $0 > 0 ? $0 : nil }
        self.fit = fit
        self.upscale = upscale
    }

    public init(_ size: PixelSize, fit: ImageFit = .contain, upscale: Bool = false) {
        self.init(width: size.width, height: size.height, fit: fit, upscale: upscale)
    }
}
