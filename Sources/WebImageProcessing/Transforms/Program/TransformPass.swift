import WebImageCore

/// Consecutive stages that work row by row, from one buffer to another. The rows between them are floats, without
/// rounding.
struct TransformPass: Sendable {
    /// One stage of a pass.
    struct Stage: Sendable {
        enum Work: Sendable {
            case resample(ResampleAxes)
            /// Keeps a part that begins at this position.
            case crop(x: Int, y: Int)
            case points([any PointOperation])
            case canvas(CanvasPlan)
            case sharpen(SharpenPlan)
            case neighbors(CustomNeighbors)
        }

        let work: Work
        let input: PixelSize
        let output: PixelSize
        /// Whether all pixels are opaque after the stage.
        let isOpaque: Bool

        /// Whether each pixel of the result is a weighted sum of pixels.
        var onlyWeighs: Bool { if case .resample = work { true } else { false } }
    }

    /// The whole pixels of the source with which the pass begins.
    var view: PixelRect
    var stages: [Stage] = []
    /// The turn of the result at the end.
    var turn = Orientation.up

    /// The number of source rows between checkpoints, since a result may have too few rows to check often enough.
    private static let rowsBetweenCheckpoints = 16
    private static let opaqueBytes = RowSamples(kind: .eight, alpha: .opaque)

    /// The size of the result before the turn.
    var output: PixelSize {
        stages.last?.output ?? PixelSize(width: Int(view.width), height: Int(view.height))
    }

    /// Runs the pass.
    ///
    /// - Parameters:
    ///   - layout: the layout of the result, whose alpha is opaque or straight.
    ///   - helpers: threads that take a part of a large picture while they are idle. The result is the same.
    ///   - checkpoint: called before each row of the result, and after some rows of the source; its error ends the
    ///     pass.
    /// - Throws: `limitExceeded` without memory, and the error of the checkpoint.
    func run(
        _ image: Image, to layout: PixelLayout, with helpers: TransformProgram.Helpers? = nil,
        _ checkpoint: TransformProgram.Checkpoint? = nil
    ) throws(WebImageError) -> PixelBuffer {
        var pixels: PixelBuffer
        if stages.isEmpty {
            pixels = try Source(image, view).copied()
            if image.alpha == .premultiplied { pixels.unpremultiply() }
            pixels = try pixels.inLayout(layout)
        } else {
            pixels = try PixelBuffer(size: output, layout: layout)
            try share(bands(helpers), with: helpers) { [pixels] (band) throws(WebImageError) in
                try run(Source(image, view), into: PassOutput(pixels, checkpoint), band)
            }
        }
        return try pixels.oriented(by: turn)
    }

    /// Makes some rows of the result.
    private func run(_ source: Source, into result: PassOutput, _ band: PassBand) throws(WebImageError) {
        let isOpaque = stages.last?.isOpaque ?? (source.samples.alpha == .opaque)
        var next: any RowOutput = result
        var samples = RowSamples(result.pixels.layout, isOpaque ? .opaque : .straight)
        // Opaque bytes that are only weighted are processed as integers, which is twice as fast, and exact to one
        // level.
        let bytes = Self.opaqueBytes
        let staysBytes = samples == bytes && source.samples == bytes && stages.allSatisfy(\.onlyWeighs)
        for index in stages.indices.dropFirst().reversed() {
            let wasOpaque = stages[index - 1].isOpaque
            let input = staysBytes ? bytes : RowSamples.floats(isOpaque: wasOpaque)
            next = try makeOutput(stages[index], band.rows[index], from: input, to: samples, next: next)
            samples = input
        }
        try drive(stages[0], source, band, to: samples, next, result.checkpoint)
    }

    /// Makes the output that takes rows of floats for a stage.
    private func makeOutput(
        _ stage: Stage, _ rows: Range<Int>, from input: RowSamples, to samples: RowSamples, next: any RowOutput
    ) throws(WebImageError) -> any RowOutput {
        switch stage.work {
        case .points(let operations):
            return try PointOutput(operations, width: stage.input.width, from: input, to: samples, next: next)
        case .resample(let axes):
            let work = try axes.makeStage(from: input, to: samples, rows: rows)
            return StageInput(work, size: stage.input, bytesPerPixel: input.bytesPerPixel, next: next)
        case .crop(let x, let y):
            let next = try takingFloats(next, stage, samples)
            let copy = CopyStage(bytesPerPixel: 16, left: x, top: y, width: stage.output.width, rows: rows)
            return StageInput(copy, size: stage.input, bytesPerPixel: 16, next: next)
        case .canvas(let plan):
            return try CanvasOutput(plan, rows: rows, next: try takingFloats(next, stage, samples))
        case .sharpen(let plan):
            let next = try takingFloats(next, stage, samples)
            return try SharpenOutput(plan, size: stage.input, rows: rows, isOpaque: stage.isOpaque, next: next)
        case .neighbors(let operation):
            let next = try takingFloats(next, stage, samples)
            let work = NeighborStage(operation, size: stage.input, rows: rows)
            return StageInput(work, size: stage.input, bytesPerPixel: 16, next: next)
        }
    }

    /// Converts floats for `next` if it does not take them.
    private func takingFloats(
        _ next: any RowOutput, _ stage: Stage, _ samples: RowSamples
    ) throws(WebImageError) -> any RowOutput {
        if samples.kind == .floats { return next }
        let floats = RowSamples.floats(isOpaque: stage.isOpaque)
        return try PointOutput([], width: stage.output.width, from: floats, to: samples, next: next)
    }

    /// Feeds the first stage directly with the rows of the source in memory.
    private func drive(
        _ stage: Stage, _ source: Source, _ band: PassBand, to samples: RowSamples, _ next: any RowOutput,
        _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) {
        switch stage.work {
        case .resample(let axes):
            let work = try axes.makeStage(from: source.samples, to: samples, rows: band.rows[0])
            try advance(work, source, rows: stage.input.height, next, checkpoint)
        case .points(let operations):
            try load(source, band.source, operations, to: samples, next, checkpoint)
        case .sharpen(let plan):
            guard let amount = plan.mildAmount, source.samples == Self.opaqueBytes, samples == source.samples else {
                fallthrough
            }
            // The input and the output are bytes, and the original rows are in memory.
            let output = ByteSharpenOutput(amount, source.rows, size: stage.input, next: next)
            try feed(plan.blur, source, band.rows[0], output, checkpoint)
        case .crop, .canvas, .neighbors:
            let floats = RowSamples.floats(isOpaque: source.samples.alpha == .opaque)
            let first = try makeOutput(stage, band.rows[0], from: floats, to: samples, next: next)
            try load(source, band.source, [], to: floats, first, checkpoint)
        }
    }

    /// - Parameter rows: the rows of the filters' result that are made.
    private func feed(
        _ filters: [SizedAxes], _ source: Source, _ rows: Range<Int>, _ output: any RowOutput,
        _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) {
        let samples = source.samples
        var (next, rows) = (output, rows)
        for filter in filters.dropFirst().reversed() {
            let stage = try filter.axes.makeStage(from: samples, to: samples, rows: rows)
            next = StageInput(stage, size: filter.input, bytesPerPixel: samples.bytesPerPixel, next: next)
            rows = filter.axes.inputRows(for: rows)
        }
        guard let first = filters.first else { return }
        let stage = try first.axes.makeStage(from: samples, to: samples, rows: rows)
        try advance(stage, source, rows: first.input.height, next, checkpoint)
    }

    /// Runs a stage over the rows of the source, some at a time.
    private func advance(
        _ stage: any ResampleStage, _ source: Source, rows: Int, _ next: any RowOutput,
        _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) {
        var available = 0
        while available < rows {
            try checkpoint?()
            available = min(available + Self.rowsBetweenCheckpoints, rows)
            try stage.advance(source.rows, available: available, into: next)
        }
    }

    private func load(
        _ source: Source, _ rows: Range<Int>, _ operations: [any PointOperation], to samples: RowSamples,
        _ next: any RowOutput, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) {
        let runner = PointRunner(operations, width: source.size.width)
        // Consecutive unchanged rows are copied together. Most rows of a picture that gets round corners are unchanged.
        let copies = samples == source.samples || (samples.kind == source.samples.kind && samples.alpha == .straight)
        let whole = copies && samples.kind != .floats ? (next as? PassOutput)?.pixels : nil
        var y = rows.lowerBound
        while y < rows.upperBound {
            if let whole, source.rows.bytesPerRow == whole.bytesPerRow, source.samples.alpha != .premultiplied {
                let first = y
                while y < rows.upperBound, !runner.changes(row: y) { y += 1 }
                whole.row(first).copyMemory(
                    from: source.rows.address(of: first), byteCount: (y - first) * whole.bytesPerRow)
                if y == rows.upperBound { break }
            }
            if y % Self.rowsBetweenCheckpoints == 0 { try checkpoint?() }
            let target = try next.row(y)
            runner.apply(y: y, from: source.rows.address(of: y), source.samples, to: target, samples.kind)
            try next.commit(y)
            y += 1
        }
    }
}

extension TransformPass {
    /// Whole pixels of a picture in their original memory.
    private struct Source {
        let image: Image
        let x: Int
        let y: Int
        let size: PixelSize
        let samples: RowSamples
        let rows: HeldRows

        init(_ image: Image, _ view: PixelRect) {
            self.image = image
            (x, y) = (Int(view.x), Int(view.y))
            size = PixelSize(width: Int(view.width), height: Int(view.height))
            samples = RowSamples(image.layout, image.alpha)
            let base = image.pixels.row(y) + x * image.layout.bytesPerPixel
            rows = HeldRows(base: UnsafeRawPointer(base), first: 0, bytesPerRow: image.pixels.bytesPerRow)
        }

        func copied() throws(WebImageError) -> PixelBuffer { try image.pixels.cropped(x: x, y: y, to: size) }
    }
}
