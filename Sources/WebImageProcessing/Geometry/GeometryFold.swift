package import WebImageCore

/// Consecutive crops, one scaling and turns, combined into a part of the source, a size, and a final turn.
///
/// A crop before the scaling hides the removed pixels from the filter, as if it had been done separately; a crop after
/// the scaling does not.
package struct GeometryFold: Sendable, Hashable {
    let source: PixelSize
    /// The final turn. All other properties describe the turned source.
    private(set) var turn = Orientation.up
    /// The whole pixels that the filter may use.
    private(set) var view: PixelRect
    /// The shown part of the view.
    private(set) var part: PixelRect
    /// The size that the part becomes.
    private(set) var size: PixelSize
    private(set) var filter = ResampleFilter.lanczos3
    private(set) var isScaled = false
    /// The turn of the source by the file's orientation tag.
    let orientation: Orientation
    /// Whether the source is drawn in any size without loss.
    let isVector: Bool
    let shrinking: ImgproxyShrinking?

    /// - Parameter source: the original size.
    package init(
        source: PixelSize, orientation: Orientation = .up, isVector: Bool = false, shrinking: ImgproxyShrinking? = nil
    ) {
        self.source = source
        self.orientation = orientation
        self.isVector = isVector
        self.shrinking = shrinking
        view = PixelRect(source)
        part = PixelRect(source)
        size = source
    }

    var isIdentity: Bool { turn == .up && !isScaled && part == PixelRect(source) }

    /// Crops the current picture to whole pixels.
    mutating func crop(x: Int, y: Int, to kept: PixelSize) {
        let across = part.width / Double(size.width)
        let down = part.height / Double(size.height)
        part = PixelRect(
            x: part.x + Double(x) * across, y: part.y + Double(y) * down, width: Double(kept.width) * across,
            height: Double(kept.height) * down)
        size = kept
        if !isScaled { view = part }
    }

    /// Scales a part of the current picture, which need not be whole pixels.
    ///
    /// - Precondition: nothing was scaled before.
    mutating func scale(_ wanted: PixelRect?, to size: PixelSize, filter: ResampleFilter) {
        precondition(!isScaled, "a pass scales the picture only once")
        if let wanted {
            part = PixelRect(
                x: part.x + wanted.x, y: part.y + wanted.y, width: wanted.width, height: wanted.height)
        }
        isScaled =
            part.width != Double(size.width) || part.height != Double(size.height)
            || part.x != part.x.rounded() || part.y != part.y.rounded()
        if !isScaled { view = part }
        self.size = size
        self.filter = filter
    }

    mutating func turn(by orientation: Orientation) {
        let before = turn.displaySize(of: source)
        view = orientation.displayRect(of: view, stored: before)
        part = orientation.displayRect(of: part, stored: before)
        size = orientation.displaySize(of: size)
        turn = turn.followed(by: orientation)
    }
}

extension Orientation {
    /// The turn that reverses this one.
    package var inverse: Orientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }

    /// Whether the horizontal and vertical directions of a displayed picture with that size are reversed in storage.
    func reverses(_ shown: PixelSize) -> (x: Bool, y: Bool) {
        let corner = displayRect(of: PixelRect(x: 0, y: 0, width: 1, height: 1), stored: storedSize(of: shown))
        return (corner.x > 0, corner.y > 0)
    }

    /// The combination of both turns, this one first.
    package func followed(by next: Orientation) -> Orientation {
        // The eight turns place this rectangle differently.
        let stored = PixelSize(width: 5, height: 7)
        let mark = PixelRect(x: 1, y: 2, width: 1, height: 1)
        let between = displaySize(of: stored)
        let wanted = next.displayRect(of: displayRect(of: mark, stored: stored), stored: between)
        let last = next.displaySize(of: between)
        return Self.allCases.first { candidate in
            candidate.displaySize(of: stored) == last && candidate.displayRect(of: mark, stored: stored) == wanted
        } ?? .up
    }

    /// A rectangle of the stored picture (of size `stored`), in coordinates of the upright one.
    package func displayRect(of rect: PixelRect, stored: PixelSize) -> PixelRect {
        inverse.storedRect(of: rect, stored: displaySize(of: stored))
    }
}
