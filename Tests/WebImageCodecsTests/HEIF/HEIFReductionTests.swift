#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// HEICs that are decoded at a half, a quarter and an eighth of their size.
    @Suite struct HEIFReductionTests {
        /// The picture of ``HEIFDeepTests``: 64x64 pixels, of which the box says that only a part is shown.
        private static func single(_ width: Int, _ height: Int) -> [UInt8] {
            HEIFMaker.file(
                items: [.init(id: 1, properties: [1, 2], data: HEIFDeepTests.data)],
                properties: [HEIFDeepTests.properties[0], HEIFMaker.size(width, height)])
        }

        /// The same picture four times, as tiles. Item 3 is an alpha for it.
        private static func grid(
            _ width: Int, _ height: Int, hasAlpha: Bool = false, properties more: [[UInt8]] = []
        ) -> [UInt8] {
            let alpha = HEIFMaker.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:1".utf8) + [0])
            return HEIFMaker.file(
                items: [
                    .init(
                        id: 1, type: "grid", properties: Array(3..<3 + more.count),
                        data: HEIFMaker.grid(rows: 2, columns: 2, width, height)),
                    .init(id: 2, properties: [1], data: HEIFDeepTests.data),
                    .init(id: 3, properties: [1, 2], data: HEIFDeepTests.data),
                ],
                properties: [HEIFDeepTests.properties[0], alpha] + more,
                references: [("dimg", 1, [2, 2, 2, 2])] + (hasAlpha ? [("auxl", 3, [1])] : []))
        }

        /// The means of blocks of a picture with four bytes a pixel; those at the edges have fewer pixels.
        private static func means(_ pixels: [UInt8], _ size: PixelSize, _ scale: Int) -> Pixels {
            var means: [UInt8] = []
            for y in stride(from: 0, to: size.height, by: scale) {
                for x in stride(from: 0, to: size.width, by: scale) {
                    for channel in 0..<4 {
                        var (sum, count) = (0, 0)
                        for row in y..<min(y + scale, size.height) {
                            for column in x..<min(x + scale, size.width) {
                                let index: Int = (row * size.width + column) * 4 + channel
                                sum += Int(pixels[index])
                                count += 1
                            }
                        }
                        means.append(UInt8((sum + count / 2) / count))
                    }
                }
            }
            return Pixels(means)
        }

        /// Half of a picture with four bytes a pixel: the filter of the decoder.
        private static func half(_ pixels: [UInt8], _ size: PixelSize) -> Pixels {
            let weights = [-2, 3, 15, 15, 3, -2]
            var half: [UInt8] = []
            for y in stride(from: 0, to: size.height, by: 2) {
                for x in stride(from: 0, to: size.width, by: 2) {
                    for channel in 0..<4 {
                        var sum = 512
                        for place in 0..<36 {
                            let row = min(max(y + place / 6 - 2, 0), size.height - 1)
                            let column = min(max(x + place % 6 - 2, 0), size.width - 1)
                            let index: Int = (row * size.width + column) * 4 + channel
                            sum += weights[place / 6] * weights[place % 6] * Int(pixels[index])
                        }
                        half.append(UInt8(min(max(sum >> 10, 0), 255)))
                    }
                }
            }
            return Pixels(half)
        }

        private static func divided(_ size: PixelSize, _ scale: Int) -> PixelSize {
            PixelSize(width: (size.width + scale - 1) / scale, height: (size.height + scale - 1) / scale)
        }

        /// Checks that every reduced picture is as if the full one had been reduced.
        ///
        private static func expectReduced(
            _ file: [UInt8], _ size: PixelSize, tolerance: Double
        ) throws {
            let full = CoderDecode(HEIFCoder(), file)
            #expect(full.error == nil && full.header?.size == size)
            try #require(full.pixels.count == size.width * size.height * 4)
            for scale in [2, 4, 8] {
                let part = CoderDecode(HEIFCoder(), file, scale: scale)
                let expected = divided(size, scale)
                #expect(part.error == nil && part.format?.size == expected && part.rows == expected.height)
                #expect(part.header?.size == size && part.format?.alpha == .opaque)
                let means = scale == 2 ? full.pixels : means(full.pixels.bytes, size, scale / 2)
                let reduced = half(means.bytes, divided(size, scale / 2))
                let difference = part.pixels.meanDifference(to: reduced)
                #expect(difference < tolerance, "1/\(scale): \(difference)")
                let pieces = CoderDecode(HEIFCoder(), file, scale: scale, length: randomLengths(seed: 9, most: 40))
                #expect(pieces.error == nil && pieces.pixels == part.pixels)
            }
        }

        @Test(arguments: [(32, 16), (29, 13), (17, 9)]) func onePictureIsDivided(width: Int, height: Int) throws {
            try Self.expectReduced(Self.single(width, height), PixelSize(width: width, height: height), tolerance: 1)
        }

        @Test(arguments: [(128, 128), (125, 93), (127, 120)]) func tilesAreDivided(width: Int, height: Int) throws {
            try Self.expectReduced(Self.grid(width, height), PixelSize(width: width, height: height), tolerance: 1)
        }

        @Test func deepPicturesKeepTheirDepth() throws {
            let options = DecodeOptions(keepsBitDepth: true)
            let part = CoderDecode(HEIFCoder(), Self.single(32, 16), options: options, scale: 2)
            #expect(part.error == nil && part.format?.layout == .rgba16)
            try #require(part.pixels.count == 16 * 8 * 8)
            for (x, y, gray) in [(3, 1, 1000), (12, 1, 100), (3, 6, 300), (12, 6, 700)] {
                let at = (y * 16 + x) * 8
                let value = Int(part.pixels.bytes[at]) | Int(part.pixels.bytes[at + 1]) << 8
                #expect(abs(value - gray * 64) < 256, "\(x),\(y): \(value), not \(gray * 64)")
            }
        }

        @Test func whatCannotBeDividedIsDecodedInFull() throws {
            func denominators(_ file: [UInt8]) throws -> [Int] {
                let header = try #require(CoderDecode(HEIFCoder(), file, wantsRows: false).header)
                return HEIFCoder().scaleDenominators(for: header)
            }
            #expect(try denominators(Self.grid(128, 100)) == [1, 2, 4, 8])
            #expect(try denominators(Self.single(29, 13)) == [1, 2, 4, 8])
            #expect(try denominators(Self.grid(128, 100, hasAlpha: true)) == [1])
            let crop = HEIFMaker.crop(width: 20, height: 10, twiceX: 0, twiceY: 0)
            #expect(try denominators(Self.grid(128, 100, properties: [crop])) == [1])
            let turned = HEIFMaker.box("irot", [1])
            #expect(try denominators(Self.grid(128, 100, properties: [turned])) == [1, 2, 4, 8])
            let whole = CoderDecode(HEIFCoder(), Self.grid(128, 100, hasAlpha: true))
            let part = CoderDecode(HEIFCoder(), Self.grid(128, 100, hasAlpha: true), scale: 4)
            #expect(part.error == nil && part.pixels == whole.pixels)
        }

        /// The colour has half the resolution already, so that it is only copied for a half.
        @Test(
            .enabled(if: HEIFCoder().encodableFormats.contains(.heic)), arguments: [(203, 155), (640, 97), (64, 64)])
        func picturesInColorAreLikeTheFullPictureReduced(width: Int, height: Int) throws {
            let file = try HEIFCoder().encode(Drawings.picture(width, height), as: .heic, EncodeOptions(quality: 90))
            try Self.expectReduced(file, PixelSize(width: width, height: height), tolerance: 2)
        }

        /// At half of the reduced size, it has lost nothing that can be seen.
        @Test(.enabled(if: Corpus.isAvailable), arguments: [2, 4, 8])
        func aPhotographIsNearlyTheSameWhenItIsReducedFurther(scale: Int) throws {
            let bytes = try #require(Corpus.read("photos/arrow-12mp.heic"))
            let full = CoderDecode(HEIFCoder(), bytes, keepsWhole: true)
            let size = try #require(full.header?.size)
            let part = CoderDecode(HEIFCoder(), bytes, scale: scale, keepsWhole: true)
            let partSize = try #require(part.format?.size)
            let (wanted, found) = (
                Self.means(full.pixels.bytes, size, 2 * scale), Self.means(part.pixels.bytes, partSize, 2)
            )
            #expect(wanted.meanDifference(to: found) < 1)
        }
    }
#endif
