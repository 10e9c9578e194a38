import CPixels
public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Draws another picture over the picture.
    ///
    /// - Parameters:
    ///   - mark: the picture to draw. Parts beyond the edges are cut off.
    ///   - gravity: the position. Default in the middle.
    ///   - offset: the distance from the position, away from the edge that the gravity names, in pixels. Default 0.
    ///   - scale: the size into which the mark is fitted, as a fraction of the picture's width and height. Default nil:
    ///     the mark's own size.
    ///   - opacity: 0 to 1. Default 1.
    ///   - tiles: whether the mark is repeated over the whole picture, with `offset` as the gaps. Default false.
    ///   - mode: the blend mode. Default ``BlendMode/normal``.
    ///   - name: the name of the picture in the text of the transform. Default `image`.
    public static func watermark(
        _ mark: Image, at gravity: Gravity = .center, offset: (x: Int, y: Int) = (0, 0), scale: Double? = nil,
        opacity: Double = 1, tiles: Bool = false, mode: BlendMode = .normal, name: String = "image"
    ) -> ImageTransform {
        ImageTransform(
            Watermark(
                mark: mark, digest: ContentDigest(of: mark), markName: name, gravity: gravity, x: offset.x,
                y: offset.y, scale: scale, opacity: opacity, tiles: tiles, mode: mode))
    }
}

struct Watermark: WrittenOperation, PlannedOperation {
    static let name = "watermark"
    static let usage = "watermark:FILE[:at=PLACE][:x=0][:y=0][:scale=0.2][:opacity=0.5][:tile][:mode=MODE]"
    private static let scales = 0.001...100.0

    let mark: Image
    let digest: ContentDigest
    let markName: String
    let gravity: Gravity
    let x: Int
    let y: Int
    let scale: Double?
    let opacity: Double
    let tiles: Bool
    let mode: BlendMode

    var text: String { text(called: TransformText(Self.name).add(fileNamed: markName)) }

    var key: String { text(called: TransformText(Self.name).add(digest.description)) }

    private func text(called start: TransformText) -> String {
        var text = start.add("tile", if: tiles).add("at", gravity).add("x", Double(x), unless: 0)
            .add("y", Double(y), unless: 0)
        if let scale { text = text.add("scale=" + scale.shortText) }
        text = text.add("opacity", opacity, unless: 1)
        return mode == .normal ? text.text : text.add("mode=" + mode.rawValue).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let opacity = try checked(opacity, in: 0...1, "a watermark's opacity")
        let size = builder.size
        var mark = try mark.upright()
        if let scale {
            let scale = try checked(scale, in: Self.scales, "a watermark's scale")
            func side(_ side: Int) -> Int { max(Int((Double(side) * scale).rounded()), 1) }
            let target = TargetSize(width: side(size.width), height: side(size.height), upscale: true)
            let plan = ResizePlan(stored: mark.size, target: target)
            try builder.limits.check(result: plan.outputStored)
            mark = try mark.resized(plan)
        }
        let limit = TransformArguments.longestSide
        guard x.magnitude <= limit, y.magnitude <= limit else {
            throw .badTransform("a watermark can be moved by at most \(limit) pixels")
        }
        let place = tiles ? (x: 0, y: 0) : place(of: mark.size, in: size)
        let overlay = OverlayOperation(
            mark: mark, x: place.x, y: place.y, opacity: Float(opacity), mode: mode,
            gaps: tiles ? (max(x, 0), max(y, 0)) : nil)
        let staysOpaque = mode.keepsOpaque(sourceIsOpaque: false)
        builder.point(overlay, isOpaque: staysOpaque ? nil : false)
    }

    private func place(of mark: PixelSize, in size: PixelSize) -> (x: Int, y: Int) {
        let place = gravity.place(of: mark, in: size)
        let isRight = [.right, .topRight, .bottomRight].contains(gravity)
        let isLower = [.bottom, .bottomLeft, .bottomRight].contains(gravity)
        return (place.x + (isRight ? -x : x), place.y + (isLower ? -y : y))
    }
}

extension Watermark {
    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let file = try arguments.next("a picture")
        let name = file.decodedName
        let mark: Image
        do throws(WebImageError) {
            mark = try arguments.resources.image(name)
        } catch {
            throw file.fails(error.message)
        }
        let limit = TransformArguments.longestSide
        var mode = BlendMode.normal
        if let wanted = arguments.named("mode") {
            guard let known = BlendMode(rawValue: String(wanted.value)) else {
                throw wanted.fails(
                    "a blend mode must be one of \(BlendMode.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            mode = known
        }
        self.init(
            mark: mark, digest: ContentDigest(of: mark), markName: name,
            gravity: try arguments.named("at")?.gravity() ?? .center,
            x: try arguments.named("x")?.whole(in: -limit...limit, "an offset") ?? 0,
            y: try arguments.named("y")?.whole(in: -limit...limit, "an offset") ?? 0,
            scale: try arguments.named("scale")?.number(in: Self.scales, "a scale"),
            opacity: try arguments.named("opacity")?.number(in: 0...1, "an opacity") ?? 1,
            tiles: arguments.flag("tile"), mode: mode)
    }
}

/// Blends pixels with those of another picture.
struct OverlayOperation: PointOperation {
    let mark: Image
    let x: Int
    let y: Int
    var opacity: Float
    let mode: BlendMode
    /// The gaps between tiles; nil if the mark is not repeated.
    let gaps: (x: Int, y: Int)?

    func changes(x: Int, y: Int, count: Int) -> Bool {
        guard mode.keepsWhatIsBeside, gaps == nil else { return true }
        return row(y) != nil && x < self.x + mark.size.width && x + count > self.x
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        let row = row(y)
        let stretches = row == nil ? [] : stretches(x..<x + count)
        if stretches.isEmpty, mode.keepsWhatIsBeside { return }
        let over = PixelRun()
        // Outside of the mark the source has alpha 0, which some modes blend as well.
        PixelRun.fill(over.planes, with: .clear, count: count)
        let part = PixelRun()
        let samples = RowSamples(mark.layout, mark.alpha)
        for (start, column, length) in stretches {
            part.load(UnsafeRawPointer(mark.pixels.row(row ?? 0)), x: column, count: length, samples)
            for plane in 0..<4 {
                let target = PixelRun.plane(plane, of: over.planes) + (start - x)
                target.update(from: PixelRun.plane(plane, of: part.planes), count: length)
                if plane == 3 { for index in 0..<length { target[index] *= opacity } }
            }
        }
        wi_run_blend(run, over.planes, count, mode.code)
    }

    /// The row of the mark that covers a row of the picture; nil if there is none.
    private func row(_ row: Int) -> Int? {
        let height = mark.size.height
        let inside = gaps.map { (row - y) % (height + $0.y) } ?? row - y
        return inside >= 0 && inside < height ? inside : nil
    }

    /// The parts of a row that the mark covers: their first column, the mark's column there, and their length.
    private func stretches(_ columns: Range<Int>) -> [(start: Int, column: Int, length: Int)] {
        let width = mark.size.width
        guard let gaps else {
            let part = columns.clamped(to: x..<x + width)
            return part.isEmpty ? [] : [(part.lowerBound, part.lowerBound - x, part.count)]
        }
        var found: [(Int, Int, Int)] = []
        let period = width + gaps.x
        var start = columns.lowerBound
        while start < columns.upperBound {
            let column = (start - x) % period
            let length = min(period - column, columns.upperBound - start)
            if column < width { found.append((start, column, min(length, width - column))) }
            start += length
        }
        return found
    }
}

extension BlendMode {
    /// Whether pixels stay unchanged where the source has alpha 0.
    var keepsWhatIsBeside: Bool {
        ![.clear, .source, .sourceIn, .sourceOut, .destinationIn, .destinationAtop].contains(self)
    }
}
