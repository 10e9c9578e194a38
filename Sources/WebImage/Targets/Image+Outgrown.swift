import WebImageCore

extension Image {
    /// Whether an area needs more pixels, or a larger part of the original, than the picture has, and the original has
    /// more.
    ///
    /// - Parameters:
    ///   - area: the size of the area, in pixels.
    ///   - asked: the size for which the picture was decoded. A side of 0 was derived from the other one.
    ///   - fit: how the picture was fitted into that size.
    func isOutgrown(by area: PixelSize, askedSize asked: PixelSize, _ fit: ImageFit?) -> Bool {
        guard mayBeLarger else { return false }
        let width = asked.width > 0 ? asked.width : displaySize.width
        let height = asked.height > 0 ? asked.height : displaySize.height
        return area.width > width || area.height > height || fit == .cover && lacksPart(covering: area, cutTo: asked)
    }

    /// The size of the original, as it is shown.
    private var originalSize: PixelSize? {
        info.header.map { $0.orientation.displaySize(of: $0.size) }
    }

    /// Whether the original has more pixels than the picture.
    private var mayBeLarger: Bool {
        if info.isVector { return true }
        guard let original = originalSize else { return false }
        return original.width > displaySize.width || original.height > displaySize.height
    }

    /// Whether the area shows a larger part of the original, around its centre, than the one to which the picture was
    /// cut. Differences of less than a pixel of the area do not count.
    private func lacksPart(covering area: PixelSize, cutTo cut: PixelSize) -> Bool {
        guard let original = originalSize, !original.isEmpty, !area.isEmpty, !cut.isEmpty else { return false }
        func scale(_ area: PixelSize) -> Double {
            max(Double(area.width) / Double(original.width), Double(area.height) / Double(original.height))
        }
        let growth = scale(area) / scale(cut)
        return Double(area.width) > Double(cut.width) * growth + 1
            || Double(area.height) > Double(cut.height) * growth + 1
    }
}
