import CPixels
import WebImageCore

/// Makes pixels of themselves, and of where they are.
protocol PointOperation: Sendable {
    /// Changes the run of `count` straight pixels that begins at column `x` of row `y`.
    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int)
    /// Whether it changes any pixel of such a stretch. What no operation changes is copied.
    func changes(x: Int, y: Int, count: Int) -> Bool
    /// What this operation and the one behind it are together; nil where both are needed.
    func joined(with next: any PointOperation) -> (any PointOperation)?
    /// Whether it takes longer than reading and writing the pixels does.
    var takesLong: Bool { get }
    /// The same for colours alone; nil where alpha counts, or the place does.
    var colorStep: wi_color_step? { get }
}

extension PointOperation {
    func changes(x: Int, y: Int, count: Int) -> Bool { true }
    func joined(with next: any PointOperation) -> (any PointOperation)? { nil }
    var takesLong: Bool { false }
    var colorStep: wi_color_step? { nil }
}

/// Colours by a matrix.
struct MatrixOperation: PointOperation {
    let matrix: ColorMatrix
    let colorStep: wi_color_step?

    init(matrix: ColorMatrix) {
        self.matrix = matrix
        colorStep = matrix.usesAlpha ? nil : wi_color_matrix(matrix.values)
    }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) { wi_run_matrix_alpha(run, count, matrix.values) }

    /// Between two matrices colours are held between 0 and 1. Where the first one cannot lead out of there, the two are one.
    func joined(with next: any PointOperation) -> (any PointOperation)? {
        guard let next = next as? MatrixOperation, matrix.staysWithin else { return nil }
        return MatrixOperation(matrix: matrix.followed(by: next.matrix))
    }
}

/// Each part of a colour raised to a power.
struct PowerOperation: PointOperation {
    let power: Float

    var colorStep: wi_color_step? { wi_color_power(power) }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        ColorSteps(steps: [wi_color_power(power)]).apply(to: run, x: x, y: y, count: count)
    }
}

/// One colour, laid over or under each pixel.
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

    /// Planes for as long as `body` runs.
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
