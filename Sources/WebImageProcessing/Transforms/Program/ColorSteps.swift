import CPixels

/// Consecutive colour operations that ignore alpha, combined.
struct ColorSteps: PointOperation {
    let steps: [wi_color_step]

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) { wi_run_colors(run, count, steps, steps.count) }

    /// The same operations, with consecutive ones combined.
    static func gathering(_ operations: [any PointOperation]) -> [any PointOperation] {
        var gathered: [any PointOperation] = []
        var steps: [wi_color_step] = []
        func endSteps() {
            if !steps.isEmpty { gathered.append(ColorSteps(steps: steps)) }
            steps = []
        }
        for operation in operations {
            if let step = operation.colorStep {
                steps.append(step)
            } else {
                endSteps()
                gathered.append(operation)
            }
        }
        endSteps()
        return gathered
    }
}
