import CPixels
import WebImageCore

/// Changes pixels by their values and positions.
protocol PointOperation: Sendable {
    /// Changes the run of `count` straight pixels that begins at column `x` of row `y`.
    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int)
    /// Whether the operation changes any pixel of such a run. Runs that no operation changes are copied.
    func changes(x: Int, y: Int, count: Int) -> Bool
    /// The combination of this operation and the next; nil if both are needed.
    func joined(with next: any PointOperation) -> (any PointOperation)?
    /// Whether the operation takes longer than reading and writing the pixels.
    var takesLong: Bool { get }
    /// The same operation for colours only; nil if it depends on alpha or position.
    var colorStep: wi_color_step? { get }
}

extension PointOperation {
    func changes(x: Int, y: Int, count: Int) -> Bool { true }
    func joined(with next: any PointOperation) -> (any PointOperation)? { nil }
    var takesLong: Bool { false }
    var colorStep: wi_color_step? { nil }
}

/// Changes colours by a matrix.
struct MatrixOperation: PointOperation {
    let matrix: ColorMatrix
    let colorStep: wi_color_step?

    init(matrix: ColorMatrix) {
        let matrix = matrix.bounded
        self.matrix = matrix
        colorStep = matrix.usesAlpha ? nil : wi_color_matrix(matrix.values)
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        if matrix.showsInvisible { wi_run_blacken_invisible(run, count) }
        wi_run_matrix_alpha(run, count, matrix.values)
    }

    /// Between two matrices, colours are clamped to 0...1, and invisible pixels become black. Both matrices are
    /// combined if that makes no difference.
    func joined(with next: any PointOperation) -> (any PointOperation)? {
        guard let next = next as? MatrixOperation, matrix.staysWithin, !next.matrix.showsInvisible else { return nil }
        return MatrixOperation(matrix: matrix.followed(by: next.matrix))
    }
}

/// Raises each channel to a power.
struct PowerOperation: PointOperation {
    let power: Float

    var colorStep: wi_color_step? { wi_color_power(power) }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        ColorSteps(steps: [wi_color_power(power)]).apply(to: run, x: x, y: y, count: count)
    }
}

/// Composites one colour over or under each pixel.
struct FillOperation: PointOperation {
    let color: RGBAColor
    let mode: BlendMode

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        PixelRun.withPlanes { fill in
            PixelRun.fill(fill, with: color, count: count)
            wi_run_blend(run, fill, count, mode.code)
        }
    }
}

extension PixelRun {
    static func fill(_ run: PixelPlanes, with color: RGBAColor, count: Int) {
        let parts = [color.red, color.green, color.blue, color.alpha].map { Float($0) / 255 }
        for (index, value) in parts.enumerated() { plane(index, of: run).update(repeating: value, count: count) }
    }

    /// Calls `body` with planes that are valid during the call.
    static func withPlanes(_ body: (PixelPlanes) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: length * 16, alignment: 32) { memory in
            if let base = memory.baseAddress { body(PixelPlanes(base)) }
        }
    }

    /// One of the four planes: red, green, blue, alpha.
    static func plane(_ index: Int, of run: PixelPlanes) -> UnsafeMutablePointer<Float> {
        UnsafeMutableRawPointer(run).assumingMemoryBound(to: Float.self) + index * length
    }
}
