#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A linear map of colours: each component becomes a weighted sum of all components, plus a constant.
///
/// It has four rows, for red, green, blue and alpha, of five numbers: the weights of red, green, blue and alpha, and
/// the constant. Components go from 0 to 1 and are not multiplied by alpha; results beyond that are clamped to 0 or 1.
/// This is the matrix of SVG's `feColorMatrix` (Filter Effects Module Level 1, section 9.6).
public struct ColorMatrix: Hashable, Sendable, Codable {
    /// The 20 numbers, row after row.
    public private(set) var values: [Float]

    /// - Parameter values: 20 numbers, row after row. The result is nil for another count, and for numbers that are not
    ///   finite.
    public init?(_ values: [Float]) {
        guard values.count == 20, values.allSatisfy(\.isFinite) else { return nil }
        self.values = values
    }

    /// - Throws: `DecodingError.dataCorrupted` for numbers that ``init(_:)`` does not take.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let matrix = ColorMatrix(try container.decode([Float].self, forKey: .values)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .values, in: container, debugDescription: "a colour matrix has 20 finite numbers")
        }
        self = matrix
    }

    private init(rows: [Float]) { values = rows }

    /// Larger numbers make no difference to colours from 0 to 1.
    private static let bound: Float = 1e30

    public static let identity = ColorMatrix(rows: (0..<20).map { $0 % 6 == 0 ? 1 : 0 })

    /// Converts colours to gray, with the weights of Rec. 709.
    ///
    /// - Parameter amount: 0 leaves the picture as it is, 1 (the default) removes all colour.
    public static func gray(_ amount: Double = 1) -> ColorMatrix { saturation(1 - amount) }

    /// The brown of old photographs (Filter Effects Module Level 1, `sepia`).
    ///
    /// - Parameter amount: 0 leaves the picture as it is, 1 (the default) is all brown.
    public static func sepia(_ amount: Double = 1) -> ColorMatrix {
        let rest = Float(1 - amount)
        return ColorMatrix(rows: [
            0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest, 0, 0,
            0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest, 0, 0,
            0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest, 0, 0,
            0, 0, 0, 1, 0,
        ])
    }

    /// - Parameter amount: the number that is added to each component: -1 gives black, 0 no change, 1 white.
    public static func brightness(_ amount: Double) -> ColorMatrix {
        scale(1, offset: Float(amount))
    }

    /// - Parameter factor: the factor for the distance of colours from middle gray: 0 gives gray, 1 no change.
    public static func contrast(_ factor: Double) -> ColorMatrix {
        // The bound comes first: cut to the same bound, the factor and the offset would make white black.
        let factor = min(max(Float(factor), -bound), bound)
        return scale(factor, offset: 0.5 - 0.5 * factor)
    }

    /// - Parameter factor: 0 gives gray, 1 no change, 2 doubles the saturation.
    public static func saturation(_ factor: Double) -> ColorMatrix {
        let s = Float(factor)
        let (r, g, b): (Float, Float, Float) = (0.2126, 0.7152, 0.0722)
        return ColorMatrix(rows: [
            r + (1 - r) * s, g - g * s, b - b * s, 0, 0,
            r - r * s, g + (1 - g) * s, b - b * s, 0, 0,
            r - r * s, g - g * s, b + (1 - b) * s, 0, 0,
            0, 0, 0, 1, 0,
        ])
    }

    /// Rotates hues around the gray axis (Filter Effects Module Level 1, `hue-rotate`).
    public static func hue(degrees: Double) -> ColorMatrix {
        let angle = degrees * .pi / 180
        let (c, s) = (Float(cos(angle)), Float(sin(angle)))
        let (r, g, b): (Float, Float, Float) = (0.213, 0.715, 0.072)
        return ColorMatrix(rows: [
            r + c * (1 - r) - s * r, g - c * g - s * g, b - c * b + s * (1 - b), 0, 0,
            r - c * r + s * 0.143, g + c * (1 - g) + s * 0.140, b - c * b - s * 0.283, 0, 0,
            r - c * r - s * (1 - r), g - c * g + s * g, b + c * (1 - b) + s * b, 0, 0,
            0, 0, 0, 1, 0,
        ])
    }

    /// Inverts colours.
    public static let inverted = scale(-1, offset: 1)

    /// - Parameter factor: the factor for alpha.
    public static func opacity(_ factor: Double) -> ColorMatrix {
        var values = identity.values
        values[18] = Float(factor)
        return ColorMatrix(rows: values)
    }

    private static func scale(_ factor: Float, offset: Float) -> ColorMatrix {
        ColorMatrix(rows: [
            factor, 0, 0, 0, offset, 0, factor, 0, 0, offset, 0, 0, factor, 0, offset, 0, 0, 0, 1, 0,
        ])
    }
}

extension ColorMatrix {
    /// Returns a matrix that applies this matrix first and then `next`, without clamping between them.
    public func followed(by next: ColorMatrix) -> ColorMatrix {
        var product = [Float](repeating: 0, count: 20)
        for row in 0..<4 {
            for column in 0..<5 {
                var sum: Float = column == 4 ? next.values[row * 5 + 4] : 0
                for inner in 0..<4 { sum += next.values[row * 5 + inner] * values[inner * 5 + column] }
                product[row * 5 + column] = sum
            }
        }
        return ColorMatrix(rows: product)
    }

    /// The same matrix with bounded numbers, so that sums and products are finite: infinity times 0 would be NaN.
    var bounded: ColorMatrix {
        ColorMatrix(rows: values.map { $0.isNaN ? 0 : min(max($0, -Self.bound), Self.bound) })
    }

    /// Whether colours depend on alpha, or alpha is changed.
    var usesAlpha: Bool {
        (0..<3).contains { values[$0 * 5 + 3] != 0 } || Array(values[15...]) != [0, 0, 0, 1, 0]
    }

    /// Whether an opaque picture may become translucent.
    var changesAlpha: Bool { Array(values[15...]) != [0, 0, 0, 1, 0] }

    /// Whether pixels with alpha 0 may become visible.
    var showsInvisible: Bool { [15, 16, 17, 19].contains { values[$0] != 0 } }

    /// Whether every colour from 0 to 1 becomes one from 0 to 1.
    var staysWithin: Bool {
        (0..<4).allSatisfy { row in
            let weights = values[row * 5..<row * 5 + 4]
            let low = weights.filter { $0 < 0 }.reduce(values[row * 5 + 4], +)
            let high = weights.filter { $0 > 0 }.reduce(values[row * 5 + 4], +)
            return low >= -1e-6 && high <= 1 + 1e-6
        }
    }
}
