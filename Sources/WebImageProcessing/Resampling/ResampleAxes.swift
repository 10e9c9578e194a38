import WebImageCore

/// What a separable filter weighs, in both directions: resizing, and blurring, which is resizing twice.
struct ResampleAxes: Sendable {
    let vertical: ResampleWindows<Double>
    let horizontal: ResampleWindows<Double>
    /// Whether it makes fewer rows than there are; see ``VerticalPlan``.
    let reduces: Bool
    /// Whether some weights are below 0.
    let overshoots: Bool
    /// The same in short, where it is a small blur.
    let bell: BellWeights?

    private static let recentWindows = RecentWindows()

    /// - Parameters:
    ///   - part: what becomes `output`, within `input`.
    ///   - bounds: the pixels that count, whole ones; nil: all.
    init(
        _ part: PixelRect, of input: PixelSize, to output: PixelSize, filter: ResampleFilter, within bounds: PixelRect?
    ) {
        horizontal = Self.recentWindows.windows(
            .init(
                input: input.width, start: part.x, length: part.width, output: output.width, filter: filter,
                bounds: bounds.map { Int($0.x)..<Int($0.x + $0.width) }))
        vertical = Self.recentWindows.windows(
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
        self.vertical = vertical
        self.horizontal = horizontal
        self.reduces = reduces
        self.overshoots = overshoots
    }

    var output: PixelSize { PixelSize(width: horizontal.count, height: vertical.count) }

    /// The stage that carries it out, rows of `input` in, rows of `output` out.
    ///
    /// - Throws: `limitExceeded` without memory.
    func makeStage(
        from input: RowSamples, to output: RowSamples, inLinearLight: Bool = false
    ) throws(WebImageError) -> any ResampleStage {
        let areBytes = input == RowSamples(kind: .eight, alpha: .opaque) && !inLinearLight
        let givesFloats = output == .floats(isOpaque: true)
        if areBytes, input == output, let bell { return try ByteBlurStage(bell, size: self.output) }
        let plan = VerticalPlan(vertical, reduces: reduces)
        let columns = horizontal.inputs
        let kernel: any ResampleKernel =
            if areBytes, givesFloats || input == output {
                try IntegerResampleKernel(self, columns: columns, slots: plan.slots, givesFloats: givesFloats)
            } else {
                try FloatResampleKernel(
                    self, columns: columns, slots: plan.slots, from: input, to: output, inLinearLight: inLinearLight)
            }
        return plan.reduces ? ScatterStage(plan, kernel) : GatherStage(plan, kernel)
    }
}
