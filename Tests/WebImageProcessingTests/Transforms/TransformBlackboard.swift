import WebImageCore
import WebImageProcessing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A naive reference of the transforms, on a picture in floating point whose colours are multiplied by alpha.
struct Blackboard {
    typealias Pixel = SIMD4<Double>

    var size: PixelSize
    var pixels: [Pixel]

    init(_ size: PixelSize, _ pixels: [Pixel]) {
        self.size = size
        self.pixels = pixels
    }

    init(_ image: Image) {
        size = image.size
        let top = Double(image.layout.top)
        let isPremultiplied = image.alpha == .premultiplied
        pixels = stride(from: 0, to: size.width * size.height * 4, by: 4).map { [channels = image.pixels.channels] at in
            let color = Pixel((0..<4).map { Double(channels[at + $0]) / top })
            return isPremultiplied ? color : Self.premultiplied(color)
        }
    }

    /// The largest difference of an image from this picture, in levels of the image's depth.
    func worstDifference(of image: Image) -> Double {
        guard image.size == size else { return .infinity }
        let other = Blackboard(image)
        let top = Double(image.layout.top)
        return zip(pixels, other.pixels).reduce(0) { worst, pair in
            let difference = pair.0 - pair.1
            return max(worst, (0..<4).map { abs(difference[$0]) }.max() ?? 0)
        } * top
    }

    // MARK: pixels

    static func premultiplied(_ pixel: Pixel) -> Pixel {
        Pixel(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, pixel.w)
    }

    static func straight(_ pixel: Pixel) -> Pixel {
        pixel.w > 0 ? Pixel(pixel.x / pixel.w, pixel.y / pixel.w, pixel.z / pixel.w, pixel.w) : Pixel()
    }

    static func color(_ color: RGBAColor) -> Pixel {
        Pixel(Double(color.red), Double(color.green), Double(color.blue), Double(color.alpha)) / 255
    }

    /// Clamps alpha to 0 to 1, and colours to 0 to alpha.
    static func held(_ pixel: Pixel) -> Pixel {
        let alpha = min(max(pixel.w, 0), 1)
        return Pixel((0..<4).map { $0 == 3 ? alpha : min(max(pixel[$0], 0), alpha) })
    }

    /// Changes each pixel by itself. The closure gets the pixel with straight alpha and its place, and returns it with
    /// straight alpha.
    func mapped(_ change: (Pixel, Int, Int) -> Pixel) -> Blackboard {
        Blackboard(
            size,
            pixels.indices.map { index in
                let made = change(Self.straight(pixels[index]), index % size.width, index / size.width)
                return Self.premultiplied(Pixel((0..<4).map { min(max(made[$0], 0), 1) }))
            })
    }

    /// The pixel at this place, or the nearest pixel at the edge.
    func pixel(_ x: Int, _ y: Int) -> Pixel {
        pixels[min(max(y, 0), size.height - 1) * size.width + min(max(x, 0), size.width - 1)]
    }

    func made(_ size: PixelSize, _ make: (Int, Int) -> Pixel) -> Blackboard {
        Blackboard(
            size, (0..<size.width * size.height).map { make($0 % size.width, $0 / size.width) })
    }

    // MARK: transforms

    /// - Parameter reach: The number of weights on either side, which are rounded to twentieths as in libvips. Nil for
    ///   exact weights of any reach.
    func blurred(sigma: Double, reach: Int? = nil) -> Blackboard {
        let isCut = reach != nil
        let reach = reach ?? Int((6 * sigma).rounded(.up))
        let weights = (-reach...reach).map { distance in
            let weight = exp(-Double(distance * distance) / (2 * sigma * sigma))
            return isCut ? (20 * weight).rounded() : weight
        }
        let sum = weights.reduce(0, +)
        let across = made(size) { x, y in
            (-reach...reach).reduce(Pixel()) { $0 + pixel(x + $1, y) * weights[$1 + reach] / sum }
        }
        return made(size) { x, y in
            (-reach...reach).reduce(Pixel()) { $0 + across.pixel(x, y + $1) * weights[$1 + reach] / sum }
        }
    }

    /// Sharpens the lightness as libvips does it, in the colour space L*a*b*.
    func lightnessSharpened(sigma: Double, reach: Int) -> Blackboard {
        func light(_ value: Double) -> Double {
            value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        func coded(_ light: Double) -> Double {
            let light = min(max(light, 0), 1)
            return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        }
        func response(_ part: Double) -> Double { part < 0.008856 ? 7.787 * part + 16.0 / 116 : cbrt(part) }
        func lab(_ pixel: Pixel) -> (Double, Double, Double) {
            let (red, green, blue) = (light(pixel[0]), light(pixel[1]), light(pixel[2]))
            let x = response((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
            let y = response(0.2126 * red + 0.7152 * green + 0.0722 * blue)
            let z = response((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
            return (116 * y - 16, 500 * (x - y), 200 * (y - z))
        }
        let blurred = made(size) { x, y in
            let lightness = lab(pixel(x, y)).0 / 100
            return Pixel([lightness, lightness, lightness, 1])
        }.blurred(sigma: sigma, reach: reach)
        return made(size) { x, y in
            let sharp = pixel(x, y)
            let (lightness, a, b) = lab(sharp)
            let difference = lightness - 100 * blurred.pixel(x, y)[0]
            let over = abs(difference) <= 2 ? 0 : 3 * (difference - (difference < 0 ? -2 : 2))
            if over == 0 { return sharp }
            let middle = (min(max(lightness + min(max(over, -20), 10), 0), 100) + 16) / 116
            func part(_ value: Double) -> Double {
                value < 0.2069 ? (value - 16.0 / 116) / 7.787 : value * value * value
            }
            let (px, py, pz) = (0.95047 * part(middle + a / 500), part(middle), 1.08883 * part(middle - b / 200))
            return Self.held(
                Pixel([
                    coded(3.2406 * px - 1.5372 * py - 0.4986 * pz), coded(-0.9689 * px + 1.8758 * py + 0.0415 * pz),
                    coded(0.0557 * px - 0.2040 * py + 1.0570 * pz), sharp[3],
                ]))
        }
    }

    func sharpened(sigma: Double, amount: Double, threshold: Double) -> Blackboard {
        let blur = blurred(sigma: sigma)
        return made(size) { x, y in
            let sharp = pixel(x, y)
            let around = blur.pixel(x, y)
            let difference = around[3] > 0 ? sharp - around * (sharp[3] / around[3]) : Pixel()
            return Self.held(
                Pixel(
                    (0..<4).map { part in
                        part < 3 && abs(difference[part]) >= threshold * sharp[3]
                            ? sharp[part] + difference[part] * amount : sharp[part]
                    }))
        }
    }

    func pixelated(_ wanted: Int) -> Blackboard {
        let side = min(wanted, max(size.width, size.height))
        func mirrored(_ index: Int, _ count: Int) -> Int {
            let place = index % (2 * count)
            return place < count ? place : 2 * count - 1 - place
        }
        return made(size) { x, y in
            var sum = Pixel()
            for row in 0..<side {
                for column in 0..<side {
                    sum += pixel(
                        mirrored(x / side * side + column, size.width), mirrored(y / side * side + row, size.height))
                }
            }
            return sum / Double(side * side)
        }
    }

    /// Rotates clockwise around the middle. Beyond the edges the picture is transparent.
    func rotated(degrees: Double, to output: PixelSize) -> Blackboard {
        let angle = degrees * .pi / 180
        func weight(_ x: Double) -> Double {
            let x = abs(x)
            if x < 1 { return 1.5 * x * x * x - 2.5 * x * x + 1 }
            return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0
        }
        return made(output) { x, y in
            let across = Double(x) + 0.5 - Double(output.width) / 2
            let down = Double(y) + 0.5 - Double(output.height) / 2
            let px = across * cos(angle) + down * sin(angle) + Double(size.width) / 2 - 0.5
            let py = down * cos(angle) - across * sin(angle) + Double(size.height) / 2 - 0.5
            var sum = Pixel()
            for row in Int(floor(py)) - 1...Int(floor(py)) + 2 {
                for column in Int(floor(px)) - 1...Int(floor(px)) + 2
                where row >= 0 && row < size.height && column >= 0 && column < size.width {
                    sum += pixel(column, row) * weight(px - Double(column)) * weight(py - Double(row))
                }
            }
            // Where alpha exceeds one, the colours do as much.
            return Self.held(sum.w > 1 ? sum / sum.w : sum)
        }
    }

    func cropped(x: Int, y: Int, to kept: PixelSize) -> Blackboard {
        made(kept) { pixel(x + $0, y + $1) }
    }

    func onCanvas(_ canvas: PixelSize, x: Int, y: Int, _ color: RGBAColor) -> Blackboard {
        made(canvas) { column, row in
            let isInside = column >= x && column < x + size.width && row >= y && row < y + size.height
            return isInside ? pixel(column - x, row - y) : Self.premultiplied(Self.color(color))
        }
    }
}
