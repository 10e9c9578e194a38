public import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Pictures that the project draws itself, at any size. The same call always gives the same picture. Drawing takes CPU
/// time: for large sizes, do not call it on Swift's cooperative pool.
///
/// All functions throw `limitExceeded` for an empty size, and no other errors.
public enum SamplePictures {
    /// The sun sets over a mountain lake. Opaque, as fine in detail as a photograph.
    public static func sunset(_ size: PixelSize) throws(WebImageError) -> Image { try Landscape.sunset.draw(size) }

    /// The sunset with the grain of a camera's picture, so that its JPEG is as large as a camera's. Opaque.
    public static func grainySunset(_ size: PixelSize) throws(WebImageError) -> Image {
        try Landscape.sunset.grainy.draw(size)
    }

    /// A misty morning at the lake. Opaque.
    public static func dawn(_ size: PixelSize) throws(WebImageError) -> Image { try Landscape.dawn.draw(size) }

    /// Moon and stars over the lake. Opaque.
    public static func night(_ size: PixelSize) throws(WebImageError) -> Image { try Landscape.night.draw(size) }

    /// The sunset without its colours. Opaque, all pixels grey.
    public static func graySunset(_ size: PixelSize) throws(WebImageError) -> Image {
        let image = try Landscape.sunset.draw(size)
        return try Canvas.image(size, alpha: .opaque) { canvas in
            image.withPixels { pixels in
                canvas.paint { x, y in
                    let place = (y * size.width + x) * 4
                    // The weights of Rec. 709, in 256ths.
                    let light = Int(pixels[place]) * 54 + Int(pixels[place + 1]) * 183 + Int(pixels[place + 2]) * 19
                    let gray = Float(light >> 8) / 255
                    return Ink(gray, gray, gray)
                }
            }
        }
    }

    /// A wheel of hues with white in its centre. Transparent around it.
    public static func colorWheel(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size) { canvas in
            let (centreX, centreY) = (Float(size.width) / 2, Float(size.height) / 2)
            let radius = min(centreX, centreY) * 0.94
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (dx, dy) = (Float(x) + 0.5 - centreX, Float(y) + 0.5 - centreY)
                    let distance = (dx * dx + dy * dy).squareRoot()
                    let ink = Ink(
                        hue: atan2(dy, dx) / (2 * .pi), saturation: min(distance / radius, 1),
                        value: 1 - 0.12 * smoothstep(0.82, 1, distance / radius))
                    canvas.blend(x, y, ink, min(max(radius + 0.5 - distance, 0), 1))
                }
            }
        }
    }

    /// A Julia set, smoothly coloured. Opaque; sharp detail everywhere.
    public static func julia(_ size: PixelSize) throws(WebImageError) -> Image {
        let palette = [Ink(0x0B1026), Ink(0x2B3A8C), Ink(0x3FA7D6), Ink(0xFAF3DD), Ink(0xF79D5C), Ink(0x7A2E4F)]
        return try Canvas.image(size, alpha: .opaque) { canvas in
            let scale = 2.5 / Float(min(size.width, size.height))
            canvas.paint { x, y in
                var real = (Float(x) + 0.5 - Float(size.width) / 2) * scale
                var imaginary = (Float(y) + 0.5 - Float(size.height) / 2) * scale
                var steps = 0
                while steps < 160, real * real + imaginary * imaginary < 64 {
                    (real, imaginary) = (
                        real * real - imaginary * imaginary - 0.7435, 2 * real * imaginary + 0.1314
                    )
                    steps += 1
                }
                if steps == 160 { return palette[0] * 0.6 }
                let smooth = Float(steps) + 1 - log2(max(log2(real * real + imaginary * imaginary) / 2, 1))
                let place = smooth.squareRoot() * 0.9
                let (low, part) = (Int(place), place - place.rounded(.down))
                return palette[low % palette.count].mixed(part, with: palette[(low + 1) % palette.count])
            }
        }
    }

    /// Marbled clouds of gas with stars. Opaque.
    public static func nebula(_ size: PixelSize) throws(WebImageError) -> Image {
        let (noise, fine) = (Noise(seed: 5), Noise(seed: 77))
        return try Canvas.image(size, alpha: .opaque) { canvas in
            let scale = 3 / Float(min(size.width, size.height))
            canvas.paint { column, row in
                let (x, y) = (Float(column) * scale, Float(row) * scale)
                let warp = noise.cloud(x, y, octaves: 4)
                let cloud = noise.cloud(x + warp * 2.4, y + warp * 1.6 + 7, octaves: 5)
                var ink = Ink(0x070B1D).mixed(smoothstep(0.3, 0.62, cloud), with: Ink(0x5B2A86))
                ink = ink.mixed(smoothstep(0.5, 0.72, cloud) * 0.9, with: Ink(0xE85D75))
                ink = ink.mixed(smoothstep(0.62, 0.82, cloud), with: Ink(0xFFE9B8))
                ink = ink.mixed(smoothstep(0.52, 0.75, warp) * 0.45, with: Ink(0x1FA2A6))
                let spark = fine.grain(Int32(truncatingIfNeeded: column), Int32(truncatingIfNeeded: row))
                if spark > 0.9985 { ink = ink.mixed((spark - 0.9985) * 660, with: Ink(1, 1, 1)) }
                let grain = (spark - 0.5) * 0.03
                return ink + Ink(grain, grain, grain)
            }
        }
    }

    /// A spirograph's rosette in changing hues, thin antialiased lines. Opaque, dark.
    public static func rosette(_ size: PixelSize) throws(WebImageError) -> Image {
        try Canvas.image(size, alpha: .opaque) { canvas in
            let (centreX, centreY) = (Float(size.width) / 2, Float(size.height) / 2)
            let radius = min(centreX, centreY) * 0.95
            canvas.paint { x, y in
                let (dx, dy) = (Float(x) - centreX, Float(y) - centreY)
                let light = 1 - min((dx * dx + dy * dy) / (radius * radius * 1.8), 1)
                return Ink(0x0C0F1A).mixed(light, with: Ink(0x1C2340))
            }
            let thickness = max(radius / 190, 0.9)
            let count = 2600
            var last: (x: Float, y: Float)?
            for step in 0...count {
                let angle = Float(step) / Float(count) * 2 * .pi * 11
                let inner = angle * (1 - 1 / 0.2895)
                let next = (
                    x: centreX + radius * (0.62 * cos(angle) + 0.38 * cos(inner)),
                    y: centreY + radius * (0.62 * sin(angle) + 0.38 * sin(inner))
                )
                let ink = Ink(hue: Float(step) / Float(count) + 0.45, saturation: 0.55, value: 1)
                if let last { canvas.line(from: last, to: next, width: thickness, ink, density: 0.85) }
                last = next
            }
        }
    }
}
