/// The resolution of a picture in pixels per inch.
public struct PixelDensity: Hashable, Sendable, Codable {
    /// Pixels per inch from left to right.
    public let horizontal: Double
    /// Pixels per inch from top to bottom.
    public let vertical: Double

    /// - Returns: nil if a value is not finite, not positive, or over a million.
    public init?(horizontal: Double, vertical: Double) {
        let allowed = 0.01...1_000_000.0
        guard allowed.contains(horizontal), allowed.contains(vertical) else { return nil }
        self.horizontal = horizontal
        self.vertical = vertical
    }

    /// The same density in both directions.
    public init?(_ dotsPerInch: Double) { self.init(horizontal: dotsPerInch, vertical: dotsPerInch) }

    /// Converts pixels per metre, the unit of PNG and BMP.
    package init?(perMetre horizontal: Int, _ vertical: Int) {
        self.init(horizontal: Double(horizontal) * 0.0254, vertical: Double(vertical) * 0.0254)
    }

    /// The density after a quarter turn: horizontal and vertical exchanged.
    package var transposed: PixelDensity { Self(unchecked: vertical, horizontal) }

    private init(unchecked horizontal: Double, _ vertical: Double) {
        (self.horizontal, self.vertical) = (horizontal, vertical)
    }
}

/// The metadata in a picture's file that is not needed for decoding: EXIF, XMP, IPTC, density.
///
/// A small value over shared, immutable memory; copies are free, and any thread may use it. Pieces that were read from
/// a file are at most ``DecodeLimits/metadata`` long.
public struct ImageMetadata: Hashable, Sendable {
    private final class Storage: Sendable {
        let exif: [UInt8]?
        let xmp: [UInt8]?
        let iptc: [UInt8]?
        let density: PixelDensity?

        init(_ exif: [UInt8]?, _ xmp: [UInt8]?, _ iptc: [UInt8]?, _ density: PixelDensity?) {
            self.exif = exif
            self.xmp = xmp
            self.iptc = iptc
            self.density = density
        }
    }

    /// A single reference keeps copies of a header cheap; nil if there is no metadata.
    private var storage: Storage?

    public init(
        exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: [UInt8]? = nil, density: PixelDensity? = nil
    ) {
        set(exif, xmp, iptc, density)
    }

    /// The TIFF block of EXIF as stored, without the name that JPEG puts before it. Its orientation tag may differ from
    /// the picture's ``Image/Info-swift.struct/orientation``, which has precedence.
    public var exif: [UInt8]? {
        get { storage?.exif }
        set { set(newValue, xmp, iptc, density) }
    }

    /// The XMP packet: XML, nearly always in UTF-8.
    public var xmp: [UInt8]? {
        get { storage?.xmp }
        set { set(exif, newValue, iptc, density) }
    }

    /// The datasets of IPTC-IIM, as Photoshop puts them into JPEGs. They are read from and written to JPEG only.
    public var iptc: [UInt8]? {
        get { storage?.iptc }
        set { set(exif, xmp, newValue, density) }
    }

    /// The density from EXIF's resolution tags, otherwise from the format's own field (JFIF, `pHYs`, a bitmap's
    /// header).
    public var density: PixelDensity? {
        get { storage?.density }
        set { set(exif, xmp, iptc, newValue) }
    }

    /// The metadata of the picture after its pixels were turned as `orientation` says.
    package func turned(by orientation: Orientation) -> ImageMetadata {
        guard orientation.swapsSides, let density else { return self }
        return ImageMetadata(exif: exif, xmp: xmp, iptc: iptc, density: density.transposed)
    }

    public var isEmpty: Bool { storage == nil }

    /// The memory of EXIF, XMP and IPTC.
    package var byteCount: Int { (exif?.count ?? 0) + (xmp?.count ?? 0) + (iptc?.count ?? 0) }

    private mutating func set(_ exif: [UInt8]?, _ xmp: [UInt8]?, _ iptc: [UInt8]?, _ density: PixelDensity?) {
        let isNothing = exif == nil && xmp == nil && iptc == nil && density == nil
        storage = isNothing ? nil : Storage(exif, xmp, iptc, density)
    }

    public static func == (left: ImageMetadata, right: ImageMetadata) -> Bool {
        left.storage === right.storage
            || (left.exif == right.exif && left.xmp == right.xmp && left.iptc == right.iptc
                && left.density == right.density)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(exif)
        hasher.combine(xmp)
        hasher.combine(iptc)
        hasher.combine(density)
    }
}

// MARK: - Codable

extension PixelDensity {
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let horizontal = try values.decode(Double.self, forKey: .horizontal)
        let vertical = try values.decode(Double.self, forKey: .vertical)
        guard let density = PixelDensity(horizontal: horizontal, vertical: vertical) else {
            throw DecodingError.dataCorruptedError(
                forKey: .horizontal, in: values, debugDescription: "\(horizontal) x \(vertical) is no density")
        }
        self = density
    }
}

extension ImageMetadata: Codable {
    private enum CodingKeys: CodingKey {
        case exif, xmp, iptc, density
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            exif: try values.decodeIfPresent([UInt8].self, forKey: .exif),
            xmp: try values.decodeIfPresent([UInt8].self, forKey: .xmp),
            iptc: try values.decodeIfPresent([UInt8].self, forKey: .iptc),
            density: try values.decodeIfPresent(PixelDensity.self, forKey: .density))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(exif, forKey: .exif)
        try values.encodeIfPresent(xmp, forKey: .xmp)
        try values.encodeIfPresent(iptc, forKey: .iptc)
        try values.encodeIfPresent(density, forKey: .density)
    }
}
