import WebImageCore

/// A picture reduced by averaging, to be drawn on a canvas: straight alpha, values from 0 to 1.
struct Thumbnail {
    let width: Int
    let height: Int
    /// Four values a pixel, premultiplied.
    private let values: [Float]

    /// Reduces the picture to fit `place`; it is never enlarged.
    init(_ image: Image, fitting place: PixelSize) {
        let (fullWidth, fullHeight) = (Float(image.size.width), Float(image.size.height))
        let scale = min(1, Float(place.width) / fullWidth, Float(place.height) / fullHeight)
        let (width, height) = (max(Int(fullWidth * scale + 0.5), 1), max(Int(fullHeight * scale + 0.5), 1))
        var values = [Float](repeating: 0, count: width * height * 4)
        image.withPixels { pixels in
            for y in 0..<height {
                let rows = Self.sources(of: y, of: height, in: image.size.height)
                for x in 0..<width {
                    let columns = Self.sources(of: x, of: width, in: image.size.width)
                    let sum = Self.average(pixels, image, columns, rows)
                    for channel in 0..<4 { values[(y * width + x) * 4 + channel] = sum[channel] }
                }
            }
        }
        self.width = width
        self.height = height
        self.values = values
    }

    func pixel(_ x: Int, _ y: Int) -> (Ink, alpha: Float) {
        let place = (y * width + x) * 4
        let alpha = values[place + 3]
        guard alpha > 0 else { return (Ink(0, 0, 0), 0) }
        return (Ink(values[place], values[place + 1], values[place + 2]) * (1 / alpha), alpha)
    }

    private static func sources(of index: Int, of count: Int, in full: Int) -> Range<Int> {
        let low = index * full / count
        return low..<max((index + 1) * full / count, low + 1)
    }

    private static func average(
        _ pixels: UnsafeRawBufferPointer, _ image: Image, _ columns: Range<Int>, _ rows: Range<Int>
    ) -> SIMD4<Float> {
        var sum = SIMD4<Float>.zero
        for y in rows {
            for x in columns {
                let place = (y * image.size.width + x) * image.layout.bytesPerPixel
                var value = SIMD4<Float>.zero
                switch image.layout {
                case .rgba8:
                    for channel in 0..<4 { value[channel] = Float(pixels[place + channel]) / 255 }
                case .rgba16:
                    let wide = pixels.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt16>.self)
                    value = SIMD4<Float>(wide) / 65535
                }
                let alpha = value.w
                if image.alpha == .straight { value *= alpha }
                value.w = image.alpha == .opaque ? 1 : alpha
                sum += value
            }
        }
        return sum / Float(columns.count * rows.count)
    }
}
