import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The part of a picture that a window shows, and its zoom. All lengths of the window are in pixels of the screen.
struct Viewport: Equatable {
    /// The size of the original, upright.
    let picture: PixelSize
    /// The size of the window.
    private(set) var window: PixelSize
    /// The number of pixels of the screen along each side of a pixel of the picture.
    private(set) var zoom = 1.0
    /// The point of the picture that is in the middle of the window.
    private(set) var center: (x: Double, y: Double)
    /// Whether the picture is fitted to the window, also when the window's size changes.
    private(set) var isFitted = true

    static let largestZoom = 32.0
    /// The factor by which one step changes the zoom.
    static let step = 1.25
    /// The distance that fingers move on a touchpad for one step, in logical pixels.
    private static let pixelsPerStep = 40.0

    init(picture: PixelSize, window: PixelSize) {
        self.picture = picture
        self.window = window
        center = (Double(picture.width) / 2, Double(picture.height) / 2)
        fit()
    }

    static func == (one: Self, other: Self) -> Bool {
        one.picture == other.picture && one.window == other.window && one.zoom == other.zoom
            && one.center == other.center && one.isFitted == other.isFitted
    }

    /// The zoom at which the whole picture is visible; at most 1.
    var fittingZoom: Double {
        guard !picture.isEmpty, !window.isEmpty else { return 1 }
        let (across, down) = (
            Double(window.width) / Double(picture.width), Double(window.height) / Double(picture.height)
        )
        return min(across, down, 1)
    }

    mutating func fit() {
        zoom = fittingZoom
        isFitted = true
        center = (Double(picture.width) / 2, Double(picture.height) / 2)
    }

    mutating func resize(to window: PixelSize) {
        self.window = window
        if isFitted { fit() } else { keepInside() }
    }

    /// Changes the zoom, so that a point of the window keeps showing the same point of the picture.
    ///
    /// - Parameters:
    ///   - zoom: the new zoom, which is kept between ``fittingZoom`` and ``largestZoom``.
    ///   - point: the point of the window; nil for the middle.
    mutating func setZoom(_ zoom: Double, about point: (x: Double, y: Double)? = nil) {
        let zoom = min(max(zoom, fittingZoom), Self.largestZoom)
        let (dx, dy) = point.map { ($0.x - Double(window.width) / 2, $0.y - Double(window.height) / 2) } ?? (0, 0)
        let held = (x: center.x + dx / self.zoom, y: center.y + dy / self.zoom)
        self.zoom = zoom
        center = (held.x - dx / zoom, held.y - dy / zoom)
        isFitted = zoom <= fittingZoom
        keepInside()
    }

    /// The factor by which scrolling changes the zoom. Wheels and touchpads report steps and fractions of steps.
    ///
    /// - Parameters:
    ///   - distance: the distance by which the user scrolled down.
    ///   - isInPixels: whether the distance is in logical pixels, and not in steps of a wheel.
    static func factor(ofScrolling distance: Double, isInPixels: Bool) -> Double {
        pow(step, -(isInPixels ? distance / pixelsPerStep : distance))
    }

    /// Moves the picture by pixels of the screen.
    mutating func pan(_ dx: Double, _ dy: Double) {
        center = (center.x - dx / zoom, center.y - dy / zoom)
        keepInside()
    }

    /// The position of the whole picture in the window, in pixels of the screen; on whole pixels if the zoom is 1 or
    /// more.
    var placed: PixelRect { placed(PixelRect(picture)) }

    /// The position of a part of the picture in the window.
    func placed(_ part: PixelRect) -> PixelRect {
        let (x, y) = (Double(window.width) / 2 - center.x * zoom, Double(window.height) / 2 - center.y * zoom)
        return PixelRect(
            x: x.rounded() + part.x * zoom, y: y.rounded() + part.y * zoom, width: part.width * zoom,
            height: part.height * zoom)
    }

    /// The visible part, in pixels of the picture.
    var visiblePart: PixelRect {
        let (width, height) = (Double(window.width) / zoom, Double(window.height) / zoom)
        let left = max(center.x - width / 2, 0)
        let top = max(center.y - height / 2, 0)
        return PixelRect(
            x: left, y: top, width: max(min(center.x + width / 2, Double(picture.width)) - left, 0),
            height: max(min(center.y + height / 2, Double(picture.height)) - top, 0))
    }

    /// The size in which a picture that cannot be decoded in parts must be decoded; nil if the decoded one has enough
    /// pixels. Vector pictures are drawn again in any size, up to that of a large screen. All frames of an animation
    /// have the same size, which is at most that of the original.
    ///
    /// - Parameter whole: the size to which the picture was decoded.
    func enlargedSize(of whole: PixelSize, isVector: Bool) -> PixelSize? {
        let most = 4096.0
        let (width, height) = (Double(picture.width), Double(picture.height))
        let zoom = min(zoom, isVector ? most / max(width, height) : 1)
        // The longer sides are compared. A short one may be rounded by more than 5 %, and would never be long enough.
        guard Double(max(whole.width, whole.height)) < max(width, height) * zoom * 0.95 else { return nil }
        return PixelSize(width: Int((width * zoom).rounded(.up)), height: Int((height * zoom).rounded(.up)))
    }

    /// Limits the empty space to that around a picture that is smaller than the window.
    private mutating func keepInside() {
        func kept(_ place: Double, _ length: Int, _ room: Int) -> Double {
            let half = Double(room) / zoom / 2
            return half * 2 >= Double(length) ? Double(length) / 2 : min(max(place, half), Double(length) - half)
        }
        center = (kept(center.x, picture.width, window.width), kept(center.y, picture.height, window.height))
    }
}
