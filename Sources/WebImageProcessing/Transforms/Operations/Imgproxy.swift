import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Rotates, flips, crops and scales as imgproxy does. At the beginning of a chain, it is carried out during
    /// decoding.
    public static func imgproxy(_ geometry: ImgproxyGeometry) -> ImageTransform {
        ImageTransform(Imgproxy(geometry: geometry))
    }

    /// Adds the canvas and the padding of a geometry. Use it after ``imgproxy(_:)`` with the same geometry.
    public static func imgproxyCanvas(_ geometry: ImgproxyGeometry) -> ImageTransform {
        ImageTransform(ImgproxyCanvas(geometry: geometry))
    }
}

struct Imgproxy: WrittenOperation, GeometryOperation {
    static let name = "imgproxy"
    static let usage = "imgproxy:WxH[:fit|fill|fill-down|force|auto][:g=ce,X,Y][:c=W,H]..."

    let geometry: ImgproxyGeometry
    /// Whether the picture comes from a vector picture: imgproxy then enlarges it like one.
    private var isOfDrawing = false

    init(geometry: ImgproxyGeometry) { self.geometry = geometry }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        geometry = try ImgproxyGeometry(&arguments)
    }

    var text: String { geometry.text(Self.name) }

    var scales: Bool { true }
    var needsPixels: Bool { geometry.gravity.kind == .smart || geometry.cropPlace.kind == .smart }

    /// A crop before the scaling would be the one that reads the pixels.
    var scalesFirst: Bool { needsPixels && geometry.cropWidth == 0 && geometry.cropHeight == 0 }

    func fold(into fold: inout GeometryFold) throws(WebImageError) {
        let layout = try foldTurnsAndScaling(into: &fold)
        let kept = ImgproxyGeometry.position(of: layout.kept, in: layout.scaled, geometry.gravity, dpr: layout.dpr)
        fold.crop(x: kept.x, y: kept.y, to: layout.kept)
    }

    /// Folds only the scaling. The chain then turns and crops the smaller picture.
    func foldScaling(into fold: inout GeometryFold) throws(WebImageError) {
        // After another step, `compile` would not recognise the scaled picture. A vector picture is folded
        // nevertheless, since it would otherwise lose its sharpness.
        guard fold.isIdentity || fold.isVector else { return }
        let before = fold.turn
        try foldTurnsAndScaling(into: &fold)
        fold.turn(by: before.inverse.followed(by: fold.turn).inverse)
    }

    @discardableResult private func foldTurnsAndScaling(
        into fold: inout GeometryFold
    ) throws(WebImageError) -> ImgproxyGeometry.Layout {
        // After another step, the picture is in display orientation, as if that step had been done separately.
        let (stored, before) = (fold.isIdentity ? fold.orientation : .up, fold.turn)
        let shrinking = fold.isIdentity ? fold.shrinking : nil
        for turn in try turns() { turn.fold(into: &fold) }
        let orientation = stored.followed(by: before.inverse.followed(by: fold.turn))
        let layout = geometry.layout(
            for: fold.size, isVector: fold.isVector || isOfDrawing, shrinking: shrinking)
        // imgproxy crops before it rotates, so that positions are rounded in the directions of the stored picture.
        let isReversed = orientation.reverses(layout.source)
        let part = ImgproxyGeometry.position(
            of: layout.crop, in: layout.source, geometry.cropPlace, dpr: 1, isReversed: isReversed)
        if let part = geometry.partOfDecoded(layout, isReversed: isReversed) {
            fold.crop(x: part.x, y: part.y, to: part.size)
            fold.scale(nil, to: layout.scaled, filter: .libvips)
        } else if layout.source == fold.size {
            fold.crop(x: part.x, y: part.y, to: layout.crop)
            fold.scale(nil, to: layout.scaled, filter: .libvips)
        } else {
            let (across, down) = (
                Double(fold.size.width) / Double(layout.source.width),
                Double(fold.size.height) / Double(layout.source.height)
            )
            let drawn = PixelRect(
                x: Double(part.x) * across, y: Double(part.y) * down, width: Double(layout.crop.width) * across,
                height: Double(layout.crop.height) * down)
            fold.scale(drawn, to: layout.scaled, filter: .libvips)
        }
        return layout
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        let isVector = builder.original?.isVector ?? false
        guard needsPixels else {
            builder.imgproxySource = (turned(builder.size), nil)
            var operation = self
            operation.isOfDrawing = isVector
            return try builder.geometry(operation)
        }
        let fileSource = sourceScaledWhileDecoded(builder)
        let source = fileSource ?? (turned(builder.size), builder.shrinking)
        builder.imgproxySource = source
        for turn in try turns() { try builder.geometry(turn) }
        let layout = geometry.layout(for: source.size, isVector: isVector, shrinking: source.shrinking)
        if fileSource == nil {
            let part = geometry.partOfDecoded(layout, isReversed: (false, false))
            if let part, geometry.cropPlace.kind != .smart {
                try crop(to: part.size, x: part.x, y: part.y, &builder)
            } else {
                try crop(to: part?.size ?? layout.crop, geometry.cropPlace, dpr: 1, &builder)
            }
            try builder.geometry(
                Resize(target: TargetSize(layout.scaled, fit: .fill, upscale: true), gravity: .center, filter: .libvips)
            )
        }
        try crop(to: layout.kept, geometry.gravity, dpr: layout.dpr, &builder)
    }

    private func crop(
        to size: PixelSize, _ place: ImgproxyGeometry.Place, dpr: Double, _ builder: inout ProgramBuilder
    ) throws(WebImageError) {
        if place.kind == .smart, size != builder.size {
            return try builder.whole(SmartCrop(kept: size), size: size, isOpaque: builder.isOpaque)
        }
        let start = ImgproxyGeometry.position(of: size, in: builder.size, place, dpr: dpr)
        try crop(to: size, x: start.x, y: start.y, &builder)
    }

    private func crop(to size: PixelSize, x: Int, y: Int, _ builder: inout ProgramBuilder) throws(WebImageError) {
        try builder.geometry(
            CropRect(
                part: PixelRect(
                    x: Double(x), y: Double(y), width: Double(size.width), height: Double(size.height))))
    }

    /// The size of the picture in the file, turned, if decoding has already scaled it to the builder's current size as
    /// ``foldScaling(into:)`` planned. Nil if the builder's picture is still to be scaled.
    private func sourceScaledWhileDecoded(
        _ builder: ProgramBuilder
    ) -> (size: PixelSize, shrinking: ImgproxyShrinking?)? {
        guard scalesFirst, let original = builder.original else { return nil }
        let source = turned(original.size)
        let layout = geometry.layout(for: source, isVector: original.isVector, shrinking: original.shrinking)
        return turned(layout.scaled) == builder.size ? (source, original.shrinking) : nil
    }

    private func turned(_ size: PixelSize) -> PixelSize { geometry.rotation % 2 == 0 ? size : size.transposed }

    private func turns() throws(WebImageError) -> [any TurningOperation] {
        try geometry.check()
        return [
            Turn(quarters: ((geometry.rotation % 4) + 4) % 4),
            Flip(horizontally: geometry.flipsHorizontally, vertically: geometry.flipsVertically),
        ]
    }
}

struct ImgproxyCanvas: WrittenOperation, PlannedOperation {
    static let name = "imgproxy-canvas"
    static let usage = "imgproxy-canvas:WxH[:extend][:exar][:pd=T,R,B,L]... (as in imgproxy)"

    let geometry: ImgproxyGeometry

    init(geometry: ImgproxyGeometry) { self.geometry = geometry }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        geometry = try ImgproxyGeometry(&arguments)
    }

    var text: String { geometry.text(Self.name) }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        try geometry.check()
        guard let layout = builder.imgproxyLayout(geometry) else {
            throw .badTransform("imgproxy-canvas needs to know the size of the picture before it was scaled")
        }
        let picture = builder.size
        let canvas = PixelSize(
            width: max(layout.canvas.width, picture.width), height: max(layout.canvas.height, picture.height))
        let place = geometry.extend ? geometry.extendGravity : geometry.extendAspectRatioGravity
        let start = ImgproxyGeometry.position(of: picture, in: canvas, place, dpr: layout.dpr)
        try builder.canvas(canvas, x: start.x, y: start.y, color: .clear)
        try Pad(lengths: layout.padding, color: .clear).compile(into: &builder)
    }
}

extension ProgramBuilder {
    /// The layout of a geometry for the picture before it was scaled; nil if its size is unknown.
    func imgproxyLayout(_ geometry: ImgproxyGeometry) -> ImgproxyGeometry.Layout? {
        // If the scaling was part of decoding, the source is the picture in the file.
        let whole = original.map { geometry.rotation % 2 == 0 ? $0.size : $0.size.transposed }
        guard let source = imgproxySource ?? whole.map({ ($0, original?.shrinking) }) else { return nil }
        return geometry.layout(
            for: source.size, isVector: original?.isVector ?? false, shrinking: source.shrinking)
    }
}

/// A turn or flip, which cannot fail.
protocol TurningOperation: GeometryOperation {
    func fold(into fold: inout GeometryFold)
}

extension Turn: TurningOperation {}
extension Flip: TurningOperation {}

extension ImgproxyGeometry {
    /// The gravity of the crop before the scaling.
    var cropPlace: Place { cropGravity ?? gravity }

    /// The longest side that a geometry may ask for, in pixels. A longer one is refused with `transformFailed`.
    public static let longestSide = TransformArguments.longestSide

    private static let sides = 0...longestSide

    /// - Throws: `transformFailed` for invalid numbers.
    func check() throws(WebImageError) {
        let lengths = [width, height, minWidth, minHeight, maxResultDimension] + padding.all
        let factors = [zoomX, zoomY, dpr]
        guard lengths.allSatisfy({ Self.sides.contains($0) }), maxDrawnPixels >= 0,
            factors.allSatisfy({ $0.isFinite && $0 > 0 && $0 <= 1e4 }),
            [cropWidth, cropHeight].allSatisfy({ $0.isFinite && $0 >= 0 })
        else { throw .badTransform("imgproxy: a size, a factor or a crop is out of range") }
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        self.init()
        enlarge = arguments.flag("enlarge")
        extend = arguments.flag("extend")
        extendAspectRatio = arguments.flag("exar")
        resizing = arguments.first { Resizing(rawValue: String($0)) } ?? .fit
        if let size = arguments.nextIfAny() {
            let sides = try size.size(needsBoth: false)
            (width, height) = (sides.width ?? 0, sides.height ?? 0)
        }
        if let least = try arguments.named("min")?.size(needsBoth: false) {
            (minWidth, minHeight) = (least.width ?? 0, least.height ?? 0)
        }
        if let zoom = try arguments.named("z")?.numbers([1, 2], in: 0.0001...1e4, "a zoom") {
            (zoomX, zoomY) = (zoom[0], zoom[zoom.count - 1])
        }
        dpr = try arguments.named("dpr")?.number(in: 0.0001...1e4, "a dpr") ?? 1
        gravity =
            try arguments.named("g").map { argument throws(TransformSyntaxError) in try Place(argument) } ?? Place()
        if let crop = try arguments.named("c")?.numbers([2], in: 0...1e9, "a crop") {
            (cropWidth, cropHeight) = (crop[0], crop[1])
        }
        if let place = arguments.named("cg") { cropGravity = try Place(place) }
        if let place = arguments.named("exg") { extendGravity = try Place(place) }
        if let place = arguments.named("exarg") { extendAspectRatioGravity = try Place(place) }
        if let argument = arguments.named("pd") {
            let numbers = try argument.numbers([4], in: 0...Double(TransformArguments.longestSide), "a padding")
            guard numbers.allSatisfy({ $0 == $0.rounded() }) else {
                throw argument.fails("a padding must be a whole number of pixels")
            }
            padding = EdgeLengths(
                top: Int(numbers[0]), right: Int(numbers[1]), bottom: Int(numbers[2]), left: Int(numbers[3]))
        }
        maxResultDimension = try arguments.named("mrd")?.whole(in: Self.sides, "a longest side") ?? 0
        maxDrawnPixels = try arguments.named("mdp")?.whole(in: 0...1_000_000_000_000, "a number of pixels") ?? 0
        if let angle = arguments.named("rot") {
            rotation = try angle.whole(in: -3600...3600, "a rotation") / 90
            guard Int(angle.value) == rotation * 90 else { throw angle.fails("a rotation must be a multiple of 90") }
            rotation = ((rotation % 4) + 4) % 4
        }
        if let flip = arguments.named("fl") {
            guard ["x", "y", "xy"].contains(flip.value) else { throw flip.fails("a flip must be x, y or xy") }
            flipsHorizontally = flip.value.contains("x")
            flipsVertically = flip.value.contains("y")
        }
    }

    func text(_ name: String) -> String {
        func sides(_ one: Int, _ other: Int) -> String { "\(one > 0 ? "\(one)" : "")x\(other > 0 ? "\(other)" : "")" }
        var text = TransformText(name)
        if width > 0 || height > 0 { text = text.add(sides(width, height)) }
        text = text.add(resizing.rawValue, if: resizing != .fit).add("enlarge", if: enlarge).add("extend", if: extend)
            .add("exar", if: extendAspectRatio)
        text = text.add("min=" + sides(minWidth, minHeight), if: minWidth > 0 || minHeight > 0)
        text = text.add("z=" + zoomX.shortText + "," + zoomY.shortText, if: zoomX != 1 || zoomY != 1)
        text = text.add("dpr", dpr, unless: 1).add("g=" + gravity.text, if: gravity != Place())
        text = text.add("c=" + cropWidth.shortText + "," + cropHeight.shortText, if: cropWidth > 0 || cropHeight > 0)
        if let cropGravity { text = text.add("cg=" + cropGravity.text) }
        text = text.add("exg=" + extendGravity.text, if: extendGravity != Place())
        text = text.add("exarg=" + extendAspectRatioGravity.text, if: extendAspectRatioGravity != Place())
        text = text.add(
            "pd=" + padding.all.map(String.init).joined(separator: ","), if: padding != EdgeLengths())
        text = text.add("mrd", Double(maxResultDimension), unless: 0).add("mdp", Double(maxDrawnPixels), unless: 0)
            .add("rot", Double(rotation % 4 * 90), unless: 0)
        let flip = (flipsHorizontally ? "x" : "") + (flipsVertically ? "y" : "")
        return text.add("fl=" + flip, if: !flip.isEmpty).text
    }
}

extension ImgproxyGeometry.Place {
    init(_ argument: TransformArguments.Argument) throws(TransformSyntaxError) {
        let parts = argument.value.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().map { Double($0) }
        guard let kind = parts.first.flatMap({ Kind(rawValue: String($0)) }), numbers.count <= 2,
            numbers.allSatisfy({ $0.map { $0.isFinite && $0.magnitude <= 1e9 } ?? false })
        else {
            throw argument.fails("a gravity must be ce, no, so, ea, we, noea, nowe, soea, sowe, fp or sm, then X,Y")
        }
        self.init(kind, x: numbers.first.flatMap { $0 } ?? 0, y: numbers.count > 1 ? numbers[1] ?? 0 : 0)
    }

    var text: String {
        x == 0 && y == 0 ? kind.rawValue : [kind.rawValue, x.shortText, y.shortText].joined(separator: ",")
    }
}

extension ImageTransform {
    /// The geometry of the imgproxy step in a text; nil for other steps. For tests.
    package static func imgproxyGeometry(of text: String) throws(TransformSyntaxError) -> ImgproxyGeometry? {
        (try parse(text).first?.operation as? Imgproxy)?.geometry
    }
}
