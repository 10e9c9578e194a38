import WebImageCore
import WebImageProcessing

/// The colours of a PNG with a palette, and their mapping to pixels.
struct PNGPalette {
    static let most = 256

    /// Red, green, blue and alpha from the lowest byte on, straight; translucent colours come first, as `tRNS` demands.
    let colors: [UInt32]
    /// The index of each pixel's colour, row by row.
    let indices: [UInt8]
    /// Whether these are all colours of the picture.
    let isExact: Bool

    /// How many bits an index takes in the file.
    var bits: Int { colors.count <= 2 ? 1 : colors.count <= 4 ? 2 : colors.count <= 16 ? 4 : 8 }

    /// - Parameters:
    ///   - pixels: 8 bits a channel, straight alpha.
    ///   - limit: the maximum number of colours, 2 to 256.
    ///   - isExact: whether a picture with more colours is refused.
    ///   - dithers: whether the error of a colour is spread over the surrounding pixels.
    /// - Returns: nil if it has more colours and `isExact` is set.
    init?(of pixels: PixelBuffer, atMost limit: Int, isExact: Bool, dithers: Bool) {
        let limit = min(max(limit, 2), Self.most)
        let words = pixels.words(keepsUnseen: isExact)
        let hasHoles = words.contains(0)
        if let table = words.withUnsafeBufferPointer({ ColorTable.colors(of: $0, atMost: limit - (hasHoles ? 1 : 0)) })
        {
            self.isExact = true
            colors = (hasHoles ? [0] : []) + Self.clearFirst(table.colors)
            let known = ColorTable(Array(colors.dropFirst(hasHoles ? 1 : 0)))
            let shift = hasHoles ? 1 : 0
            indices = words.map { $0 == 0 ? 0 : UInt8(truncatingIfNeeded: (known.number(of: $0) ?? 0) + shift) }
        } else if isExact {
            return nil
        } else if words.allSatisfy({ $0 == 0 || $0 >> 24 == 255 }) {
            self.isExact = false
            (colors, indices) = Self.opaque(words, pixels.size.width, limit, hasHoles, dithers)
        } else {
            self.isExact = false
            (colors, indices) = TranslucentPalette(words, atMost: limit, hasHoles: hasHoles)
                .sorted(of: words, width: pixels.size.width, dithers: dithers)
        }
    }

    /// Chooses the palette of a picture without translucent pixels, as for a GIF except for the index of transparent
    /// pixels.
    private static func opaque(
        _ words: [UInt32], _ width: Int, _ limit: Int, _ hasHoles: Bool, _ dithers: Bool
    ) -> ([UInt32], [UInt8]) {
        words.withUnsafeBufferPointer { words in
            let bins = ColorBins(words)
            let colors = ColorQuantizer.colors(of: bins, count: limit - (hasHoles ? 1 : 0))
            let palette = GIFPalette(colors, hasTransparency: hasHoles, of: bins)
            var indices = palette.nearestIndices(of: words, width: width, dithers: dithers)
            guard let hole = palette.transparentIndex else { return (colors, indices) }
            for place in indices.indices { indices[place] = indices[place] == hole ? 0 : indices[place] + 1 }
            return ([0] + colors, indices)
        }
    }

    static func clearFirst(_ colors: [UInt32]) -> [UInt32] {
        colors.filter { $0 >> 24 < 255 } + colors.filter { $0 >> 24 == 255 }
    }
}

/// Chooses representative colours with alpha: boxes of bins are split where that reduces their variance most, then each
/// colour moves to the mean of its nearest bins (k-means).
///
/// Colours are compared premultiplied, because the colour of transparent pixels is invisible; the weight of alpha is
/// its effect on the picture between a black and a white background.
private struct TranslucentPalette {
    private static let rounds = 4
    /// With more bins the search is slow, so they are made coarser.
    private static let maxBins = 1 << 15
    /// Square roots of the weights of red, green, blue and alpha.
    private static let scale = SIMD4<Float>(2, 2.83, 1.73, 2.74)

    private struct Bin {
        var mean: SIMD4<Float>
        var count: Float
    }

    private let hasHoles: Bool
    private var colors: [SIMD4<Float>]

    /// - Parameter words: straight; 0 for invisible pixels.
    init(_ words: [UInt32], atMost limit: Int, hasHoles: Bool) {
        self.hasHoles = hasHoles
        var bins = Self.bins(words, bits: 5)
        if bins.count > Self.maxBins { bins = Self.bins(words, bits: 4) }
        colors = Self.split(&bins, into: limit - (hasHoles ? 1 : 0))
        for _ in 0..<Self.rounds { move(to: bins) }
    }

    private static func vector(_ word: UInt32) -> SIMD4<Float> {
        let alpha = Float(word >> 24)
        let straight = SIMD4(Float(word & 255), Float(word >> 8 & 255), Float(word >> 16 & 255), 255)
        return straight * (alpha / 255) * scale
    }

    private static func word(_ vector: SIMD4<Float>) -> UInt32 {
        let premultiplied = vector / scale
        let alpha = premultiplied.w.rounded().clamped(to: 1...255)
        let straight = (premultiplied * (255 / alpha)).rounded(.toNearestOrAwayFromZero)
        func byte(_ value: Float) -> UInt32 { UInt32(value.clamped(to: 0...255)) }
        return byte(straight.x) | byte(straight.y) << 8 | byte(straight.z) << 16 | UInt32(alpha) << 24
    }

    private static func cell(_ vector: SIMD4<Float>, bits: Int) -> Int {
        let bytes = SIMD4<Int32>((vector / scale).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255)))
        let cells = bytes &>> SIMD4(repeating: Int32(8 - bits))
        return ((Int(cells.w) << bits | Int(cells.x)) << bits | Int(cells.y)) << bits | Int(cells.z)
    }

    private static func bins(_ words: [UInt32], bits: Int) -> [Bin] {
        var numbers = [Int32](repeating: -1, count: 1 << (4 * bits))
        var bins: [Bin] = []
        for word in words where word != 0 {
            let vector = vector(word)
            let cell = cell(vector, bits: bits)
            if numbers[cell] < 0 {
                numbers[cell] = Int32(bins.count)
                bins.append(Bin(mean: .zero, count: 0))
            }
            bins[Int(numbers[cell])].mean += vector
            bins[Int(numbers[cell])].count += 1
        }
        for index in bins.indices { bins[index].mean /= bins[index].count }
        return bins
    }

    private struct Box {
        let range: Range<Int>
        let mean: SIMD4<Float>
        /// The variance of each channel, times the number of pixels.
        let spread: SIMD4<Float>
    }

    /// - Returns: the means of the boxes.
    private static func split(_ bins: inout [Bin], into limit: Int) -> [SIMD4<Float>] {
        guard !bins.isEmpty else { return [] }
        var boxes = [box(bins, 0..<bins.count)]
        while boxes.count < limit {
            guard let widest = boxes.indices.max(by: { boxes[$0].spread.sum() < boxes[$1].spread.sum() }),
                boxes[widest].spread.sum() > 0, boxes[widest].range.count > 1
            else { break }
            let whole = boxes[widest]
            let axis = (0..<4).max { whole.spread[$0] < whole.spread[$1] } ?? 0
            bins[whole.range].sort { $0.mean[axis] < $1.mean[axis] }
            let middle = bestSplit(bins, whole, axis)
            boxes[widest] = box(bins, whole.range.lowerBound..<middle)
            boxes.append(box(bins, middle..<whole.range.upperBound))
        }
        return boxes.map(\.mean)
    }

    /// The split of a sorted box with the least total variance.
    private static func bestSplit(_ bins: [Bin], _ box: Box, _ axis: Int) -> Int {
        var (count, sum) = (Float(0), Float(0))
        let all = bins[box.range].reduce(into: (count: Float(0), sum: Float(0))) {
            $0.count += $1.count
            $0.sum += $1.count * $1.mean[axis]
        }
        var (best, place) = (-Float.infinity, box.range.lowerBound + 1)
        for index in box.range.dropLast() {
            count += bins[index].count
            sum += bins[index].count * bins[index].mean[axis]
            let gain = sum * sum / count + (all.sum - sum) * (all.sum - sum) / max(all.count - count, 1)
            if gain > best { (best, place) = (gain, index + 1) }
        }
        return place
    }

    private static func box(_ bins: [Bin], _ range: Range<Int>) -> Box {
        var (count, sum, squares) = (Float(0), SIMD4<Float>.zero, SIMD4<Float>.zero)
        for bin in bins[range] {
            count += bin.count
            sum += bin.mean * bin.count
        }
        let mean = sum / count
        for bin in bins[range] { squares += (bin.mean - mean) * (bin.mean - mean) * bin.count }
        return Box(range: range, mean: mean, spread: range.count > 1 ? squares : .zero)
    }

    private mutating func move(to bins: [Bin]) {
        var sums = [SIMD4<Float>](repeating: .zero, count: colors.count)
        var counts = [Float](repeating: 0, count: colors.count)
        for bin in bins {
            let nearest = nearest(bin.mean)
            sums[nearest] += bin.mean * bin.count
            counts[nearest] += bin.count
        }
        for index in colors.indices where counts[index] > 0 { colors[index] = sums[index] / counts[index] }
    }

    private func nearest(_ vector: SIMD4<Float>) -> Int {
        var (best, place) = (Float.infinity, 0)
        for index in colors.indices {
            let away = colors[index] - vector
            let distance = (away * away).sum()
            if distance < best { (best, place) = (distance, index) }
        }
        return place
    }

    /// The colours in file order, and the index of each pixel's colour.
    func sorted(of words: [UInt32], width: Int, dithers: Bool) -> ([UInt32], [UInt8]) {
        let first = hasHoles ? 1 : 0
        let written = colors.map(Self.word)
        let order = written.indices.sorted {
            (written[$0] >> 24 == 255 ? 1 : 0, $0) < (written[$1] >> 24 == 255 ? 1 : 0, $1)
        }
        var places = [UInt8](repeating: 0, count: order.count)
        for (place, index) in order.enumerated() { places[index] = UInt8(truncatingIfNeeded: place + first) }
        let indices = indices(of: words, width: width, dithers: dithers, places, written.map(Self.vector))
        return ((hasHoles ? [0] : []) + order.map { written[$0] }, indices)
    }

    /// Dithered as a GIF is (R. Floyd and L. Steinberg, 1976).
    private func indices(
        of words: [UInt32], width: Int, dithers: Bool, _ places: [UInt8], _ written: [SIMD4<Float>]
    ) -> [UInt8] {
        let bits = 5
        var known = [Int16](repeating: -1, count: 1 << (4 * bits))
        var here = [SIMD4<Float>](repeating: .zero, count: width + 2)
        var below = here
        var indices = [UInt8](repeating: 0, count: words.count)
        let most = Self.scale * 255
        for (row, start) in stride(from: 0, to: words.count, by: width).enumerated() {
            let step = row & 1 == 0 ? 1 : -1
            var (x, carried) = (step > 0 ? 0 : width - 1, SIMD4<Float>.zero)
            for _ in 0..<width {
                let word = words[start + x]
                if word == 0 {
                    carried = .zero
                } else {
                    let wanted = (Self.vector(word) + here[x + 1] + carried).clamped(
                        lowerBound: .zero, upperBound: most)
                    let cell = Self.cell(wanted, bits: bits)
                    if known[cell] < 0 { known[cell] = Int16(nearest(wanted)) }
                    let color = Int(known[cell])
                    indices[start + x] = places[color]
                    if dithers {
                        let error = (wanted - written[color]) / 16
                        carried = error * 7
                        below[x + 1 - step] += error * 3
                        below[x + 1] += error * 5
                        below[x + 1 + step] += error
                    }
                }
                x += step
            }
            swap(&here, &below)
            for index in below.indices { below[index] = .zero }
        }
        return indices
    }
}

extension Float {
    fileprivate func clamped(to range: ClosedRange<Float>) -> Float {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

extension PixelBuffer {
    /// The pixels without gaps; invisible ones as 0.
    fileprivate func words(keepsUnseen: Bool) -> [UInt32] {
        let (width, height, stride) = (size.width, size.height, bytesPerRow / 4)
        return withExtendedLifetime(self) {
            let words = base.assumingMemoryBound(to: UInt32.self)
            return [UInt32](unsafeUninitializedCapacity: width * height) { seen, count in
                for y in 0..<height {
                    for x in 0..<width {
                        let word = UInt32(littleEndian: words[y * stride + x])
                        seen[y * width + x] = word >> 24 == 0 && !keepsUnseen ? 0 : word
                    }
                }
                count = width * height
            }
        }
    }
}
