public import WebImageCore

/// A length for each edge of a picture, in pixels.
public struct EdgeLengths: Hashable, Sendable, Codable {
    public var top: Int
    public var right: Int
    public var bottom: Int
    public var left: Int

    public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
        (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
    }

    public init(_ length: Int) { self.init(top: length, right: length, bottom: length, left: length) }

    var all: [Int] { [top, right, bottom, left] }
}

extension ImageTransformer where Self == ImageTransform {
    /// Adds a margin around the picture.
    ///
    /// - Parameters:
    ///   - lengths: the widths of the margins, not negative.
    ///   - color: the colour of the margin. Default transparent.
    public static func pad(_ lengths: EdgeLengths, color: RGBAColor = .clear) -> ImageTransform {
        ImageTransform(Pad(lengths: lengths, color: color))
    }

    /// Adds the same margin on all sides.
    public static func pad(_ length: Int, color: RGBAColor = .clear) -> ImageTransform {
        .pad(EdgeLengths(length), color: color)
    }

    /// Places the picture on a canvas of a size; a side that is not longer than the picture's is not changed.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - gravity: the position on the canvas. Default in the middle.
    ///   - color: the colour of the canvas. Default transparent.
    public static func extend(
        width: Int, height: Int, at gravity: Gravity = .center, color: RGBAColor = .clear
    ) -> ImageTransform {
        ImageTransform(Extend(size: PixelSize(width: width, height: height), gravity: gravity, color: color))
    }
}

struct Pad: WrittenOperation, PlannedOperation {
    static let name = "pad"
    static let usage = "pad:ALL|TOP,RIGHT,BOTTOM,LEFT[:color=#rrggbbaa]"

    let lengths: EdgeLengths
    let color: RGBAColor

    init(lengths: EdgeLengths, color: RGBAColor) {
        self.lengths = lengths
        self.color = color
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let argument = try arguments.next("a length")
        let longest = Double(TransformArguments.longestSide)
        let numbers = try argument.numbers([1, 4], in: 0...longest, "a length")
        guard numbers.allSatisfy({ $0 == $0.rounded() }) else {
            throw argument.fails("a margin must be in whole pixels")
        }
        let sides = numbers.count == 1 ? Array(repeating: Int(numbers[0]), count: 4) : numbers.map { Int($0) }
        lengths = EdgeLengths(top: sides[0], right: sides[1], bottom: sides[2], left: sides[3])
        color = try arguments.named("color")?.color() ?? .clear
    }

    var text: String {
        let sides = Set(lengths.all).count == 1 ? [lengths.top] : lengths.all
        return TransformText(Self.name).add(sides.map(String.init).joined(separator: ","))
            .add("color", color, unless: .clear).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        guard lengths.all.allSatisfy({ (0...TransformArguments.longestSide).contains($0) }) else {
            throw .badTransform("the margins of a picture must be from 0 to \(TransformArguments.longestSide) pixels")
        }
        let canvas = PixelSize(
            width: builder.size.width + lengths.left + lengths.right,
            height: builder.size.height + lengths.top + lengths.bottom)
        try builder.canvas(canvas, x: lengths.left, y: lengths.top, color: color)
    }
}

struct Extend: WrittenOperation, PlannedOperation {
    static let name = "extend"
    static let usage = "extend:WxH[:at=PLACE][:color=#rrggbbaa]"

    let size: PixelSize
    let gravity: Gravity
    let color: RGBAColor

    init(size: PixelSize, gravity: Gravity, color: RGBAColor) {
        self.size = size
        self.gravity = gravity
        self.color = color
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let size = try arguments.next("a size").size(needsBoth: false)
        self.size = PixelSize(width: size.width ?? 0, height: size.height ?? 0)
        gravity = try arguments.named("at")?.gravity() ?? .center
        color = try arguments.named("color")?.color() ?? .clear
    }

    var text: String {
        let sides = [size.width, size.height].map { $0 > 0 ? String($0) : "" }
        return TransformText(Self.name).add(sides.joined(separator: "x")).add("at", gravity)
            .add("color", color, unless: .clear).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let picture = builder.size
        let canvas = PixelSize(width: max(size.width, picture.width), height: max(size.height, picture.height))
        try builder.limits.check(result: canvas)
        let place = gravity.place(of: picture, in: canvas)
        try builder.canvas(canvas, x: place.x, y: place.y, color: color)
    }
}
