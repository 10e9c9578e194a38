import CPixels
public import WebImageCore

/// A length for each corner of a picture.
public struct CornerRadii: Hashable, Sendable, Codable {
    public var topLeft: Double
    public var topRight: Double
    public var bottomRight: Double
    public var bottomLeft: Double

    public init(topLeft: Double = 0, topRight: Double = 0, bottomRight: Double = 0, bottomLeft: Double = 0) {
        (self.topLeft, self.topRight, self.bottomRight, self.bottomLeft) = (topLeft, topRight, bottomRight, bottomLeft)
    }

    public init(_ radius: Double) {
        self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius)
    }

    /// The radii from the top left clockwise, as in CSS.
    var all: [Double] { [topLeft, topRight, bottomRight, bottomLeft] }
}

extension ImageTransformer where Self == ImageTransform {
    /// Gives the picture round corners with smooth edges: pixels outside of them become transparent.
    ///
    /// - Parameters:
    ///   - radius: in pixels; at most half of the shorter side counts, so that `.infinity` makes a circle of a square.
    ///   - border: the width in pixels of a line along the edge, inside of the picture. Default 0: none.
    ///   - borderColor: the colour of the line. Default black.
    public static func roundCorners(
        _ radius: Double, border: Double = 0, borderColor: RGBAColor = .black
    ) -> ImageTransform { .roundCorners(CornerRadii(radius), border: border, borderColor: borderColor) }

    /// Gives the picture round corners, with a radius for each corner.
    public static func roundCorners(
        _ radii: CornerRadii, border: Double = 0, borderColor: RGBAColor = .black
    ) -> ImageTransform {
        ImageTransform(RoundCorners(radii: radii, border: border, borderColor: borderColor))
    }
}

struct RoundCorners: WrittenOperation, PlannedOperation {
    static let name = "round"
    static let usage = "round:RADIUS|TL,TR,BR,BL[:border=WIDTH[:color=#000000]]"
    static let lengths = 0.0...Double(TransformArguments.longestSide)

    let radii: CornerRadii
    let border: Double
    let borderColor: RGBAColor

    init(radii: CornerRadii, border: Double, borderColor: RGBAColor) {
        self.radii = radii
        self.border = border
        self.borderColor = borderColor
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let argument = try arguments.next("a radius")
        if argument.value == "max" {
            radii = CornerRadii(.infinity)
        } else {
            let numbers = try argument.numbers([1, 4], in: Self.lengths, "a radius")
            radii =
                numbers.count == 1
                ? CornerRadii(numbers[0])
                : CornerRadii(
                    topLeft: numbers[0], topRight: numbers[1], bottomRight: numbers[2], bottomLeft: numbers[3])
        }
        border = try arguments.named("border")?.number(in: Self.lengths, "a border's width") ?? 0
        borderColor = try arguments.named("color")?.color() ?? .black
    }

    var text: String {
        let isOne = Set(radii.all).count == 1
        let numbers = isOne ? [radii.topLeft] : radii.all
        let lengths = numbers.map { min($0, Self.lengths.upperBound).shortText }.joined(separator: ",")
        return TransformText(Self.name).add(isOne && radii.topLeft == .infinity ? "max" : lengths)
            .add("border", border, unless: 0).add("color", borderColor, unless: .black).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        guard !radii.all.contains(where: \.isNaN) else { throw .badTransform("the radius of a corner is not a number") }
        let border = try checked(border, in: Self.lengths, "a border's width")
        let size = builder.size
        let most = Double(min(size.width, size.height)) / 2
        let radii = radii.all.map { min(max($0, 0), most) }
        let shape = RoundedRect(size: size, radii: radii)
        if border > 0 { builder.point(BorderOperation(shape: shape, width: border, color: borderColor)) }
        if radii.contains(where: { $0 > 0 }) { builder.point(MaskOperation(shape: shape), isOpaque: false) }
    }
}

/// A rectangle with round corners.
struct RoundedRect: Sendable {
    let size: PixelSize
    /// The radii from the top left clockwise.
    let radii: [Double]

    /// The coverage of a pixel by the shape, reduced by `inset` on all sides: exact along straight edges, with an error
    /// of less than a sixtieth elsewhere.
    func coverage(_ x: Int, _ y: Int, inset: Double = 0) -> Double {
        let (px, py) = (Double(x) + 0.5, Double(y) + 0.5)
        let (width, height) = (Double(size.width), Double(size.height))
        let isRight = px > width / 2
        let isLower = py > height / 2
        let radius = max(radii[isLower ? (isRight ? 2 : 3) : (isRight ? 1 : 0)] - inset, 0)
        // The distances from the nearest edges.
        let across = (isRight ? width - px : px) - inset
        let down = (isLower ? height - py : py) - inset
        if across < radius, down < radius {
            let (dx, dy) = (radius - across, radius - down)
            return min(max(radius - (dx * dx + dy * dy).squareRoot() + 0.5, 0), 1)
        }
        return min(max(across + 0.5, 0), 1) * min(max(down + 0.5, 0), 1)
    }

    /// The columns of a row that may not be completely inside, at the left and at the right.
    func edges(ofRow y: Int, inset: Double = 0) -> (left: Int, right: Int) {
        let (top, bottom) = (Double(y), Double(size.height - y - 1))
        if top < inset || bottom < inset { return (size.width, size.width) }
        func reach(_ upper: Double, _ lower: Double) -> Int {
            var reach = inset.rounded(.up)
            if top < upper { reach = max(reach, upper.rounded(.up)) }
            if bottom < lower { reach = max(reach, lower.rounded(.up)) }
            return min(Int(reach), size.width)
        }
        return (reach(radii[0], radii[3]), reach(radii[1], radii[2]))
    }
}

/// Makes the pixels outside of a shape transparent.
struct MaskOperation: PointOperation {
    let shape: RoundedRect

    func changes(x: Int, y: Int, count: Int) -> Bool {
        let (left, right) = shape.edges(ofRow: y)
        return x < left || x + count > shape.size.width - right
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        let (left, right) = shape.edges(ofRow: y)
        let alpha = PixelRun.plane(3, of: run)
        let end = x + count
        let rightStart = max(x, left, shape.size.width - right)
        for column in x..<max(x, min(end, left)) { alpha[column - x] *= Float(shape.coverage(column, y)) }
        for column in rightStart..<max(rightStart, end) { alpha[column - x] *= Float(shape.coverage(column, y)) }
    }
}

/// Draws a line along the inside of a shape.
struct BorderOperation: PointOperation {
    let shape: RoundedRect
    let width: Double
    let color: RGBAColor

    func changes(x: Int, y: Int, count: Int) -> Bool {
        let (left, right) = shape.edges(ofRow: y, inset: width)
        return x < left || x + count > shape.size.width - right
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        PixelRun.withPlanes { line in
            PixelRun.fill(line, with: color, count: count)
            let alpha = PixelRun.plane(3, of: line)
            for index in 0..<count { alpha[index] *= Float(1 - shape.coverage(x + index, y, inset: width)) }
            wi_run_blend(run, line, count, WI_BLEND_NORMAL)
        }
    }
}
