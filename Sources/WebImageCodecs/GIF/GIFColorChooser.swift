/// Chooses the palette of each frame of a GIF.
///
/// Up to 256 colours are kept exactly. For more, an earlier palette is reused if it fits: that is faster, and unchanged
/// areas do not flicker.
struct GIFColorChooser {
    struct Choice {
        var palette: GIFPalette
        var indices: [UInt8]
    }

    /// How much the mean distance to a palette may grow, as a factor and as an absolute value (15 is one level of all
    /// channels).
    private static let tolerance = 1.25
    private static let allowance = 4.0

    private let dithers: Bool
    /// Whether frames follow, which need a transparent entry.
    private let isAnimated: Bool
    /// The first frame's palette, which is the global one of the file, and the last one.
    private(set) var first: GIFPalette?
    private var last: GIFPalette?

    init(dithers: Bool, isAnimated: Bool) {
        self.dithers = dithers
        self.isAnimated = isAnimated
    }

    /// - Parameters:
    ///   - drawn: the pixels of the frame, 0 where the canvas shows through.
    ///   - shown: the resulting canvas, 0 where it is transparent.
    ///   - isCleared: whether the frame's area is cleared afterwards. It then has a transparent entry, because some
    ///   readers otherwise fill the area with a colour.
    mutating func choose(
        _ drawn: UnsafeBufferPointer<UInt32>, shown: UnsafeBufferPointer<UInt32>, isCleared: Bool, width: Int
    ) -> Choice {
        let choice = exact(drawn, shown, isCleared) ?? near(drawn, width)
        if first == nil { first = choice.palette }
        last = choice.palette
        return choice
    }

    private func exact(
        _ drawn: UnsafeBufferPointer<UInt32>, _ shown: UnsafeBufferPointer<UInt32>, _ isCleared: Bool
    ) -> Choice? {
        guard let colors = ColorTable.colors(of: drawn) else { return nil }
        let hasHoles = drawn.contains(0)
        for known in [last, first] {
            guard let known, !hasHoles && !isCleared || known.transparentIndex != nil,
                colors.colors.allSatisfy({ known.table.number(of: $0) != nil })
            else { continue }
            return Choice(palette: known, indices: known.exactIndices(of: drawn))
        }
        if colors.colors.count == ColorTable.most, isCleared { return nil }
        if colors.colors.count == ColorTable.most, hasHoles {
            // No entry is left for transparency, but the unchanged pixels can be drawn again.
            guard !shown.contains(0), let all = ColorTable.colors(of: shown) else { return nil }
            let palette = GIFPalette(NearestColor.sorted(all.colors), hasTransparency: false)
            return Choice(palette: palette, indices: palette.exactIndices(of: shown))
        }
        let wantsTransparency = hasHoles || isAnimated && colors.colors.count < ColorTable.most
        let palette = GIFPalette(NearestColor.sorted(colors.colors), hasTransparency: wantsTransparency)
        return Choice(palette: palette, indices: palette.exactIndices(of: drawn))
    }

    private func near(_ drawn: UnsafeBufferPointer<UInt32>, _ width: Int) -> Choice {
        let bins = ColorBins(drawn)
        let palette = known(for: bins) ?? fresh(for: bins, hasTransparency: isAnimated || drawn.contains(0))
        return Choice(palette: palette, indices: palette.nearestIndices(of: drawn, width: width, dithers: dithers))
    }

    /// An earlier palette that is hardly worse for these colours than for its own.
    private func known(for bins: ColorBins) -> GIFPalette? {
        for known in [last, first] {
            guard let known, known.meanDistance > 0, known.transparentIndex != nil else { continue }
            let distance = bins.meanDistance(to: known.nearest)
            if distance <= known.meanDistance * Self.tolerance + Self.allowance { return known }
        }
        return nil
    }

    private func fresh(for bins: ColorBins, hasTransparency: Bool) -> GIFPalette {
        let colors = ColorQuantizer.colors(of: bins, count: ColorTable.most - (hasTransparency ? 1 : 0))
        return GIFPalette(colors, hasTransparency: hasTransparency, of: bins)
    }
}
