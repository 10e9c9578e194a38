import CPixels

/// Consecutive colour operations that ignore alpha, combined.
struct ColorSteps: PointOperation {
    let steps: [wi_color_step]

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) { wi_run_colors(run, count, steps, steps.count) }

    /// The same operations, with consecutive ones combined.
    static func gathering(_ operations: [any PointOperation]) -> [any PointOperation] {
        var gathered: [any PointOperation] = []
        for operation in operations {
            guard let step = operation.colorStep else {
                gathered.append(operation)
                continue
            }
            let before = gathered.last as? ColorSteps
            if before != nil { gathered.removeLast() }
            gathered.append(ColorSteps(steps: (before?.steps ?? []) + [step]))
        }
        return gathered
    }
}
