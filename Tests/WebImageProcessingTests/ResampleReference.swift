import WebImageCore
import WebImageProcessing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A naive resampler: every weight of every pixel in floating point, without any shortcut.
struct ResampleReference {
    var filter: ResampleFilter
    var inLinearLight = false

    /// sRGB's curve, 0 to 1.
    private func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private func value(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private func weight(_ x: Double) -> Double {
        let x = abs(x)
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        switch filter {
        case .box: return 0
        case .bilinear: return x < 1 ? 1 - x : 0
        case .bicubic:
            let a = -0.5
            if x < 1 { return (a + 2) * x * x * x - (a + 3) * x * x + 1 }
            return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0
        case .lanczos3, .libvips: return x < 3 ? sinc(x) * sinc(x / 3) : 0
        }
    }

    /// libvips enlarges with a Catmull-Rom spline, shifted by half a pixel of the result, at positions in 64ths of a
    /// pixel. The pixels at the edges repeat beyond them.
    private func enlarged(_ pixel: Int, _ input: Int, _ low: Double) -> Double {
        let place = low - 0.5
        let near = place.rounded(.down) + (((place - place.rounded(.down)) * 128).rounded(.down) / 2).rounded() / 64
        return (-3...input + 2).filter { min(max($0, 0), input - 1) == pixel }.reduce(0) {
            $0 + ResampleReference(filter: .bicubic).weight(Double($1) - near)
        }
    }

    /// From a quarter of the size on, libvips first averages blocks and then applies Lanczos to the averages. The
    /// pixels at the edges repeat beyond them.
    private func reduced(_ pixel: Int, _ input: Int, _ center: Double, _ step: Double) -> Double {
        let block = Swift.max(Int((step / 2).rounded(.down)), 1)
        let last = (input - 1) / block
        var sum = 0.0
        let (place, scale) = (center / Double(block), step / Double(block))
        // Blocks that are farther away have no weight.
        for mean in Int(place - 3 * scale) - 2...Int(place + 3 * scale) + 2 {
            let weight = weight((Double(mean) + 0.5 - place) / scale)
            let place = min(Swift.max(mean, 0), last)
            sum += weight * Double(Self.count(of: pixel, within: place * block..<(place + 1) * block, input))
        }
        return sum
    }

    /// How often a pixel stands in a block, if the last pixel stands also for those beyond it.
    private static func count(of pixel: Int, within block: Range<Int>, _ input: Int) -> Int {
        if pixel < input - 1 { return block.contains(pixel) ? 1 : 0 }
        return max(block.upperBound - max(block.lowerBound, pixel), 0)
    }

    /// `matrix[output][input]`
    private func weights(_ input: Int, _ start: Double, _ length: Double, _ output: Int) -> [[Double]] {
        let step = length / Double(output)
        return (0..<output).map { index in
            let low = start + Double(index) * step
            let center = start + (Double(index) + 0.5) * step
            let row = (0..<input).map { pixel -> Double in
                if filter == .box {
                    return max(min(Double(pixel + 1), low + step) - max(Double(pixel), low), 0)
                }
                if filter == .libvips {
                    return step < 1 ? enlarged(pixel, input, low) : reduced(pixel, input, center, step)
                }
                return weight((Double(pixel) + 0.5 - center) / max(step, 1))
            }
            let sum = row.reduce(0, +)
            return row.map { $0 / sum }
        }
    }

    /// The exact channels before rounding, with the same meaning of alpha as the pixels.
    func resample(_ pixels: PixelBuffer, alpha: AlphaMode, crop: PixelRect, to output: PixelSize) -> [Double] {
        let (width, height, top) = (pixels.size.width, pixels.size.height, Double(pixels.layout.top))
        var planes = pixels.channels.map(Double.init)
        if inLinearLight {
            for index in planes.indices where index % 4 != 3 { planes[index] = light(planes[index] / top) * top }
        }
        if alpha == .straight {
            for index in planes.indices where index % 4 != 3 { planes[index] *= planes[index | 3] / top }
        }
        let vertical = weights(height, crop.y, crop.height, output.height)
        let horizontal = weights(width, crop.x, crop.width, output.width)
        var result = [Double](repeating: 0, count: output.width * output.height * 4)
        for y in 0..<output.height {
            var row = [Double](repeating: 0, count: width * 4)
            for from in 0..<height where vertical[y][from] != 0 {
                for index in row.indices { row[index] += vertical[y][from] * planes[from * width * 4 + index] }
            }
            for x in 0..<output.width {
                var sum = [0.0, 0, 0, 0]
                for from in 0..<width where horizontal[x][from] != 0 {
                    for c in 0..<4 { sum[c] += horizontal[x][from] * row[from * 4 + c] }
                }
                let a = min(max(sum[3], 0), top)
                for c in 0..<3 {
                    var color = min(max(sum[c], 0), a)
                    if alpha == .straight, a > 0 { color *= top / a }
                    if inLinearLight { color = value(color / top) * top }
                    result[(y * output.width + x) * 4 + c] = color
                }
                result[(y * output.width + x) * 4 + 3] = a
            }
        }
        return result
    }

    /// The largest difference of `pixels` from the expected channels, in levels. For 16-bit pixels a difference in
    /// colour is weighted by alpha, because their faintest colours exceed the precision of 32-bit floats; for 8-bit
    /// pixels it counts in full.
    func worstDifference(
        of pixels: PixelBuffer, from expected: [Double]
    ) -> Double {
        let (actual, top) = (pixels.channels, Double(pixels.layout.top))
        var worst = 0.0
        for start in stride(from: 0, to: actual.count, by: 4) {
            let alpha = expected[start + 3]
            worst = max(worst, abs(Double(actual[start + 3]) - alpha))
            // The colour of a pixel that is or nearly is fully transparent is undefined.
            guard alpha > 0.51 else { continue }
            let seen = pixels.layout == .rgba8 ? 1 : alpha / top
            for c in 0..<3 {
                worst = max(worst, abs(Double(actual[start + c]) - expected[start + c]) * seen)
            }
        }
        return worst
    }
}
