/// How a picture is made to meet a size that is asked for.
public enum ImageFit: String, Hashable, Sendable, Codable, CaseIterable {
    /// Fits inside, aspect kept (the default).
    case contain
    /// Fills, aspect kept, what is over cropped in the centre.
    case cover
    /// Stretched to exactly the size.
    case fill
}

/// A size that is asked for, in display orientation; a side that is not given follows from the aspect.
///
/// Vector pictures are drawn at the size that they fit, also when it is larger than their natural one, whatever
/// ``upscale`` says: nothing gets blurred by it.
public struct TargetSize: Hashable, Sendable, Codable {
    public var width: Int?
    public var height: Int?
    public var fit: ImageFit
    /// Whether the result may be larger than the original. Default false.
    public var upscale: Bool

    /// - Parameters:
    ///   - width: in pixels; values below 1 count as not given.
    ///   - height: in pixels; values below 1 count as not given.
    ///   - fit: how to meet the size.
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
