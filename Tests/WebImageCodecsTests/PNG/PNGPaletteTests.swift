import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// PNGs that are written with a palette or interlaced.
@Suite struct PNGPaletteTests {
    /// A picture with this number of different colours. The first is fully transparent, the second translucent.
    private func picture(_ colors: Int, width: Int = 23, height: Int = 19) throws -> Image {
        try Image(size: PixelSize(width: width, height: height), alpha: .straight) { bytes in
            for index in 0..<width * height {
                let number = UInt32(index % colors)
                let alpha: UInt32 = number == 0 ? 0 : number == 1 ? 90 : 255
                let color = number == 0 ? 0 : (number &* 0x9E_3779) & 0xFF_FFFF | alpha << 24
                bytes.storeBytes(of: color.littleEndian, toByteOffset: index * 4, as: UInt32.self)
            }
        }
    }

    private func encode(
        _ image: Image, zlib: Bool = false, _ change: (inout EncodeOptions) -> Void
    ) throws -> [UInt8] {
        var options = EncodeOptions()
        change(&options)
        return try PNGCoder(usesZlib: zlib).encode(image, as: .png, options)
    }

    private func decode(_ bytes: [UInt8]) throws -> Image { try CoderRegistry.standard.decode(bytes).image }

    /// The header's bit depth, colour type and interlacing.
    private func kind(_ bytes: [UInt8]) -> [UInt8] { [bytes[24], bytes[25], bytes[28]] }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)], [false, true])
    func fewColoursAreKeptAsTheyAre(_ colors: (count: Int, bits: UInt8), _ zlib: Bool) throws {
        let image = try picture(colors.count)
        for progressive in [false, true] {
            let bytes = try encode(image, zlib: zlib) {
                $0.paletteColors = 256
                $0.isLossless = true
                $0.progressive = progressive
            }
            #expect(kind(bytes) == [colors.bits, 3, progressive ? 1 : 0])
            #expect(try decode(bytes).bytes == image.bytes)
        }
    }

    @Test(arguments: [(2, 1), (4, 2), (16, 4), (256, 8)])
    func aHeaderTellsOfThePalette(_ colors: (count: Int, bits: Int)) throws {
        let bytes = try encode(try picture(colors.count)) { $0.paletteColors = 256 }
        #expect(try decode(bytes).info.header?.paletteBits == colors.bits)
        #expect(try decode(try encode(try picture(4)) { _ in }).info.header?.paletteBits == nil)
    }

    /// In a lossless encode, the colours of fully transparent pixels are kept, too.
    @Test(arguments: [true, false]) func losslessPalettesKeepColoursOfTransparentPixels(_ isLossless: Bool) throws {
        let image = try Image(size: PixelSize(width: 5, height: 1), alpha: .straight) { bytes in
            bytes.copyBytes(from: [0, 0, 0, 0, 9, 8, 7, 0, 1, 2, 3, 255, 4, 5, 6, 255, 9, 8, 7, 0] as [UInt8])
        }
        let bytes = try encode(image) {
            $0.paletteColors = 256
            $0.isLossless = isLossless
        }
        let isSame = try decode(bytes).bytes == image.bytes
        #expect(bytes[25] == 3 && isSame == isLossless)
    }

    @Test func aLosslessPictureOfTooManyColoursGetsNoPalette() throws {
        let image = try picture(200)
        let bytes = try encode(image) {
            $0.paletteColors = 199
            $0.isLossless = true
        }
        #expect(kind(bytes) == [8, 6, 0])
        #expect(try decode(bytes).bytes == image.bytes)
    }

    private func distinct(_ image: Image) -> Set<[UInt8]> {
        let bytes = image.bytes.bytes
        return Set(stride(from: 0, to: bytes.count, by: 4).map { Array(bytes[$0..<$0 + 4]) })
    }

    @Test(arguments: [2, 7, 64, 256], [false, true])
    func aPhotographInAPaletteComesClose(_ count: Int, _ dithers: Bool) throws {
        let image = try SamplePictures.sunset(PixelSize(width: 160, height: 120))
        let bytes = try encode(image) {
            $0.paletteColors = count
            $0.dithers = dithers
        }
        let made = try decode(bytes)
        #expect(made.alpha == .opaque && distinct(made).count <= count)
        let most: [Int: Double] = [2: 45, 7: 20, 64: 8, 256: 5]
        #expect(made.bytes.meanDifference(to: image.bytes) < most[count] ?? 0)
        if count == 256 { #expect(try bytes.count * 2 < encode(image) { _ in }.count) }
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied], [false, true])
    func translucentPixelsKeepTheirAlphaInAPalette(_ alpha: AlphaMode, _ dithers: Bool) throws {
        let size = PixelSize(width: 120, height: 90)
        // Over a gradient, alpha goes from transparent on the left to opaque on the right.
        let image = try Image(size: size, alpha: alpha) { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let level = UInt32(min(max((x - 10) * 255 / 90, 0), 255))
                    let channels = [UInt32(y * 255 / 90), UInt32(255 - y * 255 / 90), UInt32(128)].map {
                        alpha == .premultiplied ? $0 * level / 255 : $0
                    }
                    let color = channels[0] | channels[1] << 8 | channels[2] << 16 | level << 24
                    bytes.storeBytes(of: color.littleEndian, toByteOffset: (y * size.width + x) * 4, as: UInt32.self)
                }
            }
        }
        let made = try decode(
            encode(image) {
                $0.paletteColors = 128
                $0.dithers = dithers
            })
        #expect(made.alpha == .straight && distinct(made).count <= 128)
        let (bytes, wanted) = (made.bytes.bytes, image.bytes.bytes)
        var (difference, count) = (0, 0)
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
            if wanted[pixel + 3] == 0 { #expect(bytes[pixel + 3] == 0) }
            difference += abs(Int(bytes[pixel + 3]) - Int(wanted[pixel + 3]))
            count += 1
        }
        #expect(Double(difference) / Double(count) < 8)
    }

    @Test func pixelsStayEitherTransparentOrOpaqueInAPalette() throws {
        let size = PixelSize(width: 100, height: 80)
        let sunset = try SamplePictures.sunset(size).bytes.bytes
        let image = try Image(size: size, alpha: .straight) { bytes in
            for pixel in 0..<size.width * size.height where pixel % 5 != 0 {
                for channel in 0..<3 { bytes[pixel * 4 + channel] = sunset[pixel * 4 + channel] }
                bytes[pixel * 4 + 3] = 255
            }
        }
        let made = try decode(encode(image) { $0.paletteColors = 32 })
        #expect(distinct(made).count <= 32)
        let bytes = made.bytes.bytes
        #expect((0..<size.width * size.height).allSatisfy { bytes[$0 * 4 + 3] == ($0 % 5 == 0 ? 0 : 255) })
    }

    private func gray(_ layout: PixelLayout, _ value: (Int, Int) -> Int) throws -> Image {
        let size = PixelSize(width: 64, height: 64)
        let one = layout == .rgba8 ? 1 : 2
        var header = ImageHeader(format: .png, size: size)
        header.colorModel = .gray
        return try Image(size: size, layout: layout, alpha: .opaque) { bytes in
            for pixel in 0..<size.width * size.height {
                let level = UInt8(value(pixel % size.width, pixel / size.width))
                for byte in 0..<3 * one { bytes[pixel * 4 * one + byte] = level }
                for byte in 3 * one..<4 * one { bytes[pixel * 4 * one + byte] = 255 }
            }
        }.with { $0.header = header }
    }

    /// With a palette, which it does not need, a gray picture once became half as long again.
    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func aGrayPictureOfAllLevelsGetsNoPaletteThatMakesItLonger(_ layout: PixelLayout) throws {
        let smooth = try gray(layout) { x, y in 2 * x + 2 * y }
        let bytes = try encode(smooth) { $0.paletteColors = 256 }
        #expect(kind(bytes) == [8, 0, 0])
        #expect(try decode(bytes).bytes == gray(.rgba8) { x, y in 2 * x + 2 * y }.bytes)
        #expect(try bytes.count <= encode(smooth) { _ in }.count)
        // A gray picture with few levels gets a palette, and so does one with more levels than the limit.
        #expect(try kind(encode(gray(layout) { x, y in (x + y) / 16 * 30 }) { $0.paletteColors = 256 }) == [4, 3, 0])
        #expect(try kind(encode(smooth) { $0.paletteColors = 64 }) == [8, 3, 0])
    }

    @Test func sixteenBitsBecomeEight() throws {
        let image = try Drawings.picture(40, 30, layout: .rgba16, alpha: .premultiplied)
        let bytes = try encode(image) { $0.paletteColors = 64 }
        #expect(kind(bytes)[1] == 3)
        #expect(try decode(bytes).size == image.size)
        let exact = try encode(image) {
            $0.paletteColors = 64
            $0.isLossless = true
        }
        #expect(kind(exact) == [16, 6, 0])
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
    func passesHoldTheSamePixels(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Drawings.picture(37, 21, layout: layout, alpha: alpha)
        let options = DecodeOptions(keepsBitDepth: true)
        let bytes = try encode(image) { $0.progressive = true }
        let whole = try CoderRegistry.standard.decode(bytes, options).image
        let plain = try CoderRegistry.standard.decode(encode(image) { _ in }, options).image
        #expect(kind(bytes)[2] == 1 && whole.layout == layout)
        #expect(whole.bytes == plain.bytes)
    }

    @Test func anAnimationIsWrittenWithoutPaletteAndInterlacing() throws {
        let image = try picture(5)
        var options = EncodeOptions(progressive: true)
        options.paletteColors = 16
        let bytes = try PNGCoder().encode(image, as: .apng, options)
        #expect(kind(bytes) == [8, 6, 0])
    }
}
