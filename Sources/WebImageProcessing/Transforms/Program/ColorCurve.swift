import CPixels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The end of a chain of steps that raises channels to a power and does not mix them, approximated by 32 parabolas.
///
/// The parabolas cover numbers from 1/256 to 1, four for each doubling. The values of channels from 0 to 1 are mapped
/// to that range, so that the steep beginning of a power gets the shortest parabolas.
struct ColorCurve {
    /// The factor that maps a channel to the range, and the number that is then added.
    static let scale: Float = 255.0 / 256
    static let least: Float = 1.0 / 256
    /// The largest number below 1.
    static let most = Float(1).nextDown
    /// The maximum error in levels of 255.
    private static let maxError = 0.03
    private static let count = 32

    /// The numbers of the parabolas in the order of `wi_color_row_8`.
    let numbers: [Float]
    /// The number of steps that the curve replaces.
    let stepCount: Int

    /// - Returns: nil if the chain has no such end, the processor does not support curves, or the error of a parabola
    ///   would be too large.
    init?(endOf steps: [wi_color_step]) {
        let tail = steps.reversed().prefix { $0.kind != WI_COLOR_MATRIX }.reversed()
        guard wi_has_color_curves() != 0, tail.contains(where: \.isPower), tail.allSatisfy(\.treatsPartsAlike) else {
            return nil
        }
        /// The exact output for an input.
        func wanted(_ x: Double) -> Double {
            255 * tail.reduce((x - Double(Self.least)) / Double(Self.scale)) { $1.value(of: $0) } + 0.5
        }
        var numbers = [Float](repeating: 0, count: 3 * Self.count)
        for octave in -8..<0 {
            for quarter in 0..<4 {
                let width = scalbn(0.25, Int32(octave))
                let start = scalbn(1.0, Int32(octave)) + Double(quarter) * width
                // Each parabola passes through both ends and the middle, so that the curve is continuous, and black
                // stays black.
                let ends = [wanted(start), wanted(start + width / 2), wanted(start + width)]
                let third = (ends[0] - 2 * ends[1] + ends[2]) * 2 / (width * width)
                let second = (ends[2] - ends[0]) / width - third * (2 * start + width)
                let first = ends[0] - start * (second + start * third)
                for part in [0.125, 0.25, 0.375, 0.625, 0.75, 0.875] {
                    let x = start + part * width
                    guard abs(first + x * (second + x * third) - wanted(x)) <= Self.maxError else { return nil }
                }
                let place = Int(wi_color_curve_index(Float(start)))
                for (index, number) in [first, second, third].enumerated() {
                    numbers[index * Self.count + place] = Float(number)
                }
            }
        }
        self.numbers = numbers
        stepCount = tail.count
    }
}

extension wi_color_step {
    fileprivate var treatsPartsAlike: Bool {
        isPower
            || (1..<3).allSatisfy {
                factor($0) == factor(0) && added($0) == added(0) && low($0) == low(0) && high($0) == high(0)
            }
    }

    /// The output of the step for red; the other channels are treated alike.
    fileprivate func value(of x: Double) -> Double {
        if isPower { return pow(min(max(x, 0), 1), Double(values.0)) }
        return min(max(x * Double(factor(0)) + Double(added(0)), Double(low(0))), Double(high(0)))
    }
}
