#if TIFF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// Samples of every kind that files from scanners, cameras and laboratories have.
    @Suite struct TIFFSampleTests {
        @Test(arguments: [1, 2, 4, 7, 10, 12, 14, 24, 32], [nil, 16])
        func samplesOfAnyDepthAreScaledToEight(depth: Int, tile: Int?) {
            for isPlanar in [false, true] {
                var maker = TIFFMaker.random(21, 18, depth: depth)
                (maker.tile, maker.isPlanar) = (tile, isPlanar)
                let most = (1 << depth) - 1
                expectShown(maker) { Double($0) / Double(most) }
            }
        }

        /// As in libvips, Pillow and ImageMagick.
        @Test(arguments: [nil, 0, 2]) func aFourthSampleOfColoursIsAlphaUnlessTheFileSaysOtherwise(kind: Int?) {
            let maker = TIFFMaker(
                width: 2, height: 1, depth: 8, photometric: 2, samples: 4, extraSample: kind,
                values: [10, 20, 30, 40, 50, 60, 70, 80])
            let result = CoderDecode(TIFFCoder(), maker.file())
            #expect(result.error == nil && result.header?.hasAlpha == (kind != 0))
            #expect(result.pixels.bytes.prefix(4) == [10, 20, 30, kind == 0 ? 255 : 40])
        }

        @Test(arguments: [8, 16, 32]) func signedSamplesBeginAtTheirLeast(depth: Int) {
            var maker = TIFFMaker.random(11, 7, depth: depth)
            maker.sampleFormat = 2
            let (sign, most) = (1 << (depth - 1), (1 << depth) - 1)
            expectShown(maker) { Double($0 ^ sign) / Double(most) }
        }

        @Test(arguments: [false, true]) func floatingPointSamplesGoFromZeroToOne(isBigEndian: Bool) {
            for isPlanar in [false, true] {
                var maker = TIFFMaker.random(13, 9)
                (maker.isBigEndian, maker.isPlanar, maker.sampleFormat) = (isBigEndian, isPlanar, 3)
                let values = maker.values.map { Double($0) / 200 - 0.1 }
                maker.depth = 32
                maker.values = values.map { Int(Float($0).bitPattern) }
                expectShown(maker) { Double(Float(bitPattern: UInt32($0))) }
                maker.depth = 64
                maker.values = values.map { Int(bitPattern: UInt(Double($0).bitPattern)) }
                expectShown(maker) { Double(bitPattern: UInt64(UInt(bitPattern: $0))) }
            }
        }

        /// Colours in L*a*b*, with L* from 0 to 255 and signed a* and b*, and in sRGB from 0 to 255, by the formulas of
        /// CIE, Bradford and IEC 61966-2-1.
        private static let labs: [(lab: [Int], rgb: [Double])] = [
            ([255, 0, 0], [255, 255, 255]), ([0, 0, 0], [0, 0, 0]), ([128, 0, 0], [119.4, 119.4, 119.4]),
            ([128, 60, -30], [194.7, 66.6, 172.3]), ([180, -40, 50], [115.3, 191, 73.3]),
            ([200, 10, -20], [199.1, 188.7, 231.4]),
        ]

        /// libtiff once turned white into (255, 252, 222).
        @Test(arguments: [8, 16], [nil, 1, 2]) func labIsConvertedByTheWhiteOfPrint(depth: Int, sampleFormat: Int?) {
            for (isPlanar, extra) in [(false, nil), (true, nil), (false, 2)] as [(Bool, Int?)] {
                var maker = TIFFMaker(
                    width: Self.labs.count, height: 1, depth: depth, photometric: 8, samples: extra == nil ? 3 : 4,
                    extraSample: extra, sampleFormat: sampleFormat, values: [])
                for (lab, _) in Self.labs {
                    let (lightness, scale, mask) = depth == 8 ? (lab[0], 1, 0xFF) : (lab[0] * 257, 256, 0xFFFF)
                    maker.values += [lightness, lab[1] * scale & mask, lab[2] * scale & mask]
                    if extra != nil { maker.values.append(1 << (depth - 1)) }
                }
                maker.isPlanar = isPlanar
                let result = decode(maker.file())
                #expect(result.error == nil && result.header?.colorModel == .rgb)
                let alpha: Double = extra == nil ? 255 : 128
                let expected: [Double] = Self.labs.flatMap { $0.rgb + [alpha] }
                let isClose = zip(result.pixels.bytes, expected).allSatisfy { abs(Double($0) - $1) <= 1 }
                #expect(isClose && result.pixels.count == expected.count, "\(result.pixels.bytes)")
                guard depth == 16 else { continue }
                let deep = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
                let words = deep.pixels.bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
                let isNear = zip(words, expected).allSatisfy { abs(Double($0) / 257 - $1) <= 0.5 }
                #expect(isNear && deep.format?.layout == .rgba16, "\(words)")
            }
        }

        @Test func labOf16BitsIsRoundedOnlyAfterItsConversion() {
            // L* from 0 to 65 535; signed a* and b* in 256ths.
            let labs = [
                (29_310, -12_970, 15_180), (41_203, -17_301, 17_099), (9001, 11_370, -14_250), (3333, 130, -4990),
            ]
            var maker = TIFFMaker(
                width: labs.count, height: 1, depth: 16, photometric: 8, samples: 3,
                values: labs.flatMap { [$0.0, $0.1 & 0xFFFF, $0.2 & 0xFFFF] })
            for tile in [nil, 16] {
                maker.tile = tile
                let shown = decode(maker.file())
                let deep = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
                let words = deep.pixels.bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
                #expect(shown.error == nil && shown.format?.layout == .rgba8)
                #expect(shown.pixels.bytes == words.map { UInt8((Double($0) / 257).rounded()) })
            }
        }

        /// libtiff uses the square root of light instead of sRGB's curve, which gives 119 instead of 128.
        @Test func logarithmsOfLightAreShownBySRGB() {
            // Light from 0 to 1, and its level in sRGB from 0 to 255 (IEC 61966-2-1).
            let lights = [(1.0, 255.0), (0.2159, 128), (0.0513, 64), (0.5271, 192)]
            // Samples of 16 bits: first all high bytes and then all low bytes, each as a literal run of four bytes.
            let logarithms = lights.map { Int((256 * (log2($0.0) + 64)).rounded()) }
            let bytes = [4] + logarithms.map { UInt8($0 >> 8) } + [4] + logarithms.map { UInt8($0 & 255) }
            var maker = TIFFMaker(
                width: lights.count, height: 1, depth: 16, photometric: 32_844, samples: 1, sampleFormat: 2, values: [])
            maker.coded = (34_676, bytes)
            let result = decode(maker.file())
            #expect(result.error == nil)
            for (index, (_, shown)) in lights.enumerated() {
                for channel in 0..<3 {
                    let value = Double(result.pixels.bytes[index * 4 + channel])
                    #expect(abs(value - shown) <= 1, "\(value), not \(shown)")
                }
            }
        }

        @Test func labOfAnotherKindIsRefused() {
            var maker = TIFFMaker(width: 1, height: 1, depth: 32, photometric: 8, samples: 3, values: [0, 0, 0])
            #expect(decode(maker.file()).error?.code == .unsupportedFeature)
            (maker.depth, maker.samples, maker.extraSample, maker.values) = (8, 4, 1, [0, 0, 0, 0])
            #expect(decode(maker.file()).error?.code == .unsupportedFeature)
        }

        @Test func halfFloatsInfinitiesAndNaNsAreShown() {
            // 0, the smallest positive number, 1/3, 1/2, 1, -1, 2, infinity, and not a number.
            let halves = [0, 1, 0x3555, 0x3800, 0x3C00, 0xBC00, 0x4000, 0x7C00, 0x7E00]
            let shown = [0, 0, 85, 128, 255, 0, 255, 255, 255]
            var maker = TIFFMaker(width: 9, height: 1, depth: 16, photometric: 1, samples: 1, values: halves)
            maker.sampleFormat = 3
            let pixels = decode(maker.file()).pixels.bytes
            for (index, value) in shown.enumerated() { #expect(abs(Int(pixels[index * 4]) - value) <= 1, "\(index)") }
            maker.depth = 32
            maker.values = [0, 1, 2, 3, 4, 5, 6, 7].map { _ in Int(Float.nan.bitPattern) } + [0x7F80_0000]
            let others = decode(maker.file()).pixels.bytes
            #expect(others[0] == 0 && others[32] == 255)
        }

        @Test func planesKeepTheirAlphaAndSixteenBits() {
            var maker = TIFFMaker.random(10, 6, samples: 4, depth: 16)
            (maker.isPlanar, maker.extraSample) = (true, 2)
            let result = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
            #expect(result.format?.layout == .rgba16 && result.header?.hasAlpha == true)
            let bytes = maker.values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
            #expect(result.pixels == Pixels(bytes))
        }

        @Test(arguments: [false, true]) func inksOfAnyDepthAndOrderBecomeColours(isPlanar: Bool) {
            for depth in [8, 16] {
                let scale = depth == 8 ? 1 : 257
                var maker = TIFFMaker(
                    width: 2, height: 1, depth: depth, photometric: 5, samples: 4,
                    values: [0, 0, 0, 0, 255, 0, 0, 51].map { $0 * scale })
                maker.isPlanar = isPlanar
                let result = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
                #expect(result.pixels == Pixels([255, 255, 255, 255, 0, 204, 204, 255]))
            }
        }

        @Test(arguments: [1, 2]) func inksMayHaveAlpha(kind: Int) {
            // The second ink in full, with an alpha of a half.
            let ink = kind == 1 ? 128 : 255
            for depth in [8, 16] {
                let scale = depth == 8 ? 1 : 257
                let maker = TIFFMaker(
                    width: 2, height: 1, depth: depth, photometric: 5, samples: 5, extraSample: kind,
                    values: [0, ink, 0, 0, 128, 0, 0, 0, 0, 0].map { $0 * scale })
                let result = decode(maker.file())
                #expect(result.header?.hasAlpha == true && result.format?.alpha == .straight)
                #expect(result.pixels == Pixels([255, 0, 255, 128, 255, 255, 255, 0]))
            }
        }

        @Test(arguments: [3, 5, 6, 7]) func graysOfOddDepthsAreSpreadOut(depth: Int) {
            let most = 1 << depth - 1
            let values = Array(0...most)
            let maker = TIFFMaker(
                width: values.count, height: 1, depth: depth, photometric: 1, samples: 1, values: values)
            let result = decode(maker.file())
            #expect(result.error == nil)
            for value in values {
                let shown = (Double(value) / Double(most) * 255).rounded()
                #expect(abs(Double(result.pixels.bytes[value * 4]) - shown) <= 1)
            }
        }

        @Test func samplesOfOtherPhotometryAndKindAreRefused() {
            var maker = TIFFMaker.random(4, 3, photometric: 8)
            maker.sampleFormat = 3
            #expect(decode(maker.file()).error?.code == .unsupportedFeature)
            maker = .random(4, 3, depth: 8)
            maker.sampleFormat = 6
            #expect(decode(maker.file()).error?.code == .unsupportedFeature)
        }

        /// - Parameter share: Returns the shown level of a stored value, from 0 to 1.
        private func expectShown(_ maker: TIFFMaker, as share: (Int) -> Double) {
            let result = decode(maker.file())
            #expect(result.error == nil && result.header?.bitDepth == maker.depth)
            let pixels = result.pixels.bytes
            #expect(pixels.count == maker.width * maker.height * 4)
            var farthest = 0
            for index in 0..<min(pixels.count / 4, maker.width * maker.height) {
                for channel in 0..<3 {
                    let wanted = Int(min(max(share(maker.values[index * 3 + channel]), 0), 1) * 255)
                    farthest = max(farthest, abs(wanted - Int(pixels[index * 4 + channel])))
                }
            }
            #expect(farthest <= 1, "\(maker.depth) bits, planes: \(maker.isPlanar)")
        }
    }
#endif
