/// Chooses a few colours that represent many: boxes of bins are split where that reduces their variance most (X. Wu,
/// "Color Quantization by Dynamic Programming and Principal Analysis", 1992, the greedy variant along one axis), then
/// each colour moves to the mean of the pixels nearest to it (k-means).
struct ColorQuantizer {
    private static let rounds = 6
    private static let weights = SIMD4<Double>(
        Double(NearestColor.weights.x), Double(NearestColor.weights.y), Double(NearestColor.weights.z), 0)

    private struct Box {
        var range: Range<Int>
        /// Sums of the channels and of 1, over all pixels.
        var sum = SIMD4<Double>.zero
        /// The channels' weighted variance, times the number of pixels.
        var spread = SIMD4<Double>.zero

        var totalSpread: Double { spread.sum() }
    }

    private var bins: [SIMD4<Float>]
    private var boxes: [Box] = []

    private init(_ bins: ColorBins) { self.bins = bins.bins }

    /// - Returns: at most `count` colours, sorted by green, no two the same.
    static func colors(of bins: ColorBins, count: Int) -> [UInt32] {
        var quantizer = ColorQuantizer(bins)
        quantizer.split(into: count)
        var colors = quantizer.boxes.map { color(of: $0.sum) }
        for _ in 0..<rounds { colors = quantizer.moved(colors) }
        return NearestColor.sorted(ColorTable(colors).colors)
    }

    /// - Parameter sum: the last is the number of pixels.
    private static func color(of sum: SIMD4<Double>) -> UInt32 {
        let mean = sum / sum.w + 0.5
        return 0xFF00_0000 | UInt32(mean.z) << 16 | UInt32(mean.y) << 8 | UInt32(mean.x)
    }

    // MARK: boxes

    private mutating func split(into count: Int) {
        guard !bins.isEmpty else { return }
        boxes = [measured(0..<bins.count)]
        while boxes.count < count {
            var widest = 0
            for index in boxes.indices where boxes[index].totalSpread > boxes[widest].totalSpread { widest = index }
            guard boxes[widest].totalSpread > 0 else { return }
            guard let middle = splitBins(of: boxes[widest]) else {
                // The box is practically one colour.
                boxes[widest].spread = .zero
                continue
            }
            let range = boxes[widest].range
            boxes[widest] = measured(range.lowerBound..<middle)
            boxes.append(measured(middle..<range.upperBound))
        }
    }

    private func measured(_ range: Range<Int>) -> Box {
        var box = Box(range: range)
        var squares = SIMD4<Double>.zero
        for index in range {
            let bin = SIMD4<Double>(bins[index])
            let values = SIMD4(bin.x, bin.y, bin.z, 1)
            box.sum += values * bin.w
            squares += values * values * bin.w
        }
        if range.count > 1 {
            let spread = (squares - box.sum * box.sum / box.sum.w) * Self.weights
            box.spread = spread.replacing(with: 0, where: spread .< 1e-6)
        }
        return box
    }

    /// Partitions a box's bins at the best place on its longest axis.
    ///
    /// - Returns: the start of the second part; nil if there is no such place.
    private mutating func splitBins(of box: Box) -> Int? {
        let axis = (0..<3).max { box.spread[$0] < box.spread[$1] } ?? 0
        var slices = [SIMD4<Double>](repeating: .zero, count: 256)
        for index in box.range {
            let bin = SIMD4<Double>(bins[index])
            slices[Int(bins[index][axis])] += SIMD4(bin.x, bin.y, bin.z, 1) * bin.w
        }
        var (low, best, place) = (SIMD4<Double>.zero, 0.0, -1)
        for (value, slice) in slices.enumerated() where slice.w > 0 {
            low += slice
            let high = box.sum - low
            guard high.w > 0.5 else { break }
            let gain = (low * low / low.w * Self.weights).sum() + (high * high / high.w * Self.weights).sum()
            if gain > best { (best, place) = (gain, value) }
        }
        return place < 0 ? nil : partition(box.range) { Int($0[axis]) <= place }
    }

    private mutating func partition(_ range: Range<Int>, _ isLow: (SIMD4<Float>) -> Bool) -> Int {
        var (middle, end) = (range.lowerBound, range.upperBound)
        while middle < end {
            if isLow(bins[middle]) {
                middle += 1
            } else {
                end -= 1
                bins.swapAt(middle, end)
            }
        }
        return middle
    }

    // MARK: k-means

    private func moved(_ colors: [UInt32]) -> [UInt32] {
        let sorted = NearestColor.sorted(colors)
        let nearest = NearestColor(sorted: sorted)
        defer { nearest.free() }
        var sums = [SIMD4<Double>](repeating: .zero, count: sorted.count)
        for bin in bins {
            let values = SIMD4<Double>(bin)
            sums[nearest.search(ColorBins.rounded(bin)).number] += SIMD4(values.x, values.y, values.z, 1) * values.w
        }
        return zip(sorted, sums).map { color, sum in sum.w > 0 ? Self.color(of: sum) : color }
    }
}
