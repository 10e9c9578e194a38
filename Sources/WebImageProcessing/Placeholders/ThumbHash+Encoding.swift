import CPixels
public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ThumbHash {
    /// The longest side of the pictures that are hashed, in pixels; larger pictures are scaled down first.
    static let longestSide = 100

    /// Makes the hash of a picture: of its first frame, upright, in sRGB.
    ///
    /// A picture of up to 100x100 pixels gets the same bytes as from the original implementation (evanw/thumbhash,
    /// thumbhash.js). A larger picture is first scaled to this size with the Lanczos filter, which affects its hash. If
    /// you load a picture only for its hash, load it in this size.
    ///
    /// - Throws: `limitExceeded` when there is no memory, or a side has more than 1 Mi pixels.
    /// - Complexity: one pass over the pixels to scale them, and less than a millisecond. Memory for some rows.
    public init(of image: Image) throws(WebImageError) {
        let small = try image.resized(to: TargetSize(width: Self.longestSide, height: Self.longestSide))
        let rows = try EightBitRows(try small.upright(), .straight)
        let size = small.displaySize
        var pixels: [UInt8] = []
        pixels.reserveCapacity(size.width * size.height * 4)
        try rows.forEach { _, row in pixels += UnsafeBufferPointer(start: row, count: size.width * 4) }
        self.init(checked: Channels(pixels, size).hash)
    }

    /// The stored channels, and their waves. Every sum is computed in the order of the original, so that it is rounded
    /// in the same way.
    private struct Channels {
        let size: PixelSize
        var light: [Double] = []
        var yellow: [Double] = []
        var red: [Double] = []
        var alpha: [Double] = []
        var hasAlpha: Bool

        init(_ pixels: [UInt8], _ size: PixelSize) {
            self.size = size
            var (average, weight) = (SIMD3<Double>.zero, 0.0)
            for start in stride(from: 0, to: pixels.count, by: 4) {
                let alpha = Double(pixels[start + 3]) / 255
                average += Self.color(pixels, start) * (alpha / 255)
                weight += alpha
            }
            if weight > 0 { average /= weight }
            hasAlpha = weight < Double(size.width * size.height)
            for start in stride(from: 0, to: pixels.count, by: 4) {
                let alpha = Double(pixels[start + 3]) / 255
                // Transparent areas show the average colour.
                let color = average * (1 - alpha) + Self.color(pixels, start) * (alpha / 255)
                light.append((color.x + color.y + color.z) / 3)
                yellow.append((color.x + color.y) / 2 - color.z)
                red.append(color.x - color.y)
                self.alpha.append(alpha)
            }
        }

        private static func color(_ pixels: [UInt8], _ start: Int) -> SIMD3<Double> {
            SIMD3(Double(pixels[start]), Double(pixels[start + 1]), Double(pixels[start + 2]))
        }

        var hash: [UInt8] {
            let (limit, longer) = (hasAlpha ? 5 : 7, Double(max(size.width, size.height)))
            func count(_ side: Int) -> Int { max(1, Channels.rounded(Double(limit * side) / longer)) }
            let (x, y, isLandscape) = (count(size.width), count(size.height), size.width > size.height)
            let light = encoded(self.light, Waves(x: max(3, x), y: max(3, y)))
            let (yellow, red) = (encoded(self.yellow, .color), encoded(self.red, .color))
            var first = Channels.rounded(63 * light.constant) | Channels.rounded(31.5 + 31.5 * yellow.constant) << 6
            first |= Channels.rounded(31.5 + 31.5 * red.constant) << 12 | Channels.rounded(31 * light.scale) << 18
            first |= (hasAlpha ? 1 : 0) << 23
            var second = (isLandscape ? y : x) | Channels.rounded(63 * yellow.scale) << 3
            second |= Channels.rounded(63 * red.scale) << 9 | (isLandscape ? 1 : 0) << 15
            var bytes = [first & 255, first >> 8 & 255, first >> 16, second & 255, second >> 8]
            var steps = light.steps + yellow.steps + red.steps
            if hasAlpha {
                let alpha = encoded(self.alpha, .alpha)
                bytes.append(Channels.rounded(15 * alpha.constant) | Channels.rounded(15 * alpha.scale) << 4)
                steps += alpha.steps
            }
            for place in stride(from: 0, to: steps.count, by: 2) {
                bytes.append(steps[place] | (place + 1 < steps.count ? steps[place + 1] << 4 : 0))
            }
            return bytes.map { UInt8(truncatingIfNeeded: $0) }
        }

        /// The constant part of a channel, the strength of its strongest wave, and all strengths in 16 steps.
        private func encoded(_ channel: [Double], _ waves: Waves) -> (constant: Double, scale: Double, steps: [Int]) {
            var strengths: [Double] = []
            let columns = cosines(count: waves.count(inRow: 0))
            for row in 0..<waves.y {
                strengths += self.strengths(channel, columns, row: row).prefix(waves.count(inRow: row))
            }
            let scale = strengths.dropFirst().reduce(0) { max($0, $1.magnitude) }
            let steps = strengths.dropFirst().map { strength in
                Channels.rounded(15 * (scale > 0 ? 0.5 + 0.5 / scale * strength : strength))
            }
            return (strengths[0], scale, steps)
        }

        /// The cosines of each column of pixels.
        private func cosines(count: Int) -> [Double] {
            let lanes = Int(WI_COLUMNS)
            var cosines = [Double](repeating: 0, count: size.width * lanes)
            for x in 0..<size.width {
                for column in 0..<count {
                    cosines[x * lanes + column] = cos(
                        Double.pi / Double(size.width) * Double(column) * (Double(x) + 0.5))
                }
            }
            return cosines
        }

        private func strengths(_ channel: [Double], _ columns: [Double], row: Int) -> [Double] {
            var sums = [Double](repeating: 0, count: Int(WI_COLUMNS))
            channel.withUnsafeBufferPointer { channel in
                guard let base = channel.baseAddress else { return }
                for y in 0..<size.height {
                    let cosine = cos(Double.pi / Double(size.height) * Double(row) * (Double(y) + 0.5))
                    wi_add_cosines_double(&sums, columns, cosine, base + y * size.width, size.width)
                }
            }
            return sums.map { $0 / Double(size.width * size.height) }
        }

        /// Rounds to the nearest integer, halves up, as JavaScript does.
        private static func rounded(_ value: Double) -> Int {
            let floor = value.rounded(.down)
            return Int(floor) + (value - floor >= 0.5 ? 1 : 0)
        }
    }
}
