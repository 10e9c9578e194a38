public import WebImageCore

/// The colours of a picture: the average, the dominant one and a palette, for backgrounds and placeholders.
///
///     let colors = try ImageColors(of: image)
///     if let dominant = colors.dominant { view.background = dominant }
///
/// The colours are those of the first frame in sRGB. A half-transparent pixel counts half, a transparent one does not
/// count. The same pixels always give the same colours.
public struct ImageColors: Hashable, Sendable {
    /// A colour, and its share of the picture.
    public struct Swatch: Hashable, Sendable {
        public let color: RGBColor
        /// The share of the picture's visible pixels, 0 to 1.
        public let share: Double
    }

    /// How many colours a palette has at most: 64.
    private static let most = 64
    /// The size of the palette whose first colour is the dominant one.
    private static let usual = 5

    /// The mean of the pixels' stored values; nil if all pixels are transparent. libvips and imgproxy compute the same
    /// when they scale a picture to one pixel. ``BlurHash/averageColor`` is the mean in linear light, and is brighter.
    public let average: RGBColor?
    /// The mean of the largest of five groups of similar colours; nil if all pixels are transparent.
    public let dominant: RGBColor?
    /// Groups of similar colours, each with its mean, the largest first. There are fewer groups than requested if the
    /// picture does not have that many visibly different colours, and none if all pixels are transparent.
    public let palette: [Swatch]

    /// Computes the colours from every pixel.
    ///
    /// - Parameters:
    ///   - image: a picture of any size, depth and alpha.
    ///   - count: the most colours of the palette. Default 5; values below 1 count as 1, values over 64 as 64.
    /// - Throws: `limitExceeded` when there is no memory.
    /// - Complexity: one pass over the pixels, 12 million in some 30 ms, and some milliseconds for a palette of a
    ///   picture with many colours. 1 MiB of memory, and that of a copy of a picture that must be converted to sRGB.
    public init(of image: Image, count: Int = 5) throws(WebImageError) {
        let bins = try ColorBins(image).bins
        average = ColorBins.mean(of: bins)
        let count = min(max(count, 1), Self.most)
        palette = Self.palette(bins, count: count)
        dominant = (count == Self.usual ? palette : Self.palette(bins, count: Self.usual)).first?.color
    }

    private static func palette(_ bins: [ColorBins.Bin], count: Int) -> [Swatch] {
        let total = bins.reduce(0) { $0 + $1.weight }
        let swatches = ColorClusters(bins, count: count).groups.compactMap { group in
            ColorBins.mean(of: group).map { Swatch(color: $0, share: group.reduce(0) { $0 + $1.weight } / total) }
        }
        // Equal shares stay in the order in which they were found, so that the order is deterministic.
        return swatches.enumerated().sorted { ($1.element.share, $0.offset) < ($0.element.share, $1.offset) }
            .map(\.element)
    }
}
