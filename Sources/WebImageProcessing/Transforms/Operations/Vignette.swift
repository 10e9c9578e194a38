import CPixels
public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Darkens the picture towards its corners.
    ///
    /// - Parameters:
    ///   - strength: the strength of the colour in the corners, 0 to 1. Default 0.5.
    ///   - start: where the darkening begins: 0 is the middle of the picture, 1 the corners. Default 0.3.
    ///   - color: the colour of the corners. Default black.
    public static func vignette(
        strength: Double = 0.5, start: Double = 0.3, color: RGBAColor = .black
    ) -> ImageTransform { ImageTransform(Vignette(strength: strength, start: start, color: color)) }
}

struct Vignette: WrittenOperation, PlannedOperation {
    static let name = "vignette"
    static let usage = "vignette[:STRENGTH][:start=0.3][:color=#000000]"

    let strength: Double
    let start: Double
    let color: RGBAColor

    init(strength: Double, start: Double, color: RGBAColor) {
        self.strength = strength
        self.start = start
        self.color = color
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        strength = try arguments.nextIfAny()?.number(in: 0...1, "a vignette's strength") ?? 0.5
        start = try arguments.named("start")?.number(in: 0...1, "a vignette's start") ?? 0.3
        color = try arguments.named("color")?.color() ?? .black
    }

    var text: String {
        TransformText(Self.name).add(strength).add("start", start, unless: 0.3).add("color", color, unless: .black).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let strength = try checked(strength, in: 0...1, "a vignette's strength")
        let start = try checked(start, in: 0...1, "a vignette's start")
        builder.point(
            VignetteOperation(
                size: builder.size, strength: Float(strength) * Float(color.alpha) / 255, start: Float(start),
                color: color))
    }
}

/// Mixes pixels with a colour, the more the farther they are from the middle.
struct VignetteOperation: PointOperation {
    let size: PixelSize
    let strength: Float
    let start: Float
    let color: RGBAColor

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        let (halfWidth, halfHeight) = (Float(size.width) / 2, Float(size.height) / 2)
        let down = (Float(y) + 0.5 - halfHeight) / halfHeight
        let parts = [color.red, color.green, color.blue].map { Float($0) / 255 }
        let room = max(1 - start, 1e-6)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelRun.length) { amounts in
            for index in 0..<count {
                let across = (Float(x + index) + 0.5 - halfWidth) / halfWidth
                let distance = ((across * across + down * down) * 0.5).squareRoot()
                let place = min(max((distance - start) / room, 0), 1)
                // The curve is smooth at both ends.
                amounts.initializeElement(at: index, to: place * place * (3 - 2 * place) * strength)
            }
            if let amounts = amounts.baseAddress { wi_run_mix(run, count, amounts, parts) }
        }
    }
}
