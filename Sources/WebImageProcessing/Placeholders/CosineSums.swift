import CPixels
import WebImageCore

/// Sums of a picture's light times cosines, one for each wave of a BlurHash, over rows that arrive from the top.
///
/// The waves are summed in groups of four columns and four rows of waves, each group in one pass over a row of pixels.
struct CosineSums {
    /// Up to this number of pixels the sums equal those of the reference exactly. Its sums are floats, which are not
    /// precise enough for more pixels.
    static let exactPixels = 16 << 20
    /// The longest side that is summed, as with the resampler: a table takes up to 48 bytes for each pixel of it.
    static let longestSide = 1 << 20

    private let size: PixelSize
    private let components: (x: Int, y: Int)
    /// Four cosines for each pixel of a row: one such row for each four columns of waves.
    private let columns: [[Float]]
    private var sums: [Group]
    private var light: [Float]
    private let isExact: Bool

    private struct Group {
        let firstColumn: Int
        let firstRow: Int
        var sums = [Float](repeating: 0, count: 3 * Int(WI_COSINES))
        /// The sums of the rows, if floats are not precise enough.
        var totals: [Double]

        mutating func keepRow() {
            for place in sums.indices {
                totals[place] += Double(sums[place])
                sums[place] = 0
            }
        }
    }

    /// - Throws: `limitExceeded` if a side is over ``longestSide``.
    init(_ size: PixelSize, components: (x: Int, y: Int)) throws(WebImageError) {
        guard max(size.width, size.height) <= Self.longestSide else {
            throw WebImageError(
                .limitExceeded, "a picture of \(size) gets no hash: no side may be over \(Self.longestSide) pixels")
        }
        self.size = size
        self.components = components
        isExact = size.pixelCount.map { $0 <= Self.exactPixels } ?? false
        let starts = (x: Array(stride(from: 0, to: components.x, by: 4)), y: stride(from: 0, to: components.y, by: 4))
        columns = starts.x.map { Self.table(from: $0, to: components.x, width: size.width) }
        let totals = [Double](repeating: 0, count: isExact ? 0 : 3 * Int(WI_COSINES))
        sums = starts.y.flatMap { y in starts.x.map { Group(firstColumn: $0, firstRow: y, totals: totals) } }
        light = [Float](repeating: 0, count: size.width * 3)
    }

    private static func table(from first: Int, to end: Int, width: Int) -> [Float] {
        var table = [Float](repeating: 0, count: width * 4)
        for x in 0..<width {
            for component in first..<min(first + 4, end) {
                table[x * 4 + component - first] = BlurHashRounding.cosine(component, at: x, of: width)
            }
        }
        return table
    }

    /// Adds a row of RGBA pixels.
    mutating func add(_ pixels: UnsafePointer<UInt8>, at y: Int) {
        wi_lighten_row(&light, pixels, BlurHashRounding.lights, size.width)
        let cosines = (0..<components.y).map { BlurHashRounding.cosine($0, at: y, of: size.height) }
        var factors = [Float](repeating: 0, count: Int(WI_COSINES))
        for index in sums.indices {
            for lane in factors.indices {
                let row = sums[index].firstRow + lane / 4
                factors[lane] = row < components.y ? cosines[row] : 0
            }
            wi_add_cosines(&sums[index].sums, columns[sums[index].firstColumn / 4], factors, light, size.width)
            if !isExact { sums[index].keepRow() }
        }
    }

    /// The strengths of the waves in red, green and blue, row by row.
    var strengths: [SIMD3<Float>] {
        var strengths = [SIMD3<Float>](repeating: .zero, count: components.x * components.y)
        for group in sums {
            for y in group.firstRow..<min(group.firstRow + 4, components.y) {
                for x in group.firstColumn..<min(group.firstColumn + 4, components.x) {
                    let lane = (y - group.firstRow) * 4 + x - group.firstColumn
                    strengths[y * components.x + x] = strength(of: group, lane, isConstant: x == 0 && y == 0)
                }
            }
        }
        return strengths
    }

    private func strength(of group: Group, _ lane: Int, isConstant: Bool) -> SIMD3<Float> {
        let places = SIMD3(lane, lane + Int(WI_COSINES), lane + 2 * Int(WI_COSINES))
        if isExact {
            let scale: Float = (isConstant ? 1 : 2) / Float(size.width * size.height)
            return SIMD3(group.sums[places.x], group.sums[places.y], group.sums[places.z]) * scale
        }
        let scale: Double = (isConstant ? 1 : 2) / (Double(size.width) * Double(size.height))
        return SIMD3<Float>(SIMD3(group.totals[places.x], group.totals[places.y], group.totals[places.z]) * scale)
    }
}
