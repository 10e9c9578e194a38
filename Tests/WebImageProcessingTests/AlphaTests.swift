import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct AlphaTests {
    /// Every channel value with every alpha.
    private func everyPair() throws -> PixelBuffer {
        let channels = (0...255).flatMap { alpha in (0...255).flatMap { [$0, 255 - $0, 0, alpha] } }
        return try PixelBuffer.make(PixelSize(256, 256), channels)
    }

    private func nearest(_ value: Int, over divisor: Int) -> Int { (2 * value + divisor) / (2 * divisor) }

    @Test func everyByteIsMultipliedToTheNearest() throws {
        let pixels = try everyPair()
        let before = pixels.channels
        pixels.premultiply()
        let expected = before.indices.map { index in
            let alpha = before[index | 3]
            return index % 4 == 3 ? alpha : nearest(before[index] * alpha, over: 255)
        }
        #expect(pixels.channels == expected)
    }

    @Test func everyByteIsDividedToTheNearest() throws {
        let pixels = try everyPair()
        let before = pixels.channels
        pixels.unpremultiply()
        let expected = before.indices.map { index in
            let alpha = before[index | 3]
            if index % 4 == 3 || alpha == 0 { return index % 4 == 3 ? alpha : 0 }
            return min(nearest(before[index] * 255, over: alpha), 255)
        }
        #expect(pixels.channels == expected)
    }

    @Test func everyByteOverAColourIsRoundedToTheNearest() throws {
        let color = RGBColor(red: 10, green: 200, blue: 255)
        for alpha in [AlphaMode.straight, .premultiplied] {
            let pixels = try everyPair()
            if alpha == .premultiplied { pixels.premultiply() }
            let before = pixels.channels
            pixels.flatten(onto: color, alpha: alpha)
            let expected = before.indices.map { index in
                let (a, under) = (before[index | 3], [10, 200, 255, 0][index % 4])
                let over = before[index] * (alpha == .straight ? a : 255)
                return index % 4 == 3 ? 255 : min(nearest(over + under * (255 - a), over: 255), 255)
            }
            #expect(pixels.channels == expected)
        }
    }

    /// The places lie around the ends of the runs of 4096 pixels that are checked at once.
    @Test(arguments: [PixelLayout.rgba8, .rgba16], [0, 1, 4095, 4096, 4097, 8199])
    func onePixelOfColourIsFound(_ layout: PixelLayout, _ place: Int) throws {
        let size = PixelSize(82, 100)
        var channels = (0..<8200).flatMap { [$0 % 251, $0 % 251, $0 % 251, $0 % 7] }
        #expect(try PixelBuffer.make(size, layout, channels).isGray)
        for channel in 0..<3 {
            channels[place * 4 + channel] ^= 1
            #expect(try !PixelBuffer.make(size, layout, channels).isGray)
            channels[place * 4 + channel] ^= 1
        }
    }

    @Test func sixteenBitsAreRoundedToTheNearestToo() throws {
        let pixels = try PixelBuffer.random(PixelSize(64, 64), .rgba16, alpha: .straight, seed: 1)
        let before = pixels.channels
        let (multiplied, flat) = (try pixels.copied(), try pixels.copied())
        multiplied.premultiply()
        let premultiplied = multiplied.channels
        let products = before.indices.map { index in
            index % 4 == 3 ? before[index] : nearest(before[index] * before[index | 3], over: 65_535)
        }
        #expect(premultiplied == products)
        multiplied.unpremultiply()
        let quotients = before.indices.map { index in
            let alpha = before[index | 3]
            if index % 4 == 3 || alpha == 0 { return index % 4 == 3 ? alpha : 0 }
            return min(nearest(premultiplied[index] * 65_535, over: alpha), 65_535)
        }
        #expect(multiplied.channels == quotients)
        flat.flatten(onto: RGBColor(red: 1, green: 128, blue: 254), alpha: .straight)
        let blends = before.indices.map { index in
            let (alpha, under) = (before[index | 3], [257, 128 * 257, 254 * 257, 0][index % 4])
            if index % 4 == 3 { return 65_535 }
            return nearest(before[index] * alpha + under * (65_535 - alpha), over: 65_535)
        }
        #expect(flat.channels == blends)
    }

    @Test func anOpaquePictureIsLeftAloneByFlattening() throws {
        let pixels = try PixelBuffer.random(PixelSize(8, 8), alpha: .straight, seed: 2)
        let before = pixels.channels
        pixels.flatten(onto: .white, alpha: .opaque)
        #expect(pixels.channels == before)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func oneTranslucentPixelIsFound(_ layout: PixelLayout) throws {
        let size = PixelSize(131, 67)
        let pixels = try PixelBuffer.random(size, layout, alpha: .opaque, seed: 3)
        #expect(pixels.isOpaque)
        for place in [0, 1, 4095, 4096, 5000, size.width * size.height - 1] {
            var channels = pixels.channels
            channels[place * 4 + 3] -= 1
            #expect(try !PixelBuffer.make(size, layout, channels).isOpaque)
        }
    }

    @Test func everyDepthIsNarrowedToTheNearestAndWidenedBack() throws {
        let all = try PixelBuffer.make(PixelSize(128, 128), .rgba16, Array(0...65_535))
        let narrow = try all.narrowed()
        #expect(narrow.layout == .rgba8)
        #expect(narrow.channels == (0...65_535).map { nearest($0, over: 257) })
        let bytes = try PixelBuffer.make(PixelSize(64, 1), Array(0...255))
        #expect(try bytes.widened().channels == (0...255).map { $0 * 257 })
        #expect(try bytes.widened().narrowed().channels == bytes.channels)
        #expect(try bytes.narrowed() === bytes)
    }

    @Test(arguments: [[0, 255], [0, 1, 128, 254, 255]], [1, 15, 16, 17, 67])
    func aLayerIsBlendedOverTheCanvas(_ alphas: [Int], _ width: Int) throws {
        var generator = SeededGenerator(seed: UInt64(width))
        func random(_ count: Int) -> [Int] {
            (0..<count).map { at in
                at % 4 == 3
                    ? alphas.randomElement(using: &generator) ?? 0 : Int.random(in: 0...255, using: &generator)
            }
        }
        let size = PixelSize(width, 3)
        let (below, above) = (random(size.width * size.height * 4), random(size.width * size.height * 4))
        let canvas = try PixelBuffer.make(size, below)
        let layer = try PixelBuffer.make(size, above)
        for row in 0..<size.height { canvas.layOver(row: row, x: 0, layer.row(row), count: width) }
        let expected = stride(from: 0, to: below.count, by: 4).flatMap { at -> [Int] in
            let (top, bottom) = (above[at..<at + 4].map(Double.init), below[at..<at + 4].map(Double.init))
            let shows = bottom[3] * (255 - top[3]) / 255
            let whole = top[3] + shows
            guard whole > 0 else { return Array(below[at..<at + 4]) }
            return (0..<3).map { Int(((top[$0] * top[3] + bottom[$0] * shows) / whole).rounded()) }
                + [Int(whole.rounded())]
        }
        for (found, expected) in zip(canvas.channels, expected) { #expect(abs(found - expected) <= 1) }
        // Where the layer is opaque or fully transparent, the result is exact.
        for at in stride(from: 0, to: below.count, by: 4) where [0, 255].contains(above[at + 3]) {
            #expect(canvas.channels[at..<at + 4] == (above[at + 3] == 0 ? below : above)[at..<at + 4])
        }
    }
}
