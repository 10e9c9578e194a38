public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Blends the picture with one colour.
    ///
    /// - Parameters:
    ///   - color: the source.
    ///   - mode: the blend mode. Default ``BlendMode/sourceIn``, which paints all visible pixels in that colour, as for
    ///     symbols.
    public static func tint(_ color: RGBAColor, mode: BlendMode = .sourceIn) -> ImageTransform {
        ImageTransform(Tint(color: color, mode: mode))
    }

    /// Puts a colour behind the picture.
    public static func background(_ color: RGBAColor) -> ImageTransform {
        ImageTransform(Background(color: color))
    }
}

extension RGBAColor {
    /// Red, green and blue, multiplied by alpha, and alpha, from 0 to 1.
    var premultiplied: [Float] {
        let share = Float(alpha) / 255
        return [red, green, blue].map { Float($0) / 255 * share } + [share]
    }
}

struct Tint: WrittenOperation, PlannedOperation {
    static let name = "tint"
    static let usage = "tint:#rrggbb[aa][:MODE]"

    let color: RGBAColor
    let mode: BlendMode

    init(color: RGBAColor, mode: BlendMode) {
        self.color = color
        self.mode = mode
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        color = try arguments.next("a colour").color()
        guard let mode = arguments.nextIfAny() else {
            self.mode = .sourceIn
            return
        }
        guard let known = BlendMode(rawValue: String(mode.value)) else {
            let names = BlendMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw mode.fails("a blend mode must be one of \(names)")
        }
        self.mode = known
    }

    var text: String {
        TransformText(Self.name).add(color.description).add(mode.rawValue, if: mode != .sourceIn).text
    }

    func compile(into builder: inout ProgramBuilder) {
        let staysOpaque = mode.keepsOpaque(sourceIsOpaque: color.alpha == 255)
        let becomesOpaque = color.alpha == 255 && [.normal, .source, .destinationOver].contains(mode)
        let isOpaque: Bool? = becomesOpaque ? true : staysOpaque ? nil : false
        builder.point(FillOperation(color: color, mode: mode), isOpaque: isOpaque)
    }
}

struct Background: WrittenOperation, PlannedOperation {
    static let name = "background"
    static let usage = "background:#rrggbb[aa]"

    let color: RGBAColor

    init(color: RGBAColor) { self.color = color }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        color = try arguments.next("a colour").color()
    }

    var text: String { TransformText(Self.name).add(color.description).text }

    func compile(into builder: inout ProgramBuilder) {
        guard !builder.isOpaque else { return }
        builder.point(
            FillOperation(color: color, mode: .destinationOver), isOpaque: color.alpha == 255 ? true : nil)
    }
}
