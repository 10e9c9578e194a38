import CPixels
public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ImageTransformer where Self == ImageTransform {
    /// Rotates the picture around its middle, with a Catmull-Rom filter.
    ///
    /// - Parameters:
    ///   - degrees: the angle, clockwise. Quarter turns that grow the canvas are exact.
    ///   - grows: whether the canvas grows to contain the rotated picture; otherwise the size is kept and corners are
    ///     cut off. Default true.
    ///   - background: the colour of pixels that the picture does not cover. Default transparent.
    public static func rotate(
        degrees: Double, grows: Bool = true, background: RGBAColor = .clear
    ) -> ImageTransform { ImageTransform(Rotate(degrees: degrees, grows: grows, background: background)) }
}

struct Rotate: WrittenOperation, PlannedOperation {
    static let name = "rotate"
    static let usage = "rotate:DEGREES[:keep][:color=#rrggbbaa] (keep: keeps the size)"
    private static let angles = -36_000.0...36_000.0

    let degrees: Double
    let grows: Bool
    let background: RGBAColor

    init(degrees: Double, grows: Bool, background: RGBAColor) {
        self.degrees = degrees
        self.grows = grows
        self.background = background
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        degrees = try arguments.next("an angle").number(in: Self.angles, "an angle")
        grows = !arguments.flag("keep")
        background = try arguments.named("color")?.color() ?? .clear
    }

    var text: String {
        TransformText(Self.name).add(degrees).add("keep", if: !grows).add("color", background, unless: .clear).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let degrees = try checked(degrees, in: Self.angles, "an angle").truncatingRemainder(dividingBy: 360)
        let quarters = degrees / 90
        if quarters == quarters.rounded(), grows || Int(quarters) % 2 == 0 {
            return try Turn(quarters: (Int(quarters) + 4) % 4).compile(into: &builder)
        }
        let size = builder.size
        let work = RotateWork(size: size, degrees: degrees, grows: grows, background: background)
        try builder.whole(work, size: work.output, isOpaque: builder.isOpaque && background.alpha == 255)
    }
}

struct RotateWork: WholeOperation {
    let takesDeepPixels = true
    let output: PixelSize
    private let cosine: Double
    private let sine: Double
    private let background: RGBAColor

    init(size: PixelSize, degrees: Double, grows: Bool, background: RGBAColor) {
        self.background = background
        let angle = degrees * .pi / 180
        (cosine, sine) = (cos(angle), sin(angle))
        let (width, height) = (Double(size.width), Double(size.height))
        func side(_ length: Double) -> Int { max(Int((length - 1e-6).rounded(.up)), 1) }
        output =
            grows
            ? PixelSize(
                width: side(width * abs(cosine) + height * abs(sine)),
                height: side(width * abs(sine) + height * abs(cosine)))
            : size
    }

    func apply(
        _ image: Image, to layout: PixelLayout, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) -> Image {
        let pixels = try PixelBuffer(size: output, layout: layout)
        let row = try RowScratch(width: output.width)
        let run = PixelRun()
        let source = RowSamples(image.layout, image.alpha)
        let isOpaque = image.alpha == .opaque && background.alpha == 255
        let floats = RowSamples.floats(isOpaque: isOpaque)
        let around = background.premultiplied
        let (width, height) = (Double(image.size.width), Double(image.size.height))
        for y in 0..<output.height {
            try checkpoint?()
            // The place of the row's first pixel in the source: the result turned back around the middle.
            let across = 0.5 - Double(output.width) / 2
            let down = Double(y) + 0.5 - Double(output.height) / 2
            wi_rotate_row(
                row.floats, output.width, image.pixels.base, image.size.width, image.size.height,
                image.pixels.bytesPerRow, source.pixelKind, around, across * cosine + down * sine + width / 2,
                down * cosine - across * sine + height / 2, cosine, -sine)
            for x in stride(from: 0, to: output.width, by: PixelRun.length) {
                let count = min(PixelRun.length, output.width - x)
                run.load(row.floats, x: x, count: count, floats)
                run.store(pixels.row(y), x: x, count: count, layout == .rgba8 ? .eight : .sixteen)
            }
        }
        var info = image.info
        info.alpha = isOpaque ? .opaque : .straight
        return Image(pixels: pixels, info: info)
    }
}
