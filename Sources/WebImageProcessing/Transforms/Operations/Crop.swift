public import WebImageCore

/// The shape that a crop keeps.
public enum CropShape: Hashable, Sendable {
    /// The largest square.
    case square
    /// The largest circle; pixels outside of it become transparent.
    case circle
}

extension ImageTransformer where Self == ImageTransform {
    /// Keeps a part of the picture, rounded to whole pixels. Anything outside of the picture is cut off.
    ///
    /// A part completely outside of the picture fails with `transformFailed`.
    public static func crop(_ part: PixelRect) -> ImageTransform { ImageTransform(CropRect(part: part)) }

    /// Keeps a part of a size; a side that is longer than the picture's is not changed.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - gravity: which part is kept. Default the middle.
    public static func crop(width: Int, height: Int, at gravity: Gravity = .center) -> ImageTransform {
        ImageTransform(Crop(size: PixelSize(width: width, height: height), gravity: gravity))
    }

    /// Keeps the largest square or circle.
    ///
    /// - Parameters:
    ///   - shape: a square or a circle, as large as the shorter side.
    ///   - gravity: which part is kept. Default the middle.
    public static func crop(_ shape: CropShape, at gravity: Gravity = .center) -> ImageTransform {
        ImageTransform(Crop(shape: shape, gravity: gravity))
    }
}

/// A part with a size or a shape, placed by gravity.
struct Crop: GeometryOperation {
    /// The size of the part; nil for the largest part of the shape.
    var size: PixelSize?
    var shape = CropShape.square
    let gravity: Gravity

    init(size: PixelSize? = nil, shape: CropShape = .square, gravity: Gravity) {
        self.size = size
        self.shape = shape
        self.gravity = gravity
    }

    var text: String {
        let what = size?.description ?? (shape == .square ? "square" : "circle")
        return TransformText("crop").add(what).add("at", gravity).text
    }

    var needsPixels: Bool { gravity == .smart || isCircle }
    private var isCircle: Bool { size == nil && shape == .circle }

    func fold(into fold: inout GeometryFold) throws(WebImageError) {
        let kept = try kept(of: fold.size)
        let place = gravity.place(of: kept, in: fold.size)
        fold.crop(x: place.x, y: place.y, to: kept)
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let kept = try kept(of: builder.size)
        if gravity == .smart, kept != builder.size {
            try builder.whole(SmartCrop(kept: kept), size: kept, isOpaque: builder.isOpaque)
        } else {
            try builder.geometry(self)
        }
        if isCircle {
            let radius = Double(min(kept.width, kept.height)) / 2
            let mask = RoundedRect(size: kept, radii: [Double](repeating: radius, count: 4))
            builder.point(MaskOperation(shape: mask), isOpaque: false)
        }
    }

    private func kept(of whole: PixelSize) throws(WebImageError) -> PixelSize {
        let side = min(whole.width, whole.height)
        let wanted = size ?? PixelSize(width: side, height: side)
        guard !wanted.isEmpty else { throw .badTransform("the part to crop must be at least 1 pixel wide and high") }
        return PixelSize(width: min(wanted.width, whole.width), height: min(wanted.height, whole.height))
    }
}

/// A part at a position.
struct CropRect: GeometryOperation {
    let part: PixelRect

    var text: String {
        func signed(_ value: Double) -> String { (value < 0 ? "" : "+") + value.shortText }
        return TransformText("crop")
            .add(part.width.shortText + "x" + part.height.shortText + signed(part.x) + signed(part.y)).text
    }

    func fold(into fold: inout GeometryFold) throws(WebImageError) {
        let size = fold.size
        guard [part.x, part.y, part.x + part.width, part.y + part.height].allSatisfy(\.isFinite) else {
            throw .badTransform("the position or size of the part to crop is not a number")
        }
        func edge(_ place: Double, _ most: Int) -> Int { Int(min(max(place.rounded(), 0), Double(most))) }
        let (left, top) = (edge(part.x, size.width), edge(part.y, size.height))
        let kept = PixelSize(
            width: edge(part.x + part.width, size.width) - left,
            height: edge(part.y + part.height, size.height) - top)
        guard !kept.isEmpty else {
            throw .badTransform("the part to crop lies outside the picture of \(size)")
        }
        fold.crop(x: left, y: top, to: kept)
    }
}

extension TransformSyntax {
    /// The syntax of a crop to a size, a part or a shape.
    static let crop = TransformSyntax(
        name: "crop", usage: "crop:WxH+X+Y, or crop:WxH|square|circle[:at=PLACE]"
    ) { (arguments) throws(TransformSyntaxError) in
        let what = try arguments.next("a size or a shape")
        let gravity = arguments.named("at")
        if let part = rect(what.value) {
            if let gravity { throw gravity.fails("a crop with a position (+X+Y) takes no at=") }
            return CropRect(part: part)
        }
        let place = try gravity?.gravity() ?? .center
        switch what.value {
        case "square": return Crop(shape: .square, gravity: place)
        case "circle": return Crop(shape: .circle, gravity: place)
        default:
            guard what.value.first?.isNumber == true, !what.value.contains("+") else {
                throw what.fails("a crop must be a size (320x200), a part (320x200+10+20), square or circle")
            }
            let size = try what.size(needsBoth: true)
            return Crop(size: PixelSize(width: size.width ?? 0, height: size.height ?? 0), gravity: place)
        }
    }

    /// `320x200+10-20`.
    private static func rect(_ text: Substring) -> PixelRect? {
        var numbers: [Double] = []
        var separators = ""
        var current = ""
        for character in text {
            let isSign = "+-".contains(character) && !current.isEmpty && current.last?.lowercased() != "e"
            if character == "x" || isSign {
                guard let number = Double(current) else { return nil }
                numbers.append(number)
                separators += character == "x" ? "x" : "+"
                current = character == "-" ? "-" : ""
            } else {
                current.append(character)
            }
        }
        guard let last = Double(current) else { return nil }
        numbers.append(last)
        guard separators == "x++", numbers.allSatisfy({ $0.isFinite }), numbers[0] > 0, numbers[1] > 0 else {
            return nil
        }
        return PixelRect(x: numbers[2], y: numbers[3], width: numbers[0], height: numbers[1])
    }
}
