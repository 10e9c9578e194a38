import CPixels

/// Operations on colours that take no notice of alpha, one behind the other: in one go.
struct ColorSteps: PointOperation {
    let steps: [wi_color_step]

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) { wi_run_colors(run, count, steps, steps.count) }

    /// The same operations, with those that follow each other in one go.
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

/// Steps on colours from bytes to bytes, without a stop at planes of floats.
struct ByteColors {
    private let steps: [wi_color_step]
    /// For red, green and blue what each byte becomes, where no step mixes them.
    private let tables: [UInt8]?

    init(_ colors: ColorSteps) {
        steps = colors.steps
        tables = steps.contains { $0.kind == WI_COLOR_MATRIX } ? nil : Self.tables(steps)
    }

    /// - Parameter isOpaque: whether alpha does not count; it counts as straight else.
    func apply(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, isOpaque: Bool) {
        let input = source.assumingMemoryBound(to: UInt8.self)
        let output = target.assumingMemoryBound(to: UInt8.self)
        if let tables {
            wi_map_row_8(output, input, count, tables, isOpaque ? 1 : 0)
        } else {
            wi_color_row_8(output, input, count, steps, steps.count, isOpaque ? 1 : 0)
        }
    }

    /// Made by the very steps, of a row of all grays.
    private static func tables(_ steps: [wi_color_step]) -> [UInt8] {
        let grays = (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 4) }
        var made = grays
        wi_color_row_8(&made, grays, 256, steps, steps.count, 1)
        return (0..<3).flatMap { part in (0..<256).map { made[4 * $0 + part] } }
    }
}
