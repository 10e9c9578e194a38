import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The assumed pixels beyond the edges of a picture.
enum EdgeRule: Hashable, Sendable {
    /// The edge pixel is repeated.
    case extends
    /// The picture is mirrored; its edge pixel comes twice.
    case mirrors
}

extension ResampleWindows<Double> {
    /// - Parameters:
    ///   - input: the number of input pixels.
    ///   - outputs: the number of output pixels.
    ///   - window: returns the first input pixel of an output, and the weights from there on, which need not add up to
    ///     1. `edges` determines the pixels beyond the edges.
    init(input: Int, outputs: Int, edges: EdgeRule, window: (Int) -> (first: Int, weights: [Double])) {
        self.init()
        for output in 0..<outputs {
            let (first, weights) = window(output)
            let sum = weights.reduce(0, +)
            let places = weights.indices.map { Self.place(first + $0, input, edges) }
            guard let low = places.min(), let high = places.max(), sum > 0 else { continue }
            var folded = [Double](repeating: 0, count: high - low + 1)
            for (place, weight) in zip(places, weights) { folded[place - low] += weight / sum }
            append(from: low, folded)
        }
    }

    private static func place(_ index: Int, _ count: Int, _ edges: EdgeRule) -> Int {
        switch edges {
        case .extends: return Swift.min(Swift.max(index, 0), count - 1)
        case .mirrors:
            let period = index % (2 * count)
            let positive = period < 0 ? period + 2 * count : period
            return positive < count ? positive : 2 * count - 1 - positive
        }
    }

    /// The significant weights of the bell curve around a position.
    ///
    /// - Parameters:
    ///   - center: the position in pixels; the middle of the first pixel is 0.5.
    ///   - reach: the maximum distance of weights.
    fileprivate static func bell(around center: Double, sigma: Double, reach: Double) -> (Int, [Double]) {
        let first = Int((center - reach - 0.5).rounded(.up))
        let last = Swift.max(Int((center + reach - 0.5).rounded(.down)), first)
        return (
            first,
            (first...last).map { index in
                let distance = (Double(index) + 0.5 - center) / sigma
                return exp(-0.5 * distance * distance)
            }
        )
    }
}

/// Gaussian blur as resizing: first to fewer pixels, then back, both with the bell curve as the filter. The squares of
/// the two sigmas add up to that of the blur, so that the result is the same, at the same cost for every radius. Small
/// blurs, which leave too much detail for fewer pixels, are computed directly.
enum BlurPlan {
    /// The sigma of the bell in pixels of the smaller picture. Six weights reach 3.5 sigma to both sides. The error is
    /// 0.2 of 255 levels at the worst frequency.
    private static let coarseSigma = 0.85
    private static let coarseReach = 3.0 / 0.85
    /// From this sigma on, blurring through a smaller picture is faster.
    private static let minCoarseSigma = 2.5
    /// A bell that is cut at a greater distance is replaced by a whole one of the same width, because its cost would
    /// grow with the distance.
    private static let farthestCut = 32

    /// The filters that blur a picture.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation in pixels.
    ///   - cut: makes weights as libvips does: they are multiples of a twentieth of the middle weight, and those below
    ///     this fraction of it are left out. Nil leaves out only weights that have no visible effect.
    static func gaussian(_ size: PixelSize, sigma: Double, cut: Double? = nil) -> [SizedAxes] {
        if let cut {
            let weights = bell(sigma, reach: cutReach(sigma, cut)).map { (20 * $0).rounded() }
            guard weights.count > farthestCut else { return [direct(size, weights)] }
            return gaussian(size, sigma: spread(of: weights))
        }
        guard sigma >= minCoarseSigma else {
            return [direct(size, bell(sigma, reach: Int((3.2 * sigma).rounded(.up))))]
        }
        let step = sigma / (coarseSigma * 2.0.squareRoot())
        let margin = Int(coarseReach.rounded(.up)) + 1
        let small = PixelSize(
            width: coarseCount(size.width, step, margin), height: coarseCount(size.height, step, margin))
        let down = ResampleAxes(
            vertical: shrinking(size.height, to: small.height, step, margin),
            horizontal: shrinking(size.width, to: small.width, step, margin), reduces: true, overshoots: false)
        let up = ResampleAxes(
            vertical: growing(small.height, to: size.height, step, margin),
            horizontal: growing(small.width, to: size.width, step, margin), reduces: false, overshoots: false)
        return [SizedAxes(input: size, axes: down), SizedAxes(input: small, axes: up)]
    }

    /// The filters that replace each pixel by the mean of its square with this side. Squares at the right and bottom
    /// edges extend into the mirrored picture.
    static func pixelate(_ size: PixelSize, side: Int) -> [SizedAxes] {
        let small = PixelSize(width: (size.width + side - 1) / side, height: (size.height + side - 1) / side)
        func mean(_ input: Int, _ outputs: Int) -> ResampleWindows<Double> {
            ResampleWindows(input: input, outputs: outputs, edges: .mirrors) { output in
                (output * side, [Double](repeating: 1, count: side))
            }
        }
        func repeated(_ input: Int, _ outputs: Int) -> ResampleWindows<Double> {
            ResampleWindows(input: input, outputs: outputs, edges: .extends) { ($0 / side, [1]) }
        }
        let down = ResampleAxes(
            vertical: mean(size.height, small.height), horizontal: mean(size.width, small.width), reduces: true,
            overshoots: false)
        let up = ResampleAxes(
            vertical: repeated(small.height, size.height), horizontal: repeated(small.width, size.width),
            reduces: false, overshoots: false)
        return [SizedAxes(input: size, axes: down), SizedAxes(input: small, axes: up)]
    }

    /// - Parameter bell: the middle weight, then those beside it.
    private static func direct(_ size: PixelSize, _ bell: [Double]) -> SizedAxes {
        func windows(_ count: Int) -> ResampleWindows<Double> {
            ResampleWindows(input: count, outputs: count, edges: .extends) {
                ($0 - (bell.count - 1), bell.dropFirst().reversed() + bell)
            }
        }
        return SizedAxes(
            input: size,
            axes: ResampleAxes(
                vertical: windows(size.height), horizontal: windows(size.width), reduces: true, overshoots: false,
                bell: BellWeights(bell)))
    }

    private static func bell(_ sigma: Double, reach: Int) -> [Double] {
        (0...reach).map { exp(-0.5 * Double($0 * $0) / (sigma * sigma)) }
    }

    /// The standard deviation of a bell, whose weights are given from the middle on.
    private static func spread(of bell: [Double]) -> Double {
        let sides = bell.indices.dropFirst().map { (weight: 2 * bell[$0], square: Double($0 * $0)) }
        let sum = sides.reduce(bell[0]) { $0 + $1.weight }
        return (sides.reduce(0) { $0 + $1.weight * $1.square } / sum).squareRoot()
    }

    /// The distance that the weights reach in libvips' `gaussmat`: the farthest integer whose weight is not below the
    /// cut.
    private static func cutReach(_ sigma: Double, _ cut: Double) -> Int {
        var reach = 0
        while exp(-Double((reach + 1) * (reach + 1)) / (2 * sigma * sigma)) >= cut { reach += 1 }
        return reach
    }

    private static func coarseCount(_ count: Int, _ step: Double, _ margin: Int) -> Int {
        Int((Double(count) / step).rounded(.up)) + 2 * margin
    }

    private static func shrinking(
        _ count: Int, to small: Int, _ step: Double, _ margin: Int
    ) -> ResampleWindows<Double> {
        ResampleWindows(input: count, outputs: small, edges: .extends) { output in
            ResampleWindows.bell(
                around: (Double(output - margin) + 0.5) * step, sigma: coarseSigma * step, reach: coarseReach * step)
        }
    }

    private static func growing(
        _ small: Int, to count: Int, _ step: Double, _ margin: Int
    ) -> ResampleWindows<Double> {
        ResampleWindows(input: small, outputs: count, edges: .extends) { output in
            ResampleWindows.bell(
                around: (Double(output) + 0.5) / step + Double(margin), sigma: coarseSigma, reach: coarseReach)
        }
    }
}
