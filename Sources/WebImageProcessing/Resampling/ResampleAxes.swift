import WebImageCore

/// What a separable filter weighs, in both directions: resizing, and blurring, which is resizing twice.
struct ResampleAxes: Sendable {
    let vertical: ResampleAxis
    let horizontal: ResampleAxis
    /// Whether it makes fewer rows than there are; see ``VerticalPlan``.
    let reduces: Bool
    /// Whether some weights are below 0.
    let overshoots: Bool
    /// The same in short, where it is a small blur.
    let bell: BellWeights?

    private static let recent = RecentAxes()

    /// - Parameters:
    ///   - part: what becomes `output`, within `input`.
    ///   - bounds: the pixels that count, whole ones; nil: all.
    init(
        _ part: PixelRect, of input: PixelSize, to output: PixelSize, filter: ResampleFilter, within bounds: PixelRect?
    ) {
        horizontal = Self.recent.axis(
            .init(
                input: input.width, start: part.x, length: part.width, output: output.width, filter: filter,
                bounds: bounds.map { Int($0.x)..<Int($0.x + $0.width) }))
        vertical = Self.recent.axis(
            .init(
                input: input.height, start: part.y, length: part.height, output: output.height, filter: filter,
                bounds: bounds.map { Int($0.y)..<Int($0.y + $0.height) }))
        reduces = part.height >= Double(output.height)
        overshoots = filter.overshoots
        bell = nil
    }

    init(
        vertical: ResampleWindows<Double>, horizontal: ResampleWindows<Double>, reduces: Bool, overshoots: Bool,
        bell: BellWeights? = nil
    ) {
        self.bell = bell
        self.vertical = ResampleAxis(vertical)
        self.horizontal = ResampleAxis(horizontal)
        self.reduces = reduces
        self.overshoots = overshoots
    }

    var output: PixelSize { PixelSize(width: horizontal.windows.count, height: vertical.windows.count) }

    var allRows: Range<Int> { 0..<vertical.windows.count }

    /// The input rows that these rows of the result are made of. Sums are made of four rows at a time: those of a part begin with
    /// four of the whole, so that it comes out the same.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let windows = vertical.windows
        let (start, first) = (windows.starts[rows.lowerBound], windows.inputs.lowerBound)
        return (reduces ? start - (start - first) % 4 : start)..<windows.ends[rows.upperBound - 1]
    }

    /// The stage that carries it out, rows of `input` in, rows of `output` out.
    ///
    /// - Parameter rows: those of the result that are made; at least one.
    /// - Throws: `limitExceeded` without memory.
    func makeStage(
        from input: RowSamples, to output: RowSamples, inLinearLight: Bool = false, rows: Range<Int>
    ) throws(WebImageError) -> any ResampleStage {
        let areBytes = input == RowSamples(kind: .eight, alpha: .opaque) && !inLinearLight
        let givesFloats = output == .floats(isOpaque: true)
        if areBytes, input == output, let bell { return try ByteBlurStage(bell, size: self.output, rows: rows) }
        let plan = VerticalPlan(vertical.windows, reduces: reduces)
        let kernel: any ResampleKernel =
            if areBytes, givesFloats || input == output {
                try IntegerResampleKernel(self, slots: plan.slots, givesFloats: givesFloats)
            } else {
                try FloatResampleKernel(
                    self, slots: plan.slots, from: input, to: output, inLinearLight: inLinearLight)
            }
        return reduces
            ? ScatterStage(plan, kernel, rows: rows, of: inputRows(for: rows)) : GatherStage(plan, kernel, rows: rows)
    }
}
