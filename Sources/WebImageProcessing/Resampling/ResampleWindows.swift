/// The input pixels of each output pixel along one axis, and their weights.
///
/// Starts and ends never decrease from one output to the next, so that rows can be read and written in order.
struct ResampleWindows<Weight: Numeric & Sendable>: Sendable {
    /// The first input of each output.
    private(set) var starts: [Int] = []
    /// One past the last input of each output.
    private(set) var ends: [Int] = []
    /// The position of each output's weights.
    private var offsets: [Int] = []
    /// Consecutive outputs with the same weights share them: in a blur nearly all outputs have the same.
    private var weights: [Weight] = []
    /// The sum of the lengths of all windows.
    private(set) var weightCount = 0

    var count: Int { starts.count }
    /// How many weights are in memory.
    var storedCount: Int { weights.count }

    /// All inputs that any output needs.
    var inputs: Range<Int> { (starts.first ?? 0)..<(ends.last ?? 0) }

    /// The weight of `input` in `output`; 0 outside of its window.
    func weight(of input: Int, in output: Int) -> Weight {
        guard input >= starts[output], input < ends[output] else { return 0 }
        return weights[offsets[output] + input - starts[output]]
    }

    mutating func append(from start: Int, _ window: [Weight]) {
        if count > 0, weights(of: count - 1).elementsEqual(window) { return appendSame(from: start) }
        starts.append(start)
        ends.append(start + window.count)
        offsets.append(weights.count)
        weights += window
        weightCount += window.count
    }

    /// Appends a window with the weights of the last one.
    private mutating func appendSame(from start: Int) {
        let length = ends[count - 1] - starts[count - 1]
        offsets.append(offsets[count - 1])
        starts.append(start)
        ends.append(start + length)
        weightCount += length
    }

    private func weights(of output: Int) -> ArraySlice<Weight> {
        weights[offsets[output]..<offsets[output] + ends[output] - starts[output]]
    }

    /// The same windows with weights converted by `convert`, which keeps their number.
    private func map<Other>(_ convert: (ArraySlice<Weight>) -> [Other]) -> ResampleWindows<Other> {
        var result = ResampleWindows<Other>()
        for output in 0..<count {
            if output > 0, offsets[output] == offsets[output - 1],
                weights(of: output).count == weights(of: output - 1).count
            {
                result.appendSame(from: starts[output])
            } else {
                result.append(from: starts[output], convert(weights(of: output)))
            }
        }
        return result
    }

    /// - Parameter multiple: the number of weights is padded to a multiple of this with zeros.
    func table(multiple: Int) -> ResampleAxis.Table<Weight> {
        let origin = inputs.lowerBound
        let longest = (0..<count).map { ends[$0] - starts[$0] }.max() ?? 0
        let taps = (longest + multiple - 1) / multiple * multiple
        var table = [Weight](repeating: 0, count: taps * count)
        for output in 0..<count {
            for tap in 0..<ends[output] - starts[output] {
                table[output * taps + tap] = weights[offsets[output] + tap]
            }
        }
        return ResampleAxis.Table(starts: starts.map { Int32($0 - origin) }, weights: table, taps: taps)
    }
}

extension ResampleWindows<Double> {
    /// - Parameters:
    ///   - input: the number of input pixels.
    ///   - start: the start of the part that is used. Pixels beside the part count if the filter reaches over its edge.
    ///     Beyond the picture there are no pixels, and the others get more weight.
    ///   - length: the length of the part.
    ///   - output: the number of pixels that are made from the part.
    ///   - bounds: the pixels that the filter may use; nil means all.
    init(
        input: Int, start: Double, length: Double, output: Int, filter: ResampleFilter, within bounds: Range<Int>? = nil
    ) {
        // A frame may be smaller than the picture for which the bounds were computed: no window may reach beyond it.
        let all = 0..<input
        let allowed = bounds?.clamped(to: all) ?? all
        let bounds = allowed.isEmpty ? all : allowed
        let step = length / Double(output)
        let isShift = step == 1 && start == start.rounded()
        starts.reserveCapacity(output)
        ends.reserveCapacity(output)
        for index in 0..<output {
            let low = start + Double(index) * step
            if isShift {
                append(from: min(max(Int(low), bounds.lowerBound), bounds.upperBound - 1), [1])
            } else if filter == .box {
                appendArea(from: low, to: start + Double(index + 1) * step, within: bounds)
            } else if filter == .libvips {
                if step < 1 {
                    appendEnlarged(at: low - 0.5, within: bounds)
                } else {
                    appendReduced(around: low + step / 2, step: step, within: bounds)
                }
            } else {
                appendWindow(around: low + step / 2, scale: max(step, 1), within: bounds, filter: filter)
            }
        }
    }

    /// Weights by the covered part of each pixel.
    private mutating func appendArea(from low: Double, to high: Double, within bounds: Range<Int>) {
        let first = min(max(Int((low + 1e-9).rounded(.down)), bounds.lowerBound), bounds.upperBound - 1)
        let end = min(max(Int((high - 1e-9).rounded(.up)), first + 1), bounds.upperBound)
        appendNormalized(
            from: first, (first..<end).map { max(min(Double($0 + 1), high) - max(Double($0), low), 0) })
    }

    private mutating func appendWindow(
        around center: Double, scale: Double, within bounds: Range<Int>, filter: ResampleFilter
    ) {
        let reach = filter.support * scale
        let first = min(max(Int((center - reach + 0.5).rounded(.down)), bounds.lowerBound), bounds.upperBound - 1)
        let end = min(max(Int((center + reach - 0.5).rounded(.up)), first + 1), bounds.upperBound)
        appendNormalized(
            from: first, (first..<end).map { filter.weight(at: (Double($0) + 0.5 - center) / scale) })
    }

    /// Reduces like libvips: averages groups of pixels, so that the remaining factor is at least two, and applies
    /// Lanczos to the means.
    private mutating func appendReduced(around center: Double, step: Double, within bounds: Range<Int>) {
        let block = max(Int(step / 2), 1)
        let count = (bounds.count + block - 1) / block
        let (place, scale) = ((center - Double(bounds.lowerBound)) / Double(block), step / Double(block))
        let reach = ResampleFilter.lanczos3.support * scale
        let first = Int((place - reach + 0.5).rounded(.down))
        let last = max(Int((place + reach - 0.5).rounded(.up)), first + 1) - 1
        func pixel(_ mean: Int, _ part: Int) -> Int {
            min(bounds.lowerBound + min(max(mean, 0), count - 1) * block + part, bounds.upperBound - 1)
        }
        let start = pixel(first, 0)
        var window = [Double](repeating: 0, count: pixel(last, block - 1) - start + 1)
        for mean in first...last {
            let weight = ResampleFilter.lanczos3.weight(at: (Double(mean) + 0.5 - place) / scale)
            for part in 0..<block { window[pixel(mean, part) - start] += weight }
        }
        appendNormalized(from: start, window)
    }

    /// The four pixels around a position by Catmull-Rom, as libvips enlarges: at the nearest 64th of a pixel, with
    /// pixels at an edge repeated.
    ///
    /// - Parameter place: in pixels; the middle of the first one is 0.
    private mutating func appendEnlarged(at place: Double, within bounds: Range<Int>) {
        let before = place.rounded(.down)
        let fraction = (((place - before) * 128).rounded(.down) / 2).rounded(.toNearestOrAwayFromZero) / 64
        let places = (-1...2).map { min(max(Int(before) + $0, bounds.lowerBound), bounds.upperBound - 1) }
        var window = [Double](repeating: 0, count: places[3] - places[0] + 1)
        for (index, place) in places.enumerated() {
            window[place - places[0]] += ResampleFilter.bicubic.weight(at: Double(index - 1) - fraction)
        }
        append(from: places[0], window)
    }

    private mutating func appendNormalized(from first: Int, _ window: [Double]) {
        let sum = window.reduce(0, +)
        // A window of one pixel at the filter's very edge may have weight 0; as the only pixel, it counts nevertheless.
        append(
            from: first, sum.magnitude > 1e-12 ? window.map { $0 / sum } : window.map { _ in 1 / Double(window.count) })
    }

    func floats(scaledBy scale: Float = 1) -> ResampleWindows<Float> { map { $0.map { Float($0) * scale } } }

    /// The weights as integers with `bits` fraction bits. Each weight includes the rounding error of the previous ones.
    /// The sum is therefore exact, so that an even area stays unchanged, and the errors of a long window cancel out.
    func integers(bits: Int) -> ResampleWindows<Int16> {
        let one = Double(1 << bits)
        return map { window in
            var (sum, given) = (0.0, 0.0)
            return window.enumerated().map { index, weight in
                sum += weight
                let total = index == window.count - 1 ? one : (sum * one).rounded()
                defer { given = total }
                return Int16(clamping: Int(total - given))
            }
        }
    }
}
