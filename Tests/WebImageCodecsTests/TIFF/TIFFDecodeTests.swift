#if TIFF
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite struct TIFFDecodeTests {
        /// The expected pixels as 8-bit RGBA: the first three samples of each pixel, or the first one three times if
        /// the picture is grey.
        private static func expected(_ maker: TIFFMaker, isGrey: Bool = false, flip: Int = 0) -> Pixels {
            let most = 1 << maker.depth - 1
            return Pixels(
                (0..<maker.width * maker.height).flatMap { pixel -> [UInt8] in
                    let own = maker.values[pixel * maker.samples..<(pixel + 1) * maker.samples].map {
                        // Rounds to the nearest of 256 levels.
                        ($0 * 255 + most / 2) / most ^ flip
                    }
                    let alpha = maker.extraSample == nil ? 255 : own[isGrey ? 1 : 3] ^ flip
                    return ((isGrey ? [own[0], own[0], own[0]] : Array(own.prefix(3))) + [alpha]).map { UInt8($0) }
                })
        }

        @Test(arguments: [8, 16], [false, true])
        func colourComesAsStored(depth: Int, isBigEndian: Bool) {
            var maker = TIFFMaker.random(21, 37, depth: depth)
            maker.isBigEndian = isBigEndian
            for isBig in [false, true] {
                maker.isBig = isBig
                let result = decode(maker.file(), keepsWhole: false, length: { 100 })
                #expect(result.error == nil && result.commits == 3)
                #expect(result.pixels == Self.expected(maker))
                #expect(result.header?.format == (isBig ? .bigTIFF : .tiff))
                #expect(result.header?.bitDepth == depth && result.header?.frameCount == 1)
            }
        }

        @Test func messagesOfLibtiffBeginWithWords() {
            // The offset of the first page is behind the end.
            for file in [[0x49, 0x49, 42, 0, 200, 0, 0, 0], Array(TIFFMaker.random(4, 4).file().dropLast(30))] {
                let message = decode(file).error?.message ?? ""
                #expect(message.hasPrefix("libtiff: ") && message.dropFirst(9).first?.isLetter == true, "\(message)")
            }
        }

        /// libdeflate accepts a strip that holds more than its rows. The memory that it has not written must not become
        /// pixels.
        @Test func aStripThatHoldsMoreThanItsRowsGivesTheSameEachTime() throws {
            let image = try Image(size: PixelSize(width: 60, height: 40), alpha: .opaque) { bytes in
                for index in bytes.indices {
                    bytes[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: index / 7)
                }
            }
            var file = try TIFFCoder().encode(image, as: .tiff, EncodeOptions())
            // ImageLength, tag 257, is set to 33, although there are 40 rows.
            let directory = file[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            let entries = Int(file[directory]) | Int(file[directory + 1]) << 8
            let place = try #require(
                (0..<entries).map { directory + 2 + 12 * $0 }.first { file[$0...].starts(with: [1, 1]) })
            file[place + 8] = 33
            let all = image.withPixels { Array($0.prefix(60 * 4 * 32)) }
            for _ in 0..<3 {
                let result = decode(file)
                #expect(result.error == nil && result.format?.size == PixelSize(width: 60, height: 33))
                #expect(result.pixels.prefix(all.count) == Pixels(all))
            }
            #expect(decode(file).pixels == decode(file).pixels)
        }

        @Test func sixteenBitsAreKeptIfWished() {
            let maker = TIFFMaker.random(9, 5, depth: 16)
            let result = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
            #expect(result.format?.layout == .rgba16)
            let wanted = (0..<45).flatMap { Array(maker.values[$0 * 3..<$0 * 3 + 3]) + [65_535] }
            let values = wanted.flatMap { value in withUnsafeBytes(of: UInt16(value)) { Array($0) } }
            #expect(result.pixels == Pixels(values))
        }

        @Test func greyComesInAllThreeColours() {
            let black = TIFFMaker.random(10, 6, photometric: 1, samples: 1)
            #expect(decode(black.file()).pixels == Self.expected(black, isGrey: true))
            let white = TIFFMaker.random(10, 6, photometric: 0, samples: 1, depth: 16)
            #expect(decode(white.file()).pixels == Self.expected(white, isGrey: true, flip: 255))
            var both = TIFFMaker.random(10, 6, photometric: 1, samples: 2)
            both.extraSample = 2
            #expect(decode(both.file()).pixels == Self.expected(both, isGrey: true))
        }

        @Test(arguments: [1, 3], [8, 16])
        func samplesWithoutAMeaningAreGreyOrRedGreenAndBlue(samples: Int, depth: Int) {
            var maker = TIFFMaker.random(9, 5, photometric: samples == 1 ? 1 : 2, samples: samples, depth: depth)
            let expected = decode(maker.file())
            maker.photometric = nil
            let result = decode(maker.file())
            #expect(result.error == nil && expected.error == nil && result.pixels == expected.pixels)
        }

        @Test func straightAlphaIsKeptAndMultipliedAlphaDivided() {
            var straight = TIFFMaker.random(7, 7, samples: 4)
            straight.extraSample = 2
            let result = decode(straight.file())
            #expect(result.format?.alpha == .straight && result.pixels == Self.expected(straight))
            let flat = TIFFMaker(
                width: 1, height: 1, photometric: 2, samples: 4, extraSample: 1, values: [50, 25, 200, 100])
            #expect(decode(flat.file()).pixels == Pixels([128, 64, 255, 100]))
        }

        @Test func pixelsOfManySamplesAreRefused() {
            var maker = TIFFMaker.random(4, 4, samples: 16)
            #expect(decode(maker.file()).error == nil)
            maker = TIFFMaker.random(4, 4, samples: 17)
            #expect(decode(maker.file()).error?.code == .unsupportedFeature)
        }

        /// The memory for a tile is allocated before its data is read.
        @Test func aTileThatTakesMoreMemoryThanThePictureIsRefused() {
            var maker = TIFFMaker.random(16, 16, samples: 12)
            maker.tile = 16
            var file = maker.file()
            for tag in [322, 323] {
                guard let place = file.indices.last(where: { file[$0...].starts(with: [UInt8(tag & 255), 1, 4, 0]) })
                else { continue }
                // Sets the side of the tile to 4096, in little endian.
                file[place + 9] = 16
                file[place + 8] = 0
            }
            #expect(decode(file).error?.code == .limitExceeded)
        }

        @Test func aDecodeCanBeLeftBetweenTwoTiles() throws {
            var maker = TIFFMaker.random(128, 16)
            maker.tile = 16
            let counter = Counter()
            let options = DecodeOptions(checkpoint: { _ = counter.next() })
            let result = decode(maker.file(), options: options)
            #expect(result.error == nil && result.pixels == Self.expected(maker))
            #expect(counter.next() > 8)
        }

        @Test(arguments: [8, 16]) func tilesComeAsStored(depth: Int) {
            var maker = TIFFMaker.random(41, 35, depth: depth)
            maker.tile = 16
            let result = decode(maker.file(), keepsWhole: false)
            #expect(result.error == nil && result.commits == 3)
            #expect(result.pixels == Self.expected(maker))
        }

        @Test(arguments: [(3, nil), (4, nil), (4, 0), (4, 2)], [nil, 16])
        func differencesAreSummed(samples: (count: Int, extra: Int?), tile: Int?) {
            for width in Array(1...9) + [41] {
                var maker = TIFFMaker.random(width, 35, samples: samples.count)
                (maker.tile, maker.extraSample, maker.hasDifferences) = (tile, samples.extra, true)
                var plain = maker
                plain.hasDifferences = false
                let result = decode(maker.file())
                #expect(result.error == nil && result.pixels == decode(plain.file()).pixels, "\(width)")
            }
        }

        /// After the cut is noticed, the strip is decoded again, row by row.
        @Test(arguments: [3, 4]) func differencesOfAStripThatIsCutAreSummedAsFarAsTheyCome(_ samples: Int) {
            var maker = TIFFMaker.random(32, 40, samples: samples)
            (maker.hasDifferences, maker.isDataLast) = (true, true)
            let file = maker.file()
            let result = decode(Array(file.dropLast(file.count / 2)), keepsWhole: false)
            let rows = result.pixels.count / (32 * 4)
            #expect(result.error?.code == .truncatedData && rows >= 15 && rows <= 20)
            maker.hasDifferences = false
            #expect(result.pixels == decode(maker.file()).pixels.prefix(rows * 32 * 4))
        }

        /// The last strip or tile then ends after the end of the file. The number of pixels tells where it really ends.
        @Test(arguments: [nil, 16], [1, 100, 1 << 30]) func stripsAndTilesDeclaredTooLongAreRead(
            _ tile: Int?, _ excess: Int
        ) {
            var maker = TIFFMaker.random(41, 35)
            (maker.tile, maker.isPacked, maker.isDataLast, maker.excess) = (tile, true, true, excess)
            let result = decode(maker.file())
            #expect(result.error == nil && result.pixels == Self.expected(maker))
        }

        @Test(arguments: [false, true]) func theRowsOfAStripThatIsCutAreGiven(isPacked: Bool) {
            var maker = TIFFMaker.random(32, 40)
            (maker.isPacked, maker.isDataLast) = (isPacked, true)
            let file = maker.file()
            let result = decode(Array(file.dropLast(file.count / 2)), keepsWhole: false)
            let rows = result.pixels.count / (32 * 4)
            #expect(result.error?.code == .truncatedData && rows >= 15 && rows <= 20)
            #expect(result.pixels == Self.expected(maker).prefix(rows * 32 * 4))
            maker.tile = 16
            let tiles = maker.file()
            let cut = decode(Array(tiles.dropLast(tiles.count / 2)), keepsWhole: false)
            #expect(cut.error?.code == .truncatedData && cut.pixels.count == 16 * 32 * 4)
        }

        /// libtiff's own conversion to RGBA does not support such indices.
        @Test(arguments: [3, 5, 6, 7, 12, 16], [(1, nil), (257, nil), (1, 16), (257, 16)])
        func indicesOfOtherDepthsAreColours(depth: Int, kind: (scale: Int, tile: Int?)) {
            let (scale, tile) = kind
            var maker = TIFFMaker.random(20, 9, photometric: 3, samples: 1, depth: depth)
            maker.tile = tile
            let color = { (index: Int) in [index & 255, index >> max(depth - 8, 0), index * 7 & 255] }
            maker.palette = (0..<1 << depth).flatMap { color($0).map { $0 * scale } }
            let result = decode(maker.file())
            #expect(result.error == nil && result.header?.colorModel == .rgb)
            #expect(result.pixels == Pixels(maker.values.flatMap { color($0).map { UInt8($0) } + [255] }))
            guard depth > 8 else { return }
            let deep = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
            let wide = maker.values.flatMap { color($0).map { $0 * 257 } + [65_535] }
            #expect(deep.pixels == Pixels(wide.flatMap { value in withUnsafeBytes(of: UInt16(value)) { Array($0) } }))
        }

        /// libtiff refuses such tiles as stored if its own buffer, whose length is a multiple of 1024 bytes, is longer.
        @Test(arguments: [1, 2, 4, 8], [16, 48, 112]) func uncompressedTilesOfIndicesAreRead(depth: Int, tile: Int) {
            var maker = TIFFMaker.random(130, 70, photometric: 3, samples: 1, depth: depth)
            maker.tile = tile
            let most = 1 << depth - 1
            let color = { (index: Int) in [index * 255 / most, 255 - index, index * 7 & 255] }
            maker.palette = (0...most).flatMap { color($0).map { $0 * 257 } }
            let result = decode(maker.file())
            #expect(result.error == nil)
            #expect(result.pixels == Pixels(maker.values.flatMap { color($0).map { UInt8($0) } + [255] }))
        }

        /// libtiff ignores a palette or a profile beyond the end, and the picture had other colours.
        @Test(arguments: [false, true]) func aFileThatEndsBeforeItsColoursIsTruncated(hasPalette: Bool) {
            var maker = TIFFMaker.random(20, 9, photometric: hasPalette ? 3 : 2, samples: hasPalette ? 1 : 3)
            if hasPalette {
                maker.palette = (0..<256).flatMap { [$0 * 257, 0, 65_535 - $0 * 257] }
            } else {
                maker.profile = [UInt8](repeating: 7, count: 300)
            }
            let file = maker.file()
            #expect(decode(file).error == nil)
            for missing in [1, 100] {
                let cut = decode(Array(file.dropLast(missing)))
                #expect(cut.error?.code == .truncatedData)
                // Pixels without their profile are part of a picture, indices without their palette are not.
                #expect(cut.pixels.count == (hasPalette ? 0 : 20 * 9 * 4))
            }
        }

        /// libtiff shows the tiles at the right edge of such a picture scrambled.
        @Test(arguments: [([4, 4], 20, true), ([4, 4], 32, false), ([2, 2], 20, false)])
        func tilesWithChromaOfAQuarterAreRefusedIfTheEdgeCutsThem(
            subsampling: [Int], width: Int, isRefused: Bool
        ) {
            var maker = TIFFMaker.random(width, 16, photometric: 6, samples: 3)
            (maker.tile, maker.subsampling) = (16, subsampling)
            let result = decode(maker.file())
            #expect((result.error?.code == .unsupportedFeature) == isRefused, "\(result.error?.message ?? "")")
        }

        /// Only pictures of indices need a palette.
        @Test func aCutPaletteOfAPictureInRGBIsIgnored() {
            var maker = TIFFMaker.random(20, 9, photometric: 2, samples: 3)
            maker.palette = (0..<768).map { $0 }
            #expect(decode(Array(maker.file().dropLast(100))).pixels == Self.expected(maker))
        }

        /// ImageMagick writes such files. libtiff's own conversion to RGBA drops the alpha or refuses the file.
        @Test(arguments: [1, 2, 4, 8], [nil, 16]) func indicesMayHaveAlphaBesideThem(depth: Int, tile: Int?) {
            for isPlanar in [false, true] {
                var maker = TIFFMaker.random(20, 9, photometric: 3, samples: 2, depth: depth)
                (maker.tile, maker.isPlanar, maker.extraSample) = (tile, isPlanar, 2)
                let most = 1 << depth - 1
                let color = { (index: Int) in [index * 255 / most, 255 - index, index * 7 & 255] }
                maker.palette = (0...most).flatMap { color($0).map { $0 * 257 } }
                let result = decode(maker.file())
                #expect(result.error == nil && result.header?.hasAlpha == true)
                let values = stride(from: 0, to: maker.values.count, by: 2).flatMap {
                    color(maker.values[$0]).map { UInt8($0) } + [UInt8(maker.values[$0 + 1] * 255 / most)]
                }
                #expect(result.pixels == Pixels(values))
            }
        }

        @Test(arguments: [.max, .max / 8 + 1, .max / 2, 1 << 62]) func limitsMayBeAsHighAsNumbersGo(_ pixels: Int) {
            let options = DecodeOptions(limits: DecodeLimits(pixels: pixels))
            var maker = TIFFMaker.random(10, 6)
            #expect(decode(maker.file(), options: options).pixels == Self.expected(maker))
            // The picture has 2^61 pixels, for which no memory can hold eight bytes each.
            (maker.isDataLast, maker.isBig) = (true, true)
            var file = maker.file()
            for (tag, exponent) in [(0, 31), (1, 30)] {
                guard let place = file.indices.first(where: { file[$0...].starts(with: [UInt8(tag), 1, 4, 0]) })
                else { continue }
                for byte in 0..<4 { file[place + 12 + byte] = UInt8(truncatingIfNeeded: (1 << exponent) >> (8 * byte)) }
            }
            let code = decode(file, options: options).error?.code
            #expect(code == .limitExceeded || code == .truncatedData || code == .corruptData)
        }

        @Test func inksBecomeColours() {
            let maker = TIFFMaker(
                width: 2, height: 1, photometric: 5, samples: 4, values: [0, 0, 0, 0, 255, 0, 0, 51])
            #expect(decode(maker.file()).pixels == Pixels([255, 255, 255, 255, 0, 204, 204, 255]))
        }

        @Test func orientationAndProfileAreTold() {
            var maker = TIFFMaker.random(4, 3)
            maker.orientation = 6
            maker.profile = [UInt8](repeating: 7, count: 150)
            let result = decode(maker.file())
            #expect(result.header?.orientation == .right && result.header?.size == PixelSize(width: 4, height: 3))
            #expect(result.header?.iccProfile == maker.profile && result.pixels == Self.expected(maker))
            let short = DecodeOptions(limits: DecodeLimits(metadata: ByteCount(149)))
            #expect(decode(maker.file(), options: short).header?.iccProfile == nil)
        }

        @Test func aCircleOfPagesEnds() {
            var maker = TIFFMaker.random(4, 3)
            let directory = 8 + 4 * 3 * 3
            maker.next = directory
            let result = decode(maker.file())
            #expect(result.error == nil && result.header?.frameCount == 1)
        }

        @Test func theLimitsAreLookedAtBeforeThePicturesMemoryIsAsked() {
            var maker = TIFFMaker.random(10, 10)
            let bytes = maker.file()
            let few = decode(bytes, options: DecodeOptions(limits: DecodeLimits(pixels: 99)))
            #expect(few.error?.code == .limitExceeded && few.format == nil)
            let short = DecodeLimits(bytes: ByteCount(bytes.count - 1))
            #expect(decode(bytes, options: DecodeOptions(limits: short)).error?.code == .limitExceeded)
            maker.tile = 16
            let small = decode(maker.file(), options: DecodeOptions(limits: DecodeLimits(pixels: 255)))
            #expect(small.error?.code == .unsupportedFeature && small.format == nil)
        }

        @Test func theHeaderIsEnoughWithoutASink() throws {
            let header = try CoderRegistry.standard.readHeader(of: TIFFMaker.random(30, 20).file())
            #expect(header.size == PixelSize(width: 30, height: 20) && !header.hasAlpha)
        }

        @Test func everyCutGivesATypedAnswer() {
            var tiled = TIFFMaker.random(20, 18)
            tiled.tile = 16
            for bytes in [TIFFMaker.random(6, 5).file(), tiled.file()] {
                let whole = decode(bytes)
                for length in 0..<bytes.count {
                    let cut = decode(Array(bytes.prefix(length)), keepsWhole: false)
                    if let error = cut.error {
                        let isTyped = [.truncatedData, .unknownFormat, .corruptData].contains(error.code)
                        #expect(isTyped, "at \(length): \(error)")
                    } else {
                        #expect(cut.pixels == whole.pixels)
                    }
                }
            }
        }
    }
#endif
