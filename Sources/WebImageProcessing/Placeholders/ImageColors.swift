public import WebImageCore

/// The colours of a picture: the average, the dominant one and a palette, for what is drawn around the picture or in its
/// place.
///
///     let colors = try ImageColors(of: image)
///     if let dominant = colors.dominant { view.background = dominant }
///
/// Colours are those of the first frame in sRGB. A pixel that is half transparent counts half, one that cannot be seen not at
/// all. The same pixels always give the same colours.
public struct ImageColors: Hashable, Sendable {
    /// A colour, and how much of the picture it stands for.
    public struct Swatch: Hashable, Sendable {
        public let color: RGBColor
        /// The part of what can be seen of the picture, 0 to 1.
        public let share: Double
    }

    /// How many colours a palette has at most: 64.
    private static let most = 64
    /// The palette whose first colour is the dominant one.
    private static let usual = 5

    /// The mean of the pixels' stored values; nil when nothing can be seen. Of stored values, not of light, as what shrinks
    /// pictures to one pixel usually takes it (libvips, imgproxy); ``BlurHash/averageColor`` is that of light, which is
    /// brighter.
    public let average: RGBColor?
    /// The mean of the largest group of like colours among five; nil when nothing can be seen.
    public let dominant: RGBColor?
    /// Groups of like colours, each with its mean, the largest first. Fewer than were asked for when there are not as many
    /// colours that differ visibly; empty when nothing can be seen.
    public let palette: [Swatch]

    /// Looks at every pixel.
    ///
    /// - Parameters:
    ///   - image: a picture of any size, depth and alpha.
    ///   - count: how many colours the palette has at most. Default 5; what is below 1 counts as 1, what is over 64 as 64.
    /// - Throws: `limitExceeded` when there is no memory.
    /// - Complexity: one pass over the pixels, 12 million in some 30 ms, and some milliseconds for a palette of a picture
    ///   with many colours. 1 MiB of memory, and that of a copy of a picture that must be converted to sRGB.
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
        // Of equal shares that comes first which was found first, so that the order is always the same.
        return swatches.enumerated().sorted { ($1.element.share, $0.offset) < ($0.element.share, $1.offset) }
            .map(\.element)
    }
}
