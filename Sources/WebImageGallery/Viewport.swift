import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Which part of a picture a window shows, and how large. All lengths of the window are pixels of the screen.
struct Viewport: Equatable {
    /// The size of the original, upright.
    let picture: PixelSize
    /// The size of the window.
    private(set) var window: PixelSize
    /// How many pixels of the screen one of the picture's takes.
    private(set) var zoom = 1.0
    /// The point of the picture that is in the middle of the window.
    private(set) var center: (x: Double, y: Double)
    /// Whether the picture is as large as the window has room for, and stays so when the window changes.
    private(set) var isFitted = true

    static let largestZoom = 32.0
    /// How much one step changes the zoom.
    static let step = 1.25
    /// How far fingers on a touchpad move for one step, in logical pixels.
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

    /// The zoom at which all of the picture is seen; no more than 1.
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

    /// Changes the zoom; a point of the window goes on showing the same point of the picture.
    ///
    /// - Parameters:
    ///   - zoom: kept between that at which all is seen and ``largestZoom``.
    ///   - point: nil: the middle.
    mutating func setZoom(_ zoom: Double, about point: (x: Double, y: Double)? = nil) {
        let zoom = min(max(zoom, fittingZoom), Self.largestZoom)
        let (dx, dy) = point.map { ($0.x - Double(window.width) / 2, $0.y - Double(window.height) / 2) } ?? (0, 0)
        let held = (x: center.x + dx / self.zoom, y: center.y + dy / self.zoom)
        self.zoom = zoom
        center = (held.x - dx / zoom, held.y - dy / zoom)
        isFitted = zoom <= fittingZoom
        keepInside()
    }

    /// By how much scrolling changes the zoom. Wheels and touchpads tell of steps and of parts of steps.
    ///
    /// - Parameters:
    ///   - distance: how far it was scrolled down.
    ///   - isInPixels: whether that is in logical pixels, and not in steps of a wheel.
    static func factor(ofScrolling distance: Double, isInPixels: Bool) -> Double {
        pow(step, -(isInPixels ? distance / pixelsPerStep : distance))
    }

    /// Moves the picture by pixels of the screen.
    mutating func pan(_ dx: Double, _ dy: Double) {
        center = (center.x - dx / zoom, center.y - dy / zoom)
        keepInside()
    }

    /// Where all of the picture lies in the window, in pixels of the screen; at a zoom of 1 or more on whole pixels.
    var placed: PixelRect { placed(PixelRect(picture)) }

    /// Where a part of the picture lies in the window.
    func placed(_ part: PixelRect) -> PixelRect {
        let (x, y) = (Double(window.width) / 2 - center.x * zoom, Double(window.height) / 2 - center.y * zoom)
        return PixelRect(
            x: x.rounded() + part.x * zoom, y: y.rounded() + part.y * zoom, width: part.width * zoom,
            height: part.height * zoom)
    }

    /// The part of the picture that is seen, in its own pixels.
    var visiblePart: PixelRect {
        let (width, height) = (Double(window.width) / zoom, Double(window.height) / zoom)
        let left = max(center.x - width / 2, 0)
        let top = max(center.y - height / 2, 0)
        return PixelRect(
            x: left, y: top, width: max(min(center.x + width / 2, Double(picture.width)) - left, 0),
            height: max(min(center.y + height / 2, Double(picture.height)) - top, 0))
    }

    /// In which size all of a picture is to be decoded that cannot be had in parts; nil where what there is has enough pixels.
    /// Vector pictures are drawn anew in any size, and animations have all their frames in one: as much as a large screen
    /// shows, and for animations no more than they have.
    ///
    /// - Parameter whole: the size to which it was decoded.
    func enlargedSize(of whole: PixelSize, isVector: Bool) -> PixelSize? {
        let most = 4096.0
        let (width, height) = (Double(picture.width), Double(picture.height))
        let zoom = min(zoom, isVector ? most / max(width, height) : 1)
        // By the longer sides: a short one is rounded by more than that, and would never be long enough.
        guard Double(max(whole.width, whole.height)) < max(width, height) * zoom * 0.95 else { return nil }
        return PixelSize(width: Int((width * zoom).rounded(.up)), height: Int((height * zoom).rounded(.up)))
    }

    /// No more empty space than a picture smaller than the window has.
    private mutating func keepInside() {
        func kept(_ place: Double, _ length: Int, _ room: Int) -> Double {
            let half = Double(room) / zoom / 2
            return half * 2 >= Double(length) ? Double(length) / 2 : min(max(place, half), Double(length) - half)
        }
        center = (kept(center.x, picture.width, window.width), kept(center.y, picture.height, window.height))
    }
}
