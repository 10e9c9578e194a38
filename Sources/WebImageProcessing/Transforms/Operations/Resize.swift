public import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Scales the picture to a size.
    ///
    /// - Parameters:
    ///   - target: the size, and how the picture is fitted to it.
    ///   - gravity: which part of a cropped picture is kept (``/WebImageCore/ImageFit/cover``). Default the middle.
    ///   - filter: the filter for scaling. Default ``ResampleFilter/lanczos3``.
    public static func resize(
        _ target: TargetSize, at gravity: Gravity = .center, filter: ResampleFilter = .lanczos3
    ) -> ImageTransform { ImageTransform(Resize(target: target, gravity: gravity, filter: filter)) }

    /// Scales the picture to a size; a side that is not given follows from the aspect ratio.
    public static func resize(
        width: Int? = nil, height: Int? = nil, fit: ImageFit = .contain, upscale: Bool = false,
        at gravity: Gravity = .center, filter: ResampleFilter = .lanczos3
    ) -> ImageTransform {
        .resize(
            TargetSize(width: width, height: height, fit: fit, upscale: upscale), at: gravity, filter: filter)
    }
}

struct Resize: WrittenOperation, GeometryOperation {
    static let name = "resize"
    static let usage =
        "resize:WxH[:contain|cover|fill][:upscale][:at=PLACE][:filter=lanczos3|bicubic|bilinear|box|libvips]"

    let target: TargetSize
    let gravity: Gravity
    let filter: ResampleFilter

    init(target: TargetSize, gravity: Gravity, filter: ResampleFilter) {
        self.target = target
        self.gravity = gravity
        self.filter = filter
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let size = try arguments.next("a size").size(needsBoth: false)
        let fit = arguments.first { ImageFit(rawValue: String($0)) } ?? .contain
        target = TargetSize(
            width: size.width, height: size.height, fit: fit, upscale: arguments.flag("upscale"))
        gravity = try arguments.named("at")?.gravity() ?? .center
        var filter = ResampleFilter.lanczos3
        if let wanted = arguments.named("filter") {
            guard let known = ResampleFilter(rawValue: String(wanted.value)) else {
                let names = ResampleFilter.allCases.map(\.rawValue).joined(separator: ", ")
                throw wanted.fails("a filter must be one of \(names)")
            }
            filter = known
        }
        self.filter = filter
    }

    var text: String {
        let size = (target.width.map(String.init) ?? "") + "x" + (target.height.map(String.init) ?? "")
        var text = TransformText(Self.name).add(size)
            .add(target.fit.rawValue, if: target.fit != .contain).add("upscale", if: target.upscale)
            .add("at", gravity)
        if filter != .lanczos3 { text = text.add("filter=" + filter.rawValue) }
        return text.text
    }

    var scales: Bool { true }
    var needsPixels: Bool { gravity == .smart && target.fit == .cover }

    func fold(into fold: inout GeometryFold) {
        let (plan, whole) = plan(for: fold)
        guard let whole else { return fold.scale(plan.crop, to: plan.outputStored, filter: filter) }
        fold.scale(nil, to: whole, filter: filter)
        let place = gravity.place(of: plan.outputStored, in: whole)
        fold.crop(x: place.x, y: place.y, to: plan.outputStored)
    }

    var scalesFirst: Bool { needsPixels }

    func foldScaling(into fold: inout GeometryFold) {
        if let whole = plan(for: fold).whole { fold.scale(nil, to: whole, filter: filter) }
    }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        guard needsPixels else { return try builder.geometry(self) }
        let (plan, whole) = plan(for: GeometryFold(source: builder.size))
        guard let whole else { return }
        try builder.geometry(
            Resize(
                target: TargetSize(whole, fit: .fill, upscale: true), gravity: .center, filter: filter))
        try builder.whole(
            SmartCrop(kept: plan.outputStored), size: plan.outputStored, isOpaque: builder.isOpaque)
    }

    /// The plan for a picture. For an off-centre part, `whole` is the size of the whole picture at the scale of that
    /// part.
    private func plan(for fold: GeometryFold) -> (ResizePlan, whole: PixelSize?) {
        var target = target
        if fold.isVector { target.upscale = true }
        let plan = ResizePlan(stored: fold.size, target: target)
        guard gravity != .center, target.fit == .cover else { return (plan, nil) }
        let output = plan.outputStored
        return (
            plan,
            PixelSize(
                width: max(Self.side(fold.size.width, output.width, plan.crop.width), output.width),
                height: max(Self.side(fold.size.height, output.height, plan.crop.height), output.height))
        )
    }

    private static func side(_ side: Int, _ output: Int, _ part: Double) -> Int {
        Int(min((Double(side) * Double(output) / part).rounded(), 0x1p40))
    }
}
