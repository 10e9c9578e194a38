import WebImageCore

/// Compiles a chain: collects the work of each transform in order, and combines it into as few passes and stages as
/// possible.
struct ProgramBuilder {
    /// The most stages of a pass; further stages are in another pass. Each stage keeps some rows of floats, and calls
    /// the next one.
    static let maxStages = 64

    /// The current size of the picture.
    private(set) var size: PixelSize
    /// Whether all its pixels are opaque at this point.
    private(set) var isOpaque: Bool
    /// The limits for the result and intermediate pictures.
    let limits: DecodeLimits
    /// The properties of the picture's file; nil for a picture that did not come from one.
    let original: OriginalPicture?
    /// The picture before imgproxy's scaling, if that is in this chain.
    var imgproxySource: (size: PixelSize, shrinking: ImgproxyShrinking?)?
    private var parts: [TransformProgram.Part] = []
    private var geometry: GeometryFold
    private var points: [any PointOperation] = []
    private var stages: [TransformPass.Stage] = []
    /// The size of the current pass's source.
    private var sourceSize: PixelSize
    /// The part of the source that is used.
    private var view: PixelRect

    init(size: PixelSize, isOpaque: Bool, original: OriginalPicture?, limits: DecodeLimits) {
        self.original = original
        self.size = size
        self.isOpaque = isOpaque
        self.limits = limits
        geometry = GeometryFold(source: size)
        sourceSize = size
        view = PixelRect(size)
    }

    /// How imgproxy's decoder scales the picture down, if the picture is still as its file has it: whole and unchanged.
    var shrinking: ImgproxyShrinking? {
        let isUntouched = parts.isEmpty && stages.isEmpty && points.isEmpty && geometry.isIdentity
        return isUntouched && size == original?.size ? original?.shrinking : nil
    }

    // MARK: what a transform may add

    mutating func geometry(_ operation: any GeometryOperation) throws(WebImageError) {
        if !points.isEmpty { endPoints() }
        if operation.scales, geometry.isScaled { endGeometry() }
        try operation.fold(into: &geometry)
        try limits.check(result: geometry.size)
        if geometry.isScaled { try Resampler.checkSides(geometry.source, geometry.size) }
        size = geometry.size
    }

    /// - Parameter isOpaque: whether an opaque picture stays opaque; nil: unchanged.
    mutating func point(_ operation: any PointOperation, isOpaque: Bool? = nil) {
        endGeometry()
        if let last = points.last, let both = last.joined(with: operation) {
            points[points.count - 1] = both
        } else {
            points.append(operation)
        }
        if let isOpaque { self.isOpaque = isOpaque }
    }

    mutating func filter(_ filters: [SizedAxes]) {
        endPoints()
        for filter in filters { add(.resample(filter.axes), from: filter.input, to: filter.axes.output) }
    }

    mutating func sharpen(_ plan: SharpenPlan) {
        endPoints()
        add(.sharpen(plan), from: size, to: size)
    }

    mutating func neighbors(_ operation: CustomNeighbors) {
        endPoints()
        add(.neighbors(operation), from: size, to: size)
    }

    /// - Parameters:
    ///   - x: the position of the picture on the canvas, which contains it completely.
    ///   - color: the colour of the area around it.
    mutating func canvas(_ canvas: PixelSize, x: Int, y: Int, color: RGBAColor) throws(WebImageError) {
        try limits.check(result: canvas)
        guard canvas != size else { return }
        endPoints()
        let plan = CanvasPlan(picture: size, canvas: canvas, x: x, y: y, color: SIMD4(color.premultiplied))
        if color.alpha < 255 { isOpaque = false }
        add(.canvas(plan), from: size, to: canvas)
    }

    /// - Parameters:
    ///   - size: the size of the result.
    ///   - isOpaque: whether the result is opaque.
    mutating func whole(_ operation: any WholeOperation, size: PixelSize, isOpaque: Bool) throws(WebImageError) {
        try limits.check(result: size)
        endPass()
        parts.append(.whole(operation))
        self.isOpaque = isOpaque
        begin(size)
    }

    /// Adds an operation whose result has a size that depends on pixels. The rest is compiled when that size is known.
    mutating func whole(_ operation: any WholeOperation, then rest: ArraySlice<ImageTransform>) -> TransformProgram {
        endPass()
        parts.append(.whole(operation))
        if !rest.isEmpty { parts.append(.rest(rest)) }
        return TransformProgram(parts: parts, output: nil, limits: limits)
    }

    /// - Returns: the program of everything that was added. The rest is compiled when it has run.
    mutating func finish(then rest: ArraySlice<ImageTransform>) -> TransformProgram {
        endPass()
        parts.append(.rest(rest))
        return TransformProgram(parts: parts, output: nil, limits: limits)
    }

    /// - Returns: the program of everything that was added.
    mutating func finish() -> TransformProgram {
        endPass()
        return TransformProgram(parts: parts, output: size, limits: limits)
    }
}

extension ProgramBuilder {
    /// Ends the combined geometry: later operations see its result.
    private mutating func endGeometry() {
        defer { geometry = GeometryFold(source: size) }
        guard !geometry.isIdentity else { return }
        let turn = geometry.turn
        let stored = geometry.source
        let seen = turn.storedRect(of: geometry.view, stored: stored)
        let part = turn.storedRect(of: geometry.part, stored: stored)
        let output = turn.storedSize(of: geometry.size)
        if stages.isEmpty, !geometry.isScaled || seen != PixelRect(stored) {
            view = seen
            if geometry.isScaled {
                let within = PixelRect(x: part.x - seen.x, y: part.y - seen.y, width: part.width, height: part.height)
                let input = PixelSize(width: Int(seen.width), height: Int(seen.height))
                add(.resample(axes(within, of: input, to: output)), from: input, to: output)
            }
        } else if geometry.isScaled {
            let bounds = seen == PixelRect(stored) ? nil : seen
            add(.resample(axes(part, of: stored, to: output, within: bounds)), from: stored, to: output)
        } else if seen != PixelRect(stored) {
            add(.crop(x: Int(seen.x), y: Int(seen.y)), from: stored, to: output)
        }
        size = output
        if turn != .up { endPass(turnedBy: turn) }
    }

    private mutating func endPoints() {
        if points.isEmpty { return endGeometry() }
        let operations = points
        points = []
        add(.points(operations), from: size, to: size)
        geometry = GeometryFold(source: size)
    }

    private mutating func add(_ work: TransformPass.Stage.Work, from input: PixelSize, to output: PixelSize) {
        if stages.count == Self.maxStages {
            endPass(turnedBy: .up)
            begin(input)
        }
        stages.append(TransformPass.Stage(work: work, input: input, output: output, isOpaque: isOpaque))
        size = output
        geometry = GeometryFold(source: size)
    }

    private mutating func endPass() {
        endPoints()
        endPass(turnedBy: .up)
    }

    private mutating func endPass(turnedBy turn: Orientation) {
        var pass = TransformPass(view: view)
        pass.stages = stages
        pass.turn = turn
        let isWhole = view.x == 0 && view.y == 0 && pass.output == sourceSize
        // Of the last stage: the builder's own value may already be that of an operation after the pass.
        let isOpaque = stages.last?.isOpaque ?? self.isOpaque
        if !stages.isEmpty || turn != .up || !isWhole { parts.append(.pass(pass, isOpaque: isOpaque)) }
        begin(turn.displaySize(of: size))
    }

    private mutating func begin(_ size: PixelSize) {
        self.size = size
        stages = []
        view = PixelRect(size)
        sourceSize = size
        geometry = GeometryFold(source: size)
    }

    private func axes(
        _ part: PixelRect, of input: PixelSize, to output: PixelSize, within bounds: PixelRect? = nil
    ) -> ResampleAxes {
        ResampleAxes(part, of: input, to: output, filter: geometry.filter, within: bounds)
    }
}
