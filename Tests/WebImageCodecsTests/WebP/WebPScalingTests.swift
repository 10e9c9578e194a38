import Testing
import WebImageCodecs
import WebImageCore

/// WebP pictures that are decoded at a reduced size.
@Suite struct WebPScalingTests {
    @Test(arguments: [2, 3, 4, 5, 7, 8, 16])
    func scaledPixelsAreMeansOfTheFullPicture(_ scale: Int) throws {
        for (width, height) in [(112, 96), (113, 97), (101, 81)] {
            for isLossless in [true, false] {
                let image = try smooth(width, height)
                let bytes = try WebPCoder().encode(image, as: .webp, EncodeOptions(quality: 95, isLossless: isLossless))
                let full = decodeWebP(bytes).pixels.bytes
                let result = decodeWebP(bytes, scale: scale)
                let size = PixelSize(width: (width + scale - 1) / scale, height: (height + scale - 1) / scale)
                #expect(result.error == nil && result.format?.size == size && result.rows == size.height)
                #expect(result.format?.alpha == .opaque && result.header?.size == image.size)
                let expected = means(of: full, width: width, height: height, scale: scale)
                var whole: [UInt8] = []
                for y in 0..<height / scale {
                    let start = y * size.width * 4
                    whole += result.pixels.bytes[start..<start + width / scale * 4]
                }
                // At reduced sizes libwebp leaves out the deblocking filter of lossy pictures.
                let difference = Pixels(whole).meanDifference(to: expected)
                #expect(difference < (isLossless ? 1 : 1.5), "\(difference)")
            }
        }
    }

    /// A picture with hard edges in brightness and none in colour. Colours have half the resolution and would look
    /// different at full size.
    private func smooth(_ width: Int, _ height: Int) throws -> Image {
        try Image(size: PixelSize(width: width, height: height), alpha: .opaque) { bytes in
            for index in bytes.indices {
                let (x, y) = (index / 4 % width, index / 4 / width)
                let edge = (x / 8 + y / 8) % 2 * 60
                let ramp = [x * 150 / width, y * 150 / height, 75, 255 - edge][index % 4]
                bytes[index] = UInt8(ramp + edge)
            }
        }
    }

    private func means(of pixels: [UInt8], width: Int, height: Int, scale: Int) -> Pixels {
        var means: [UInt8] = []
        for y in 0..<height / scale {
            for x in 0..<width / scale {
                for channel in 0..<4 {
                    var sum = 0
                    for row in y * scale..<(y + 1) * scale {
                        for column in x * scale..<(x + 1) * scale {
                            let index: Int = (row * width + column) * 4 + channel
                            sum += Int(pixels[index])
                        }
                    }
                    means.append(UInt8(sum / (scale * scale)))
                }
            }
        }
        return Pixels(means)
    }

    @Test func aPartialLastPixelRepeatsThePixelBefore() throws {
        let bytes = try encodeWebP(Drawings.picture(101, 81))
        let result = decodeWebP(bytes, scale: 8)
        let bytesPerRow = 13 * 4
        for y in 0..<11 {
            let row = Array(result.pixels.bytes[y * bytesPerRow..<(y + 1) * bytesPerRow])
            #expect(Array(row.suffix(4)) == Array(row.dropLast(4).suffix(4)))
        }
        #expect(result.pixels.suffix(bytesPerRow) == result.pixels.prefix(10 * bytesPerRow).suffix(bytesPerRow))
    }

    @Test func piecesGiveTheSamePixels() throws {
        for (isLossless, alpha) in [(true, AlphaMode.opaque), (false, .opaque), (true, .straight), (false, .straight)] {
            let image = try Drawings.noise(203, 155, alpha: alpha)
            let bytes = try WebPCoder().encode(image, as: .webp, EncodeOptions(isLossless: isLossless))
            for scale in [3, 8] {
                let whole = decodeWebP(bytes, scale: scale)
                let pieces = decodeWebP(
                    bytes, scale: scale, keepsWhole: false, length: randomLengths(seed: 5, most: 2000))
                #expect(whole.error == nil && pieces.error == nil && pieces.pixels == whole.pixels)
                let cut = decodeWebP(Array(bytes.prefix(bytes.count / 2)), scale: scale)
                #expect(cut.error?.code == .truncatedData && cut.rows < whole.rows)
                #expect(cut.pixels == whole.pixels.prefix(cut.pixels.count))
            }
        }
    }

    @Test func aPictureSmallerThanTheScaleBecomesOnePixel() throws {
        let bytes = try encodeWebP(Drawings.picture(5, 3))
        let result = decodeWebP(bytes, scale: 16)
        #expect(result.error == nil && result.format?.size == PixelSize(width: 1, height: 1))
    }

    /// Fully transparent pixels have colours of their own, which must not become visible in the means.
    @Test(arguments: [2, 3, 5, 8, 16]) func coloursAreWeightedByTheirAlpha(_ scale: Int) throws {
        for (width, height) in [(112, 96), (101, 81), (259, 33), (3, 2)] {
            for isLossless in [true, false] {
                let image = try Image(size: PixelSize(width: width, height: height), alpha: .straight) { bytes in
                    for index in bytes.indices {
                        let (x, y) = (index / 4 % width, index / 4 / width)
                        let isSeen = (x / 7 + y / 5) % 3 != 0
                        bytes[index] = UInt8(
                            [isSeen ? 200 : 0, isSeen ? 90 : 255, 60, isSeen ? 40 + y % 200 : 0][index % 4])
                    }
                }
                let bytes = try WebPCoder().encode(image, as: .webp, EncodeOptions(quality: 95, isLossless: isLossless))
                let full = decodeWebP(bytes)
                let result = decodeWebP(bytes, scale: scale)
                #expect(full.error == nil && result.error == nil && result.format?.alpha == .straight)
                let expected = weightedMeans(of: full.pixels.bytes, width: width, height: height, scale: scale)
                #expect(result.rows == (height + scale - 1) / scale && result.pixels.count == expected.bytes.count)
                if isLossless {
                    #expect(result.pixels == expected)
                } else {
                    // The result lacks the deblocking filter and the interpolated chroma, but is no farther from the
                    // original than the full picture.
                    let source = weightedMeans(of: image.bytes.bytes, width: width, height: height, scale: scale)
                    let loss = (expected.meanDifference(to: source), result.pixels.meanDifference(to: source))
                    #expect(loss.1 < loss.0 + 1, "\(loss)")
                }
            }
        }
    }

    private func weightedMeans(of pixels: [UInt8], width: Int, height: Int, scale: Int) -> Pixels {
        var means: [UInt8] = []
        for top in stride(from: 0, to: height, by: scale) {
            for left in stride(from: 0, to: width, by: scale) {
                var (sums, count) = ([0, 0, 0, 0], 0)
                for y in top..<min(top + scale, height) {
                    for x in left..<min(left + scale, width) {
                        let pixel = Array(pixels[(y * width + x) * 4..<(y * width + x) * 4 + 4].map { Int($0) })
                        for channel in 0..<3 { sums[channel] += pixel[channel] * pixel[3] }
                        sums[3] += pixel[3]
                        count += 1
                    }
                }
                // Computed in floats, so that halves are rounded in the same way.
                let weight = sums[3] > 0 ? 1 / Float(sums[3]) : 0
                for channel in 0..<3 { means.append(UInt8(Float(sums[channel]) * weight + 0.5)) }
                means.append(UInt8(Float(sums[3]) / Float(count) + 0.5))
            }
        }
        return Pixels(means)
    }

    @Test func aFrameSmallerThanItsCanvasIsScaledWithTheCanvas() throws {
        let frame = LosslessMaker.colorful(7, 5)
        let bytes = WebPMaker.file([
            WebPMaker.extended(0b10, PixelSize(width: 12, height: 10)), WebPMaker.animation(loops: 0),
            WebPMaker.frame(x: 4, y: 2, frame.size, frame.chunk()),
        ])
        let (full, result) = (decodeWebP(bytes), decodeWebP(bytes, scale: 3))
        #expect(full.error == nil && result.error == nil && result.format?.size == PixelSize(width: 4, height: 4))
        #expect(result.pixels == weightedMeans(of: full.pixels.bytes, width: 12, height: 10, scale: 3))
    }

    @Test func animationsAreDecodedInFullSize() throws {
        let files = [
            (try encodeWebP(Drawings.picture(9, 9)), true),
            (try encodeWebP(Drawings.picture(9, 9, alpha: .straight)), true),
            (WebPMaker.animated(.colorful(7, 5)), false),
        ]
        for (bytes, isScaled) in files {
            let header = try #require(decodeWebP(bytes).header)
            #expect((WebPCoder().scaleDenominators(for: header).count > 1) == isScaled)
        }
    }
}
