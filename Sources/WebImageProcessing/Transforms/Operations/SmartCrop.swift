import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Keeps the part that attracts the most attention, like libvips' "attention" crop: edges, strong reds and skin tones
/// around a position count.
struct SmartCrop: CuttingOperation {
    /// The size of the part; not larger than the picture.
    let kept: PixelSize

    func part(of image: Image, _ checkpoint: TransformProgram.Checkpoint?) throws(WebImageError) -> CutPart {
        let map = try AttentionMap(image)
        let size = image.size
        let scale = (
            x: Double(AttentionMap.side) / Double(size.width), y: Double(AttentionMap.side) / Double(size.height)
        )
        let (across, down) = (Double(kept.width) * scale.x, Double(kept.height) * scale.y)
        let best = map.peak(sigma: max((across * across + down * down).squareRoot() / 10, 1))
        func start(_ peak: Int, _ scale: Double, _ kept: Int, _ side: Int) -> Int {
            Int(min(max(Double(peak) / scale - Double(kept / 2), 0), Double(side - kept)))
        }
        return CutPart(
            x: start(best.x, scale.x, kept.width, size.width), y: start(best.y, scale.y, kept.height, size.height),
            size: kept)
    }
}

/// The amount of attention, on a small grid over the picture.
private struct AttentionMap {
    static let side = 32

    private var values: [Float]

    init(_ image: Image) throws(WebImageError) {
        let side = Self.side
        let small = try Resampler.resample(
            image.pixels, alpha: image.alpha, to: PixelSize(width: side, height: side), filter: .libvips)
        let colors = try Image(pixels: small, info: image.info).flattened(onto: .black).pixels.narrowed()
        // CIE XYZ of sRGB, white being 95, 100, 109.
        var xyz: [SIMD3<Float>] = []
        colors.withBytes { bytes in
            for pixel in 0..<side * side {
                let light = SIMD3<Float>((0..<3).map { Self.light(bytes[pixel * 4 + $0]) })
                xyz.append(
                    SIMD3(
                        (SIMD3(0.4124, 0.3576, 0.1805) * light).sum() * 100,
                        (SIMD3(0.2126, 0.7152, 0.0722) * light).sum() * 100,
                        (SIMD3(0.0193, 0.1192, 0.9505) * light).sum() * 100))
            }
        }
        values = xyz.indices.map { index in
            let (x, y) = (index % side, index / side)
            func luminance(_ x: Int, _ y: Int) -> Float {
                xyz[min(max(y, 0), side - 1) * side + min(max(x, 0), side - 1)].y
            }
            let around = luminance(x - 1, y) + luminance(x + 1, y) + luminance(x, y - 1) + luminance(x, y + 1)
            let edge = 5 * abs(4 * xyz[index].y - around)
            guard xyz[index].y > 5 else { return edge }
            return edge + Self.redness(xyz[index]) + Self.skin(xyz[index])
        }
    }

    private static func light(_ byte: UInt8) -> Float {
        let value = Float(byte) / 255
        return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    }

    /// The a of CIE Lab.
    private static func redness(_ xyz: SIMD3<Float>) -> Float {
        func curve(_ share: Float) -> Float { share > 0.008856 ? cbrtf(share) : 7.787 * share + 16.0 / 116 }
        return 500 * (curve(xyz.x / 95.0470) - curve(xyz.y / 100))
    }

    /// The similarity of the hue to that of skin (smartcrop.js).
    private static func skin(_ xyz: SIMD3<Float>) -> Float {
        let length = (xyz * xyz).sum().squareRoot()
        let away = (length > 0 ? xyz / length : xyz) - SIMD3(0.78, 0.57, 0.44)
        return 100 * (1 - (away * away).sum().squareRoot())
    }

    /// The position of the maximum after blurring.
    func peak(sigma: Double) -> (x: Int, y: Int) {
        let side = Self.side
        // libvips' weights: multiples of a twentieth of the middle weight, without those under a fifth of it.
        let bell = (0...side).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }.prefix { $0 >= 0.2 }
        let reach = bell.count - 1
        let weights = (-reach...reach).map { Float((20 * bell[abs($0)]).rounded()) }
        func blurred(_ values: [Float], step: Int, other: Int) -> [Float] {
            var result = values
            for line in 0..<side {
                for place in 0..<side {
                    var sum: Float = 0
                    for (index, weight) in weights.enumerated() {
                        let from = min(max(place + index - reach, 0), side - 1)
                        sum += values[line * other + from * step] * weight
                    }
                    result[line * other + place * step] = sum
                }
            }
            return result
        }
        let map = blurred(blurred(values, step: 1, other: side), step: side, other: 1)
        let best = map.indices.max { map[$0] < map[$1] } ?? 0
        return (best % side, best / side)
    }
}
