public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Draws another picture over the picture, placed as imgproxy does. Use it after ``imgproxy(_:)`` and its canvas.
    ///
    /// - Parameters:
    ///   - mark: the picture to draw. Parts beyond the edges are cut off.
    ///   - place: the position; offsets from 1 on are in pixels, and are multiplied by the geometry's `dpr`. For tiles
    ///     the offsets are the gaps between them. For a negative gap, the mark is cropped, by half of it on each side.
    ///   - scale: the size into which the mark is fitted, as a fraction of the picture's; 0 keeps the mark's own size.
    ///   - opacity: 0 to 1.
    ///   - tiles: whether the mark is repeated over the whole picture.
    ///   - geometry: the geometry of the ``imgproxy(_:)`` step before this one.
    public static func imgproxyWatermark(
        _ mark: Image, at place: ImgproxyGeometry.Place = .init(), scale: Double = 0, opacity: Double = 1,
        tiles: Bool = false, behind geometry: ImgproxyGeometry
    ) -> ImageTransform {
        ImageTransform(
            ImgproxyWatermark(
                mark: mark, digest: ContentDigest(of: mark), place: place, scale: scale, opacity: opacity, tiles: tiles,
                geometry: geometry))
    }
}

struct ImgproxyWatermark: PlannedOperation {
    let mark: Image
    let digest: ContentDigest
    let place: ImgproxyGeometry.Place
    let scale: Double
    let opacity: Double
    let tiles: Bool
    let geometry: ImgproxyGeometry

    var text: String {
        TransformText("imgproxy-watermark").add(digest.description).add("at=" + place.text).add(
            "scale", scale, unless: 0
        )
        .add("opacity", opacity, unless: 1).add("tile", if: tiles).add(geometry.text("behind")).text
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        try geometry.check()
        let opacity = try checked(opacity, in: 0...1, "a watermark's opacity")
        let dpr = builder.imgproxyLayout(geometry)?.dpr ?? geometry.dpr
        var mark = try mark.upright()
        if scale > 0 {
            func side(_ side: Int) -> Int { max(ImgproxyGeometry.even(Double(side) * min(scale, 100)), 1) }
            let target = TargetSize(width: side(builder.size.width), height: side(builder.size.height), upscale: true)
            let plan = ResizePlan(stored: mark.size, target: target)
            try builder.limits.check(result: plan.outputStored)
            mark = try mark.resized(plan, filter: .libvips)
        }
        var point = try tiles ? tiled(mark, over: builder.size, dpr) : single(mark, over: builder.size, dpr)
        point.opacity = Float(opacity)
        builder.point(point)
    }

    /// Places one mark, which may extend beyond the picture, but not lie outside of it.
    private func single(_ mark: Image, over size: PixelSize, _ dpr: Double) -> OverlayOperation {
        func start(_ side: Int, _ length: Int, _ isStart: Bool, _ isEnd: Bool, _ value: Double) -> Int {
            let offset = Self.offset(value, side, dpr)
            let place =
                isStart
                ? offset
                : isEnd ? side - length - offset : ImgproxyGeometry.even(Double(side - length + 1) / 2) + offset
            return min(max(place, 1 - length), side - 1)
        }
        let name = place.kind.rawValue
        return OverlayOperation(
            mark: mark, x: start(size.width, mark.size.width, name.hasSuffix("we"), name.hasSuffix("ea"), place.x),
            y: start(size.height, mark.size.height, name.hasPrefix("no"), name.hasPrefix("so"), place.y), opacity: 1,
            mode: .normal, gaps: nil)
    }

    /// Repeats the mark an odd number of times in each direction. The picture's size is cropped from the middle of the
    /// tiles.
    private func tiled(
        _ mark: Image, over size: PixelSize, _ dpr: Double
    ) throws(WebImageError) -> OverlayOperation {
        func axis(_ side: Int, _ length: Int, _ value: Double) -> (start: Int, gap: Int, cut: Int, length: Int) {
            let gap = Self.offset(value, side, dpr)
            let period = max(length + gap, 0)
            return gap < 0
                ? (Self.start(side, period, 0), 0, -(gap / 2), period)
                : (Self.start(side, period, gap / 2), gap, 0, length)
        }
        let across = axis(size.width, mark.size.width, place.x)
        let down = axis(size.height, mark.size.height, place.y)
        let kept = PixelSize(width: across.length, height: down.length)
        guard !kept.isEmpty else { throw .badTransform("the watermark's negative gaps are larger than the watermark") }
        let part = PixelRect(
            x: Double(across.cut), y: Double(down.cut), width: Double(kept.width), height: Double(kept.height))
        return OverlayOperation(
            mark: kept == mark.size ? mark : try mark.cropped(to: part), x: across.start, y: down.start, opacity: 1,
            mode: .normal, gaps: (across.gap, down.gap))
    }

    /// The start of the first tile: at the edge or before it.
    ///
    /// - Parameters:
    ///   - period: the length of a tile with its gap.
    ///   - lead: the part of the gap before a tile.
    private static func start(_ side: Int, _ period: Int, _ lead: Int) -> Int {
        guard period > 0 else { return 0 }
        var count = (side + period - 1) / period
        if count % 2 == 0 { count += 1 }
        let first = (lead - (count * period - side) / 2) % period
        return first > 0 ? first - period : first
    }

    private static func offset(_ value: Double, _ side: Int, _ dpr: Double) -> Int {
        let limit = Double(TransformArguments.longestSide)
        let offset = ImgproxyGeometry.even(value.magnitude >= 1 ? value * dpr : Double(side) * value)
        return Int(min(max(Double(offset), -limit), limit))
    }
}
