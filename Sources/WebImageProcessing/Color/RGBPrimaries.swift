import WebImageCore

/// The chromaticities of white, red, green and blue (CIE 1931 x and y).
struct RGBPrimaries {
    /// White, red, green, blue.
    var points: [(x: Double, y: Double)]

    static let sRGB = RGBPrimaries([0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06])

    /// - Parameter values: x and y of each, in this order.
    init(_ values: [Double]) {
        points = stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) }
    }

    /// The primaries of a code point of ITU-T H.273, table 2; nil for unknown ones. Unspecified counts as sRGB.
    init?(codePoint: UInt8) {
        let (d65, c) = ([0.3127, 0.3290], [0.310, 0.316])
        switch codePoint {
        case 0, 1, 2: self = .sRGB
        case 4: self.init(c + [0.67, 0.33, 0.21, 0.71, 0.14, 0.08])
        case 5: self.init(d65 + [0.64, 0.33, 0.29, 0.60, 0.15, 0.06])
        case 6, 7: self.init(d65 + [0.630, 0.340, 0.310, 0.595, 0.155, 0.070])
        case 9: self.init(d65 + [0.708, 0.292, 0.170, 0.797, 0.131, 0.046])
        case 11: self.init([0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060])
        case 12: self.init(d65 + [0.680, 0.320, 0.265, 0.690, 0.150, 0.060])
        case 22: self.init(d65 + [0.630, 0.340, 0.295, 0.605, 0.155, 0.077])
        default: return nil
        }
    }

    /// Whether the values are plausible.
    var isSound: Bool {
        let (red, green, blue) = (points[1], points[2], points[3])
        let area = (green.x - red.x) * (blue.y - red.y) - (blue.x - red.x) * (green.y - red.y)
        return points.allSatisfy { (0...1).contains($0.x) && (0.0001...1).contains($0.y) } && abs(area) > 0.001
    }

    func isNearly(_ other: RGBPrimaries) -> Bool {
        zip(points, other.points).allSatisfy { abs($0.x - $1.x) < 0.003 && abs($0.y - $1.y) < 0.003 }
    }

    /// The matrix from linear light in these primaries to linear light in sRGB's: nine numbers by rows. White stays
    /// white.
    var toStandard: [Double] {
        var matrix = Self.product(Self.inverse(Self.sRGB.toXYZ), toXYZ)
        for row in stride(from: 0, to: 9, by: 3) {
            // Different whites are mapped to each other.
            let sum: Double = matrix[row] + matrix[row + 1] + matrix[row + 2]
            for column in 0..<3 { matrix[row + column] /= sum }
        }
        return matrix
    }

    /// The matrix to XYZ. Its columns are the primaries, scaled to their brightness in white.
    private var toXYZ: [Double] {
        let columns: [[Double]] = points.map { [$0.x / $0.y, 1, (1 - $0.x - $0.y) / $0.y] }
        var matrix = [Double](repeating: 0, count: 9)
        for row in 0..<3 { for column in 0..<3 { matrix[row * 3 + column] = columns[1 + column][row] } }
        let inverse = Self.inverse(matrix)
        for column in 0..<3 {
            var scale = 0.0
            for index in 0..<3 { scale += inverse[column * 3 + index] * columns[0][index] }
            for row in 0..<3 { matrix[row * 3 + column] *= scale }
        }
        return matrix
    }

    private static func product(_ left: [Double], _ right: [Double]) -> [Double] {
        var product = [Double](repeating: 0, count: 9)
        for row in 0..<3 {
            for column in 0..<3 {
                for index in 0..<3 { product[row * 3 + column] += left[row * 3 + index] * right[index * 3 + column] }
            }
        }
        return product
    }

    private static func inverse(_ m: [Double]) -> [Double] {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, s) = ((row + 1) % 3 * 3, (row + 2) % 3 * 3)
            let (c, d) = ((column + 1) % 3, (column + 2) % 3)
            let (down, up) = (m[r + c] * m[s + d], m[r + d] * m[s + c])
            return down - up
        }
        var determinant = 0.0
        for column in 0..<3 { determinant += m[column] * minor(0, column) }
        var inverse = [Double](repeating: 0, count: 9)
        for row in 0..<3 { for column in 0..<3 { inverse[row * 3 + column] = minor(column, row) / determinant } }
        return inverse
    }
}
