import WebImageCore

/// A rectangle of whole pixels on a canvas.
struct PixelRegion: Hashable {
    var x = 0
    var y = 0
    var width = 0
    var height = 0

    var isEmpty: Bool { width <= 0 || height <= 0 }
    var size: PixelSize { PixelSize(width: width, height: height) }

    /// All of a canvas.
    static func all(of size: PixelSize) -> PixelRegion { PixelRegion(width: size.width, height: size.height) }

    /// The smallest region with all pixels of a canvas for which `isIn` holds; it is called with their indices, row by
    /// row.
    @inline(__always)
    static func bounds(on canvas: PixelSize, of isIn: (Int) -> Bool) -> PixelRegion {
        var (left, right, top, bottom) = (canvas.width, 0, 0, 0)
        for row in 0..<canvas.height {
            let start = row &* canvas.width
            var first = 0
            while first < canvas.width, !isIn(start &+ first) { first &+= 1 }
            guard first < canvas.width else { continue }
            var last = canvas.width &- 1
            while !isIn(start &+ last) { last &-= 1 }
            if bottom == 0 { top = row }
            (left, right, bottom) = (min(left, first), max(right, last &+ 1), row &+ 1)
        }
        return bottom == 0 ? PixelRegion() : PixelRegion(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The smallest region that contains both.
    func union(_ other: PixelRegion) -> PixelRegion {
        if isEmpty { return other }
        if other.isEmpty { return self }
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelRegion(
            x: left, y: top, width: max(x + width, other.x + other.width) - left,
            height: max(y + height, other.y + other.height) - top)
    }

    /// This region, or one pixel if it is empty, because formats have no empty frames.
    var orOnePixel: PixelRegion { isEmpty ? PixelRegion(width: 1, height: 1) : self }
}
