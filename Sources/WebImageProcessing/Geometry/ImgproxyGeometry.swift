public import WebImageCore

/// The geometry of imgproxy, with the same sizes and positions to the pixel: its options `rs`, `el`, `mw`, `mh`, `z`,
/// `dpr`, `g`, `c`, `ex`, `exar`, `pd`, `rot`, `fl` and `max_result_dimension`, by their names in its documentation.
///
/// ``ImageTransform/imgproxy(_:)`` turns, crops and scales. ``ImageTransform/imgproxyCanvas(_:)`` does the steps after
/// filters: `extend`, `extend_aspect_ratio` and `padding`.
public struct ImgproxyGeometry: Hashable, Sendable, Codable {
    /// `resizing_type`: how the picture is brought to ``width`` and ``height``.
    public enum Resizing: String, Hashable, Sendable, Codable, CaseIterable {
        /// The picture keeps its aspect ratio and fits into the size.
        case fit
        /// The picture keeps its aspect ratio and fills the size; the rest is cut off.
        case fill
        /// As ``fill``. If the picture is smaller than the size and is not enlarged, the result has the aspect ratio of
        /// the size.
        case fillDown = "fill-down"
        /// The picture gets the size, also with another aspect ratio.
        case force
        /// ``fill`` if the picture and the size are both upright or both wide, otherwise ``fit``.
        case auto
    }

    /// `gravity`: a place, and an offset from it.
    public struct Place: Hashable, Sendable, Codable {
        /// The place: the middle, an edge, a corner, or a part of the picture.
        public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
            /// The middle.
            case center = "ce"
            /// The top edge, in the middle.
            case north = "no"
            /// The bottom edge, in the middle.
            case south = "so"
            /// The right edge, in the middle.
            case east = "ea"
            /// The left edge, in the middle.
            case west = "we"
            /// The top right corner.
            case northEast = "noea"
            /// The top left corner.
            case northWest = "nowe"
            /// The bottom right corner.
            case southEast = "soea"
            /// The bottom left corner.
            case southWest = "sowe"
            /// Around the point ``Place/x``, ``Place/y``.
            case focusPoint = "fp"
            /// The part that catches the eye (``Gravity/smart``).
            case smart = "sm"
        }

        /// The place.
        public var kind: Kind
        /// The horizontal offset: from 1 on in pixels, which are multiplied by ``ImgproxyGeometry/dpr``, below that as a
        /// fraction of the width. It counts from the right edge to the left for the places at that edge, otherwise to
        /// the right. For a focus point, its position as a fraction of the width from the left edge.
        public var x: Double
        /// The vertical offset, as ``x``: upwards from the bottom edge for the places at that edge, otherwise downwards.
        /// For a focus point, its position as a fraction of the height from the top edge.
        public var y: Double

        /// Makes a place, without an offset by default.
        public init(_ kind: Kind = .center, x: Double = 0, y: Double = 0) {
            (self.kind, self.x, self.y) = (kind, x, y)
        }
    }

    /// How the picture is brought to ``width`` and ``height``. Default ``Resizing/fit``.
    public var resizing = Resizing.fit
    /// The width in pixels, before ``zoomX`` and ``dpr``; 0, the default, means that it follows from the other side.
    public var width = 0
    /// The height in pixels, before ``zoomY`` and ``dpr``; 0, the default, means that it follows from the other side.
    public var height = 0
    /// The least width in pixels, before ``dpr``: a picture that would become narrower is scaled up to it, and may then
    /// be higher than ``height``. 0, the default, means none.
    public var minWidth = 0
    /// The least height in pixels, as ``minWidth``.
    public var minHeight = 0
    /// The factor by which the width is multiplied. Default 1.
    public var zoomX = 1.0
    /// The factor by which the height is multiplied. Default 1.
    public var zoomY = 1.0
    /// The number of pixels of the screen along each side of a logical pixel: the factor for sizes, for ``padding`` and
    /// for offsets in pixels. Without ``enlarge`` it is reduced where the picture would be enlarged. Default 1.
    public var dpr = 1.0
    /// Whether a picture that is smaller than the size is enlarged. Default false.
    public var enlarge = false
    /// Which part is kept when the rest is cut off. Default the middle.
    public var gravity = Place()
    /// The width of the crop: from 1 on in pixels, below that as a fraction of the side; 0 means the whole width.
    public var cropWidth = 0.0
    /// The height of the crop, as ``cropWidth``.
    public var cropHeight = 0.0
    /// The gravity of the crop; nil means ``gravity``.
    public var cropGravity: Place?
    /// Whether a result that is smaller than the size is put on a canvas of that size. Default false.
    public var extend = false
    /// Where the picture is on that canvas. Default the middle.
    public var extendGravity = Place()
    /// Whether the result is put on a canvas that has the aspect ratio of the size. Default false.
    public var extendAspectRatio = false
    /// Where the picture is on that canvas. Default the middle.
    public var extendAspectRatioGravity = Place()
    /// The padding around the canvas in pixels, before ``dpr``. Default none.
    public var padding = EdgeLengths()
    /// The longest side of the result in pixels; 0 means no limit.
    public var maxResultDimension = 0
    /// The most pixels that are drawn of a vector picture (SVG, PDF). A larger picture counts as one with this number
    /// of pixels, and is not drawn larger without ``enlarge``. 0 means no limit.
    public var maxDrawnPixels = 0
    /// The rotation in quarter turns, clockwise.
    public var rotation = 0
    /// Whether left and right are exchanged, after the rotation. Default false.
    public var flipsHorizontally = false
    /// Whether top and bottom are exchanged, after the rotation. Default false.
    public var flipsVertically = false

    /// Makes a geometry that changes nothing.
    public init() {}

    /// The sizes of a picture at each step.
    public struct Layout: Hashable, Sendable {
        /// The size of the source; for a vector picture that is too large, the reduced size.
        public var source: PixelSize
        /// The size of the part of the source that is kept before scaling.
        public var crop: PixelSize
        /// The size after scaling.
        public var scaled: PixelSize
        /// The size of the part that is kept after scaling.
        public var kept: PixelSize
        /// The size of the canvas; not smaller than ``kept``.
        public var canvas: PixelSize
        /// The padding around the canvas.
        public var padding: EdgeLengths
        /// The factor by which lengths in pixels are multiplied.
        public var dpr: Double
        /// The source as imgproxy crops it, if its decoder scales, and the size of the part that is kept of it.
        var decoded: ImgproxyShrinking.Decoded?
        var decodedCrop = PixelSize(width: 0, height: 0)

        /// The size of the result.
        public var output: PixelSize {
            PixelSize(
                width: canvas.width + padding.left + padding.right, height: canvas.height + padding.top + padding.bottom
            )
        }
    }

    /// - Parameters:
    ///   - source: the size of the picture after applying its orientation and rotation.
    ///   - isVector: whether the picture can be enlarged without loss.
    public func layout(for source: PixelSize, isVector: Bool = false) -> Layout {
        layout(for: source, isVector: isVector, shrinking: nil)
    }

    /// - Parameters:
    ///   - source: the size of the picture after applying its orientation and rotation.
    ///   - header: the header of the picture's file. If imgproxy's decoder scales the format down, as for JPEG and
    ///     WebP, its crops are rounded to whole pixels of the decoded picture, and so are these.
    public func layout(for source: PixelSize, of header: ImageHeader) -> Layout {
        layout(for: source, isVector: header.isVector, shrinking: ImgproxyShrinking(header))
    }

    /// - Parameter shrinking: how imgproxy's decoder scales the picture down; nil if it does not.
    package func layout(for source: PixelSize, isVector: Bool, shrinking: ImgproxyShrinking?) -> Layout {
        ImgproxyLayout(self, source, isVector: isVector, shrinking: shrinking).layout
    }

    /// The position of a part in a picture, or of a picture on a canvas.
    ///
    /// - Parameters:
    ///   - dpr: the factor for offsets in pixels.
    ///   - isReversed: whether positions are rounded as seen from the other side.
    static func position(
        of part: PixelSize, in whole: PixelSize, _ place: Place, dpr: Double,
        isReversed: (x: Bool, y: Bool) = (false, false)
    ) -> (x: Int, y: Int) {
        func offset(_ value: Double, _ side: Int) -> Int {
            even(value.magnitude >= 1 ? value * dpr : Double(side) * value)
        }
        func start(
            _ side: Int, _ length: Int, _ isStart: Bool, _ isEnd: Bool, _ value: Double, _ isReversed: Bool
        ) -> Int {
            let room = side - length
            let start: Int
            if place.kind == .focusPoint {
                let near = even(Double(side) * (isReversed ? 1 - value : value)) - length / 2
                start = isReversed ? room - near : near
            } else if isStart {
                start = offset(value, side)
            } else if isEnd {
                start = room - offset(value, side)
            } else {
                let middle = even(Double(room + 1) * 0.5)
                start = (isReversed ? room - middle : middle) + offset(value, side)
            }
            return min(max(start, 0), max(room, 0))
        }
        let name = place.kind.rawValue
        return (
            start(
                whole.width, part.width, name.hasSuffix("we"), name.hasSuffix("ea"), place.x, isReversed.x),
            start(
                whole.height, part.height, name.hasPrefix("no"), name.hasPrefix("so"), place.y, isReversed.y)
        )
    }

    /// The nearest integer, halves to even; within the range of sides.
    static func even(_ value: Double) -> Int {
        Int(min(max(value.isFinite ? value.rounded(.toNearestOrEven) : 0, -0x1p40), 0x1p40))
    }

    static func round(_ value: Double) -> Int {
        Int(min(max(value.isFinite ? value.rounded(.toNearestOrAwayFromZero) : 0, 0), 0x1p40))
    }
}

/// The calculation, step by step as in imgproxy.
private struct ImgproxyLayout {
    private let options: ImgproxyGeometry
    private let shrinking: ImgproxyShrinking?
    private let part: (width: Double, height: Double)
    private var shrink: (x: Double, y: Double) = (1, 1)
    /// The inverse scale, rounded as in imgproxy.
    private var scale: (x: Double, y: Double) = (1, 1)
    private var dpr: Double
    /// The size of the result before libvips rounds.
    private var foreseen = PixelSize(width: 0, height: 0)
    private(set) var layout: ImgproxyGeometry.Layout

    init(_ options: ImgproxyGeometry, _ original: PixelSize, isVector: Bool, shrinking: ImgproxyShrinking?) {
        (self.options, self.shrinking) = (options, shrinking)
        let drawnPixels = isVector && options.maxDrawnPixels > 0 ? Double(options.maxDrawnPixels) : .infinity
        let factor = Self.factor(Double(original.width) * Double(original.height), drawnPixels)
        let source = PixelSize(
            width: max(ImgproxyGeometry.round(Double(original.width) * factor), 1),
            height: max(ImgproxyGeometry.round(Double(original.height) * factor), 1))
        func side(_ wanted: Double, _ side: Int) -> Int {
            if wanted == 0 { return side }
            let length = wanted >= 1 ? Int(min(wanted, 0x1p40)) : max(1, ImgproxyGeometry.round(Double(side) * wanted))
            return min(length, side)
        }
        let crop = PixelSize(
            width: side(options.cropWidth, source.width), height: side(options.cropHeight, source.height))
        part = (Double(crop.width), Double(crop.height))
        dpr = options.dpr
        layout = .init(
            source: source, crop: crop, scaled: crop, kept: crop, canvas: crop, padding: EdgeLengths(), dpr: 1)
        shrink(isVector: isVector)
        if !options.enlarge {
            let factor = Self.factor(part.width * part.height * scale.x * scale.y, drawnPixels)
            scale = (scale.x * factor, scale.y * factor)
        }
        layOut()
        if options.maxResultDimension > 0 { limit() }
    }

    private mutating func shrink(isVector: Bool) {
        let wanted = (width: Double(options.width), height: Double(options.height))
        shrink = (wanted.width > 0 ? part.width / wanted.width : 1, wanted.height > 0 ? part.height / wanted.height : 1)
        if shrink != (1, 1) { unite(wanted) }
        shrink = (shrink.x / options.zoomX, shrink.y / options.zoomY)
        if !options.enlarge, !isVector {
            let least = min(shrink.x, shrink.y)
            if least < 1 {
                shrink = (shrink.x / least, shrink.y / least)
                if !options.extend { dpr /= least }
            }
            dpr = min(dpr, shrink.x, shrink.y)
        }
        let most = (x: part.width / Double(options.minWidth), y: part.height / Double(options.minHeight))
        if options.minWidth > 0, most.x < shrink.x { shrink = (most.x, shrink.y / (shrink.x / most.x)) }
        if options.minHeight > 0, most.y < shrink.y { shrink = (shrink.x / (shrink.y / most.y), most.y) }
        scale = (1 / min(shrink.x / dpr, part.width), 1 / min(shrink.y / dpr, part.height))
    }

    private mutating func unite(_ wanted: (width: Double, height: Double)) {
        var resizing = options.resizing
        if resizing == .auto {
            let target = (
                wanted.width > 0 ? wanted.width : part.width, wanted.height > 0 ? wanted.height : part.height
            )
            resizing = (part.width - part.height >= 0) == (target.0 - target.1 >= 0) ? .fill : .fit
        }
        guard resizing != .force else { return }
        if wanted.width == 0 { shrink.x = shrink.y }
        if wanted.height == 0 { shrink.y = shrink.x }
        let both = resizing == .fit ? max(shrink.x, shrink.y) : min(shrink.x, shrink.y)
        shrink = (both, both)
    }

    private mutating func layOut() {
        let round = ImgproxyGeometry.round
        let target = PixelSize(
            width: round(Double(options.width) * (dpr * options.zoomX)),
            height: round(Double(options.height) * (dpr * options.zoomY)))
        let scaled = PixelSize(
            width: max(round(part.width * scale.x), 1), height: max(round(part.height * scale.y), 1))
        var kept = target
        if options.resizing == .fillDown, !options.enlarge {
            let over = (
                x: Double(target.width) / Double(scaled.width), y: Double(target.height) / Double(scaled.height)
            )
            if over.x > over.y, over.x > 1 {
                kept = PixelSize(width: scaled.width, height: Self.share(scaled.width, target.height, target.width))
            } else if over.y > over.x, over.y > 1 {
                kept = PixelSize(width: Self.share(scaled.height, target.width, target.height), height: scaled.height)
            }
        }
        func less(_ one: Int, _ other: Int) -> Int { one == 0 ? other : min(one, other) }
        let result = PixelSize(width: less(kept.width, scaled.width), height: less(kept.height, scaled.height))
        // The least sizes of the canvas.
        var least = options.extend ? [target] : []
        if options.extendAspectRatio, target.width > 0, target.height > 0 {
            let (across, down) = (
                Double(target.width) / Double(result.width), Double(target.height) / Double(result.height)
            )
            if down > across {
                least.append(
                    PixelSize(
                        width: result.width, height: Self.share(result.width, target.height, target.width)))
            } else if down < across {
                least.append(
                    PixelSize(
                        width: Self.share(result.height, target.width, target.height), height: result.height))
            }
        }
        func canvas(of picture: PixelSize) -> PixelSize {
            least.reduce(picture) { PixelSize(width: max($0.width, $1.width), height: max($0.height, $1.height)) }
        }
        func room(_ length: Int) -> Int { ImgproxyGeometry.even(Double(length) * dpr) }
        // The size may differ by one pixel from the foreseen one, for two reasons: imgproxy foresees it by multiplying
        // where libvips divides, and imgproxy rounds crops after its decoder has scaled.
        let made = cropAndScale()
        layout.scaled = made
        layout.kept = PixelSize(width: less(kept.width, made.width), height: less(kept.height, made.height))
        layout.canvas = canvas(of: layout.kept)
        layout.padding = EdgeLengths(
            top: room(options.padding.top), right: room(options.padding.right), bottom: room(options.padding.bottom),
            left: room(options.padding.left))
        layout.dpr = dpr
        let whole = canvas(of: result)
        foreseen = PixelSize(
            width: whole.width + layout.padding.left + layout.padding.right,
            height: whole.height + layout.padding.top + layout.padding.bottom)
    }

    /// - Returns: the size after cropping and scaling.
    private mutating func cropAndScale() -> PixelSize {
        layout.decoded = layout.crop == layout.source ? nil : shrinking?.decoded(layout.source, scale: scale)
        guard let decoded = layout.decoded else {
            return PixelSize(width: Self.shrunk(part.width, scale.x), height: Self.shrunk(part.height, scale.y))
        }
        func side(_ part: Double, _ source: Int, _ decoded: Int, _ scale: Double) -> (crop: Int, made: Int) {
            let factor = Double(source) / Double(decoded)
            let crop = min(max(ImgproxyGeometry.round(part / factor), 1), decoded)
            let isDone = ImgproxyGeometry.round(Double(decoded) * (factor * scale)) == decoded
            return (crop, isDone ? crop : Self.shrunk(Double(crop), factor * scale))
        }
        let across = side(part.width, layout.source.width, decoded.size.width, scale.x)
        let down = side(part.height, layout.source.height, decoded.size.height, scale.y)
        layout.decodedCrop = PixelSize(width: across.crop, height: down.crop)
        return PixelSize(width: across.made, height: down.made)
    }

    /// Scales everything down until the longest side of the result is within the limit.
    private mutating func limit() {
        let longest = max(foreseen.width, foreseen.height)
        guard longest > options.maxResultDimension else { return }
        let factor = Double(options.maxResultDimension) / Double(longest)
        scale = (max(scale.x * factor, 1 / part.width), max(scale.y * factor, 1 / part.height))
        dpr *= factor
        layOut()
    }

    /// The factor for both sides with which the number of pixels is allowed.
    private static func factor(_ pixels: Double, _ most: Double) -> Double {
        pixels > most ? (most / pixels).squareRoot() : 1
    }

    /// The length of a side after scaling, at least 1.
    private static func shrunk(_ side: Double, _ scale: Double) -> Int {
        guard scale < 1 else { return max(ImgproxyGeometry.round(side * scale), 1) }
        // A geometry that was not checked may have any factors.
        let shrunk = (side / (1 / scale) + 0.5).rounded(.down)
        return shrunk > 1 ? Int(min(shrunk, 0x1p40)) : 1
    }

    /// The length of a part after scaling; 0 if it is less than half a pixel, so that nothing is cut off.
    private static func share(_ side: Int, _ part: Int, _ whole: Int) -> Int {
        ImgproxyGeometry.round(Double(side) * (Double(part) / Double(whole)))
    }
}
