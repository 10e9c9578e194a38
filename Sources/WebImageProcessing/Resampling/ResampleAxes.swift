import WebImageCore

/// The weights of a separable filter in both directions, for resizing and for blurring, which resizes twice.
struct ResampleAxes: Sendable {
    let vertical: ResampleAxis
    let horizontal: ResampleAxis
    /// Whether the filter produces fewer rows than the input has; see ``VerticalPlan``.
    let reduces: Bool
    /// Whether some weights are below 0.
    let overshoots: Bool
    /// The same weights in compact form, for a small blur; otherwise nil.
    let bell: BellWeights?

    private static let recent = RecentAxes()
    /// The most weights of an output, on average, that are stored as whole numbers.
    private static let mostWhole = 4096

    /// - Parameters:
    ///   - part: the part of `input` that becomes `output`.
    ///   - bounds: the whole pixels that the filter may use; nil means all.
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

    /// The input rows for these rows of the result. Sums are computed for four rows at a time. The groups of four of a
    /// part are aligned to those of the whole, so that the result is the same.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let windows = vertical.windows
        let (start, first) = (windows.starts[rows.lowerBound], windows.inputs.lowerBound)
        return (reduces ? start - (start - first) % 4 : start)..<windows.ends[rows.upperBound - 1]
    }

    /// Makes the stage that turns rows of `input` into rows of `output`.
    ///
    /// - Parameter rows: the rows of the result to make; at least one.
    /// - Throws: `limitExceeded` without memory.
    func makeStage(
        from input: RowSamples, to output: RowSamples, inLinearLight: Bool = false, rows: Range<Int>
    ) throws(WebImageError) -> any ResampleStage {
        // Whole numbers of 14 bits are too coarse for the weights of very many pixels.
        let isFine = [horizontal, vertical].allSatisfy {
            $0.windows.weightCount <= Self.mostWhole * max($0.windows.count, 1)
        }
        let areBytes = input == RowSamples(kind: .eight, alpha: .opaque) && !inLinearLight && isFine
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
