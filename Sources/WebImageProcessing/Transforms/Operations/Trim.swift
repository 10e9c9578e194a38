import CPixels
public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Cuts off margins of one colour. A picture that is all margin is not changed. Transparent pixels count as
    /// magenta; single odd pixels are ignored (a 3 by 3 median, as in libvips' `find_trim` and imgproxy). All frames of
    /// an animation are trimmed like the first one.
    ///
    /// - Parameters:
    ///   - threshold: how far a component may differ from the margin's colour, of 255. Default 10.
    ///   - color: the colour of the margins. Default nil: that of the pixel at the top left.
    ///   - equalHorizontally: whether the same width is cut off left and right, the lesser of the two. Default false.
    ///   - equalVertically: whether the same height is cut off at top and bottom, the lesser of the two. Default false.
    ///   - asImgproxy: whether to trim like imgproxy: animations are not changed, and the top left pixel and the sides
    ///     are those of the stored picture, before its orientation is applied. This works only as the first step.
    ///     Default false.
    public static func trim(
        threshold: Double = 10, color: RGBColor? = nil, equalHorizontally: Bool = false, equalVertically: Bool = false,
        asImgproxy: Bool = false
    ) -> ImageTransform {
        ImageTransform(
            Trim(
                threshold: threshold, color: color, equalX: equalHorizontally, equalY: equalVertically,
                asImgproxy: asImgproxy))
    }
}

struct Trim: WrittenOperation {
    static let name = "trim"
    static let usage = "trim[:THRESHOLD][:color=#rrggbb][:equal-x][:equal-y][:imgproxy]"

    let threshold: Double
    let color: RGBColor?
    let equalX: Bool
    let equalY: Bool
    let asImgproxy: Bool

    init(threshold: Double, color: RGBColor?, equalX: Bool, equalY: Bool, asImgproxy: Bool) {
        self.threshold = threshold
        self.color = color
        self.equalX = equalX
        self.equalY = equalY
        self.asImgproxy = asImgproxy
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        equalX = arguments.flag("equal-x")
        equalY = arguments.flag("equal-y")
        asImgproxy = arguments.flag("imgproxy")
        threshold = try arguments.nextIfAny()?.number(in: 0...255, "a trim's threshold") ?? 10
        guard let wanted = arguments.named("color") else {
            color = nil
            return
        }
        let parsed = try wanted.color()
        guard parsed.alpha == 255 else { throw wanted.fails("the colour of margins must be opaque: #rrggbb") }
        color = RGBColor(red: parsed.red, green: parsed.green, blue: parsed.blue)
    }

    var text: String {
        var text = TransformText(Self.name).add(threshold)
        if let color { text = text.add("color=" + RGBAColor(color).description) }
        return text.add("equal-x", if: equalX).add("equal-y", if: equalY).add("imgproxy", if: asImgproxy).text
    }

    func compile(
        into builder: inout ProgramBuilder, before rest: ArraySlice<ImageTransform>
    ) throws(WebImageError) -> TransformProgram? {
        _ = try checked(threshold, in: 0...255, "a trim's threshold")
        return builder.whole(TrimWork(trim: self), then: rest)
    }
}

struct TrimWork: CuttingOperation {
    let trim: Trim

    var isForStillsOnly: Bool { trim.asImgproxy }

    func part(of image: Image, _ checkpoint: TransformProgram.Checkpoint?) throws(WebImageError) -> CutPart {
        let orientation = trim.asImgproxy ? image.info.header?.taggedOrientation ?? .up : .up
        guard let box = try MarginFinder(image, trim, orientation, checkpoint).box else {
            return CutPart(x: 0, y: 0, size: image.size)
        }
        var (equalX, equalY) = (trim.equalX, trim.equalY)
        if orientation.swapsSides { swap(&equalX, &equalY) }
        let (left, right) = Self.evened(box.x, image.size.width - box.x - box.size.width, equalX)
        let (top, bottom) = Self.evened(box.y, image.size.height - box.y - box.size.height, equalY)
        let size = PixelSize(width: image.size.width - left - right, height: image.size.height - top - bottom)
        return CutPart(x: left, y: top, size: size)
    }

    private static func evened(_ one: Int, _ other: Int, _ areEqual: Bool) -> (Int, Int) {
        areEqual ? (min(one, other), min(one, other)) : (one, other)
    }
}

/// Finds the rectangle that contains everything except the margins.
private struct MarginFinder {
    /// The rectangle; nil if there are only margins.
    private(set) var box: (x: Int, y: Int, size: PixelSize)?

    private let image: Image
    private let width: Int
    private let background: [UInt8]
    private let threshold: Int32
    /// Three rows over magenta. Each has an extra pixel at both ends.
    private var rows: [[UInt8]]

    /// - Parameter orientation: the orientation of the stored picture, whose top left pixel has the colour of the
    ///   margins.
    init(
        _ image: Image, _ trim: Trim, _ orientation: Orientation, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) {
        self.image = image
        width = image.size.width
        threshold = Int32(trim.threshold.rounded(.down))
        rows = Array(repeating: [UInt8](repeating: 0, count: (width + 2) * 4), count: 3)
        var background: [UInt8] = []
        if let color = trim.color {
            background = [color.red, color.green, color.blue, 255]
        } else {
            let (isRight, isLow) = orientation.placeOfFirstPixel
            let row = Self.flat(image, row: isLow ? image.size.height - 1 : 0)
            let pixel = isRight ? width * 4 : 4
            background = Array(row[pixel..<pixel + 3]) + [255]
        }
        self.background = background
        try find(checkpoint)
    }

    private mutating func find(_ checkpoint: TransformProgram.Checkpoint?) throws(WebImageError) {
        let height = image.size.height
        var (left, right, top, bottom) = (width, -1, height, -1)
        var differs = [UInt8](repeating: 0, count: width * 4)
        rows[1] = Self.flat(image, row: 0)
        rows[2] = rows[1]
        for y in 0..<height {
            try checkpoint?()
            rows[0] = y == 0 ? rows[2] : rows[1]
            rows[1] = rows[2]
            rows[2] = y + 1 < height ? Self.flat(image, row: y + 1) : rows[1]
            wi_differs_row(&differs, rows[0], rows[1], rows[2], width, background, threshold)
            guard let first = differs.firstIndex(of: 1), let last = differs.lastIndex(of: 1) else { continue }
            left = min(left, first / 4)
            right = max(right, last / 4)
            top = min(top, y)
            bottom = y
        }
        if right >= 0 {
            box = (left, top, PixelSize(width: right - left + 1, height: bottom - top + 1))
        }
    }

    /// A row with 8 bits over magenta; the pixels at its ends are repeated.
    private static func flat(_ image: Image, row: Int) -> [UInt8] {
        let width = image.size.width
        var bytes = [UInt8](repeating: 0, count: (width + 2) * 4)
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress.map({ $0 + 4 }) else { return }
            let source = image.pixels.row(row)
            switch image.layout {
            case .rgba8: base.update(from: source.assumingMemoryBound(to: UInt8.self), count: width * 4)
            case .rgba16: wi_narrow(base, source.assumingMemoryBound(to: UInt16.self), width * 4)
            }
            if image.alpha != .opaque {
                wi_flatten_8(base, width, [255, 0, 255], image.alpha == .premultiplied ? 1 : 0)
            }
            for channel in 0..<4 {
                bytes[channel] = bytes[4 + channel]
                bytes[(width + 1) * 4 + channel] = bytes[width * 4 + channel]
            }
        }
        return bytes
    }
}

extension Orientation {
    /// The corner of the displayed picture at which the first stored pixel is.
    fileprivate var placeOfFirstPixel: (isRight: Bool, isLow: Bool) {
        switch self {
        case .up, .leftMirrored: (false, false)
        case .upMirrored, .right: (true, false)
        case .down, .rightMirrored: (true, true)
        case .downMirrored, .left: (false, true)
        }
    }
}
