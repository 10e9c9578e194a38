package import WebImageCore

/// How libvips scales a picture down while it decodes it for imgproxy. imgproxy crops the decoded picture, so that the
/// positions and lengths of a crop are whole pixels of that smaller picture.
package enum ImgproxyShrinking: Hashable, Sendable {
    /// By 2, 4 or 8. The rest of an incomplete last block is dropped.
    case jpeg
    /// To any size.
    case webp

    /// - Returns: nil for formats whose decoder does not scale.
    package init?(_ header: ImageHeader) {
        switch header.format {
        case .jpeg: self = .jpeg
        case .webp where header.frameCount == 1: self = .webp
        default: return nil
        }
    }

    /// The picture that imgproxy crops.
    struct Decoded: Hashable, Sendable {
        var size: PixelSize
        /// The number of source pixels for each pixel, from left to right.
        var across: Double
        var down: Double
    }

    /// - Parameter scale: the factors by which the source is scaled in all.
    /// - Returns: nil if the source is not scaled down.
    func decoded(_ source: PixelSize, scale: (x: Double, y: Double)) -> Decoded? {
        func shrink(_ side: Int, _ scale: Double) -> Double {
            Double(side) / Double(ImgproxyGeometry.round(Double(side) * scale))
        }
        let most = min(shrink(source.width, scale.x), shrink(source.height, scale.y))
        switch self {
        case .jpeg:
            guard let block = [8, 4, 2].first(where: { most >= Double($0) }) else { return nil }
            let size = PixelSize(width: max(source.width / block, 1), height: max(source.height / block, 1))
            return Decoded(size: size, across: Double(block), down: Double(block))
        case .webp:
            guard most > 1, most.isFinite else { return nil }
            let size = PixelSize(
                width: max(ImgproxyGeometry.even(Double(source.width) * (1 / most)), 1),
                height: max(ImgproxyGeometry.even(Double(source.height) * (1 / most)), 1))
            return Decoded(
                size: size, across: Double(source.width) / Double(size.width),
                down: Double(source.height) / Double(size.height))
        }
    }
}

extension ImgproxyGeometry {
    /// The part of the source that remains if imgproxy crops the picture after its decoder has scaled it; otherwise
    /// nil.
    ///
    /// - Parameter isReversed: whether the directions are those of the file.
    func partOfDecoded(
        _ layout: Layout, isReversed: (x: Bool, y: Bool)
    ) -> (x: Int, y: Int, size: PixelSize)? {
        guard let decoded = layout.decoded else { return nil }
        // Offsets in pixels are scaled too.
        func offset(_ value: Double, _ source: Int, _ decoded: Int) -> Double {
            value.magnitude < 1 || cropPlace.kind == .focusPoint
                ? value : Double(Self.even(value / (Double(source) / Double(decoded))))
        }
        let place = Place(
            cropPlace.kind, x: offset(cropPlace.x, layout.source.width, decoded.size.width),
            y: offset(cropPlace.y, layout.source.height, decoded.size.height))
        let start = Self.position(
            of: layout.decodedCrop, in: decoded.size, place, dpr: 1, isReversed: isReversed)
        func span(
            _ start: Int, _ length: Int, of decoded: Int, _ source: Int, _ pitch: Double, _ isReversed: Bool
        ) -> (start: Int, length: Int) {
            let first = isReversed ? decoded - start - length : start
            let low = min(Self.round(Double(first) * pitch), source - 1)
            let high = min(max(Self.round(Double(first + length) * pitch), low + 1), source)
            return (isReversed ? source - high : low, high - low)
        }
        let across = span(
            start.x, layout.decodedCrop.width, of: decoded.size.width, layout.source.width, decoded.across, isReversed.x
        )
        let down = span(
            start.y, layout.decodedCrop.height, of: decoded.size.height, layout.source.height, decoded.down,
            isReversed.y)
        return (across.start, down.start, PixelSize(width: across.length, height: down.length))
    }
}
