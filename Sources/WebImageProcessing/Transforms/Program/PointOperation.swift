import CPixels
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Makes pixels of themselves, and of where they are.
protocol PointOperation: Sendable {
    /// Changes the run of `count` straight pixels that begins at column `x` of row `y`.
    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int)
    /// What this operation and the one behind it are together; nil where both are needed.
    func joined(with next: any PointOperation) -> (any PointOperation)?
}

extension PointOperation {
    func joined(with next: any PointOperation) -> (any PointOperation)? { nil }
}

/// Colours by a matrix.
struct MatrixOperation: PointOperation {
    let matrix: ColorMatrix

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        if matrix.usesAlpha {
            wi_run_matrix_alpha(run, count, matrix.values)
        } else {
            wi_run_matrix(run, count, matrix.values)
        }
    }

    /// Between two matrices colours are held between 0 and 1. Where the first one cannot lead out of there, the two are one.
    func joined(with next: any PointOperation) -> (any PointOperation)? {
        guard let next = next as? MatrixOperation, matrix.staysWithin else { return nil }
        return MatrixOperation(matrix: matrix.followed(by: next.matrix))
    }
}

/// Colours by a curve each.
struct CurvesOperation: PointOperation {
    static let steps = 1024

    /// Three tables of `steps + 2` entries.
    let tables: [Float]

    /// - Parameter curve: from 0 to 1 for 0 to 1.
    init(_ curve: (Float) -> Float) {
        let table = (0...Self.steps + 1).map { min(max(curve(min(Float($0) / Float(Self.steps), 1)), 0), 1) }
        tables = table + table + table
    }

    init(power: Double) { self.init { powf($0, Float(power)) } }

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        wi_run_curves(run, count, tables, Self.steps)
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
