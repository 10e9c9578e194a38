import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Replaces the picture by squares, each with the mean of its pixels.
    ///
    /// - Parameter side: the side of a square in pixels; at least 1, which changes nothing. A side longer than the
    ///   picture's longer side counts as that one.
    public static func pixelate(_ side: Int) -> ImageTransform { ImageTransform(Pixelate(side: side)) }
}

struct Pixelate: WrittenOperation, PlannedOperation {
    static let name = "pixelate"
    static let usage = "pixelate:SIDE"

    let side: Int

    init(side: Int) { self.side = side }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        side = try arguments.next("a side in pixels").whole(in: 1...TransformArguments.longestSide, "a square's side")
    }

    var text: String { TransformText(Self.name).add(Double(side)).text }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let side = Int(try checked(Double(side), in: 1...Double(TransformArguments.longestSide), "a square's side"))
        try Resampler.checkSides(builder.size)
        // Larger squares would show more of the picture's mirrored edges than of the picture.
        let longest = max(builder.size.width, builder.size.height)
        if side > 1 { builder.filter(BlurPlan.pixelate(builder.size, side: min(side, longest))) }
    }
}
