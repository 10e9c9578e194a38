#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// Pictures that are drawn over each other. The layers are the 32x16 pixels of ``HEIFDeepTests``.
    @Suite struct HEIFOverlayTests {
        /// Item 1 is the overlay, 2 the plain picture, 3 the picture with its own luma as alpha (4), 5 the picture turned.
        private static func file(
            _ overlay: [UInt8], of layers: [Int], properties more: [[UInt8]] = [], dataFirst: Bool = false
        ) -> [UInt8] {
            let alpha = HEIFMaker.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:1".utf8) + [0])
            let turn = HEIFMaker.box("irot", [1])
            let data = HEIFDeepTests.data
            return HEIFMaker.file(
                items: [
                    .init(id: 1, type: "iovl", properties: Array(5..<5 + more.count), data: overlay),
                    .init(id: 2, properties: [1, 2], data: data), .init(id: 3, properties: [1, 2], data: data),
                    .init(id: 4, properties: [1, 2, 3], data: data), .init(id: 5, properties: [1, 2, 4], data: data),
                ],
                properties: HEIFDeepTests.properties + [alpha, turn] + more,
                references: [("dimg", 1, layers), ("auxl", 4, [3])], dataFirst: dataFirst)
        }

        /// The plain picture with 8 bits.
        private static let plain = CoderDecode(HEIFCoder(), HEIFDeepTests.picture).pixels.bytes

        /// Checks that a pixel of the plain picture is there, or the colour.
        private static func isPlain(_ pixels: [UInt8], _ width: Int, _ x: Int, _ y: Int, atX left: Int, _ top: Int)
            -> Bool
        {
            let (here, there) = ((y * width + x) * 4, ((y - top) * 32 + x - left) * 4)
            return Array(pixels[here..<here + 4]) == Array(plain[there..<there + 4])
        }

        @Test(arguments: [false, true]) func picturesLieWhereTheOverlaySays(isLong: Bool) throws {
            let overlay = HEIFMaker.overlay(
                fill: [0xFFFF, 0x8000, 0, 0x4000], 50, 40, isLong: isLong,
                places: [(3, 2), (20, 10), (-30, -15), (49, 39)])
            let file = Self.file(overlay, of: [2, 2, 2, 2], dataFirst: isLong)
            let result = CoderDecode(HEIFCoder(), file)
            #expect(result.error == nil && result.header?.size == PixelSize(width: 50, height: 40))
            #expect(result.header?.hasAlpha == true && result.format?.alpha == .straight)
            #expect(result.header?.bitDepth == 8 && result.header?.frameCount == 3)
            let pixels = result.pixels.bytes
            try #require(pixels.count == 50 * 40 * 4 && Self.plain.count == 32 * 16 * 4)
            var wrong = 0
            for y in 0..<40 {
                for x in 0..<50 {
                    let isRight =
                        if x == 49, y == 39 { Self.isPlain(pixels, 50, x, y, atX: 49, 39) } else if x < 2, y < 1 {
                            Self.isPlain(pixels, 50, x, y, atX: -30, -15)
                        } else if (20..<52).contains(x), (10..<26).contains(y) {
                            Self.isPlain(pixels, 50, x, y, atX: 20, 10)
                        } else if (3..<35).contains(x), (2..<18).contains(y) {
                            Self.isPlain(pixels, 50, x, y, atX: 3, 2)
                        } else { Array(pixels[(y * 50 + x) * 4..<(y * 50 + x) * 4 + 4]) == [255, 128, 0, 64] }
                    if !isRight { wrong += 1 }
                }
            }
            #expect(wrong == 0)
            let pieces = CoderDecode(HEIFCoder(), file, length: randomLengths(seed: 4, most: 30))
            #expect(pieces.error == nil && pieces.pixels == result.pixels)
        }

        @Test func alphaTurnsAndCropsOfLayersCount() throws {
            // The turned picture has 16x32 pixels, and lies over an opaque canvas beside the one with alpha.
            let overlay = HEIFMaker.overlay(fill: [0, 0, 0xFFFF, 0xFFFF], 60, 40, places: [(0, 0), (40, 4)])
            let result = CoderDecode(HEIFCoder(), Self.file(overlay, of: [3, 5]))
            #expect(result.error == nil && result.header?.hasAlpha == false && result.format?.alpha == .opaque)
            let pixels = result.pixels.bytes
            try #require(pixels.count == 60 * 40 * 4)
            func pixel(_ x: Int, _ y: Int) -> [Int] { (0..<4).map { Int(pixels[(y * 60 + x) * 4 + $0]) } }
            func gray(_ x: Int, _ y: Int) -> Int { Int(Self.plain[(y * 32 + x) * 4]) }
            for (x, y) in [(2, 2), (29, 2), (2, 13), (29, 13)] {
                // A gray with itself as alpha over blue.
                let value = gray(x, y)
                let over = [value * value / 255, value * value / 255, 255 - value + value * value / 255, 255]
                #expect(
                    zip(pixel(x, y), over).allSatisfy { abs($0 - $1) <= 3 }, "\(x),\(y): \(pixel(x, y)), not \(over)")
                // A quarter turn counter-clockwise.
                #expect(pixel(40 + y, 4 + 31 - x)[0] == value && pixel(40 + y, 4 + 31 - x)[2] == value)
            }
            #expect(pixel(58, 38) == [0, 0, 255, 255])
            let crop = HEIFMaker.crop(width: 20, height: 10, twiceX: 0, twiceY: 0)
            let cropped = CoderDecode(HEIFCoder(), Self.file(overlay, of: [3, 5], properties: [crop]))
            #expect(cropped.error == nil && cropped.header?.storedSize == PixelSize(width: 60, height: 40))
            try #require(cropped.pixels.count == 20 * 10 * 4)
            for y in 0..<10 {
                #expect(
                    Array(cropped.pixels.bytes[y * 80..<y * 80 + 80])
                        == Array(pixels[((y + 15) * 60 + 20) * 4..<((y + 15) * 60 + 40) * 4]))
            }
        }

        @Test func aPictureThatCoversATransparentCanvasIsOpaque() {
            let overlay = HEIFMaker.overlay(fill: [0, 0, 0, 0], 30, 14, places: [(-1, -1)])
            let result = CoderDecode(HEIFCoder(), Self.file(overlay, of: [2]))
            #expect(result.error == nil && result.header?.hasAlpha == false)
            #expect(CoderDecode(HEIFCoder(), Self.file(overlay, of: [3])).header?.hasAlpha == true)
        }

        @Test func overlaysThatCannotBeDrawnAreRefused() {
            func error(_ overlay: [UInt8], of layers: [Int], _ options: DecodeOptions = DecodeOptions())
                -> WebImageError.Code?
            {
                CoderDecode(HEIFCoder(), Self.file(overlay, of: layers), options: options).error?.code
            }
            let one = HEIFMaker.overlay(fill: [0, 0, 0, 0], 30, 14, places: [(0, 0)])
            #expect(error(one, of: [2]) == nil)
            #expect(error(one, of: [2, 2]) == .corruptData)
            #expect(error(Array(one.dropLast()), of: [2]) == .corruptData)
            #expect(error([1] + one.dropFirst(), of: [2]) == .corruptData)
            #expect(error(one, of: [1]) == .unsupportedFeature)
            #expect(error(one, of: [9]) == .unsupportedFeature)
            #expect(error(HEIFMaker.overlay(fill: [0, 0, 0, 0], 0, 14, places: []), of: []) == .corruptData)
            let many = HEIFMaker.overlay(fill: [0, 0, 0, 0], 30, 14, places: Array(repeating: (0, 0), count: 65))
            #expect(error(many, of: Array(repeating: 2, count: 65)) == .limitExceeded)
            // Each picture of 512 pixels is within the limit, ten are not.
            let pixels = DecodeOptions(limits: DecodeLimits(pixels: 5000))
            func overlay(of count: Int) -> [UInt8] {
                HEIFMaker.overlay(fill: [0, 0, 0, 0], 30, 14, places: Array(repeating: (0, 0), count: count))
            }
            #expect(error(overlay(of: 9), of: Array(repeating: 2, count: 9), pixels) == nil)
            #expect(error(overlay(of: 10), of: Array(repeating: 2, count: 10)) == nil)
            #expect(error(overlay(of: 10), of: Array(repeating: 2, count: 10), pixels) == .limitExceeded)
            // Alpha counts as well.
            #expect(error(overlay(of: 4), of: Array(repeating: 3, count: 4), pixels) == nil)
            #expect(error(overlay(of: 5), of: Array(repeating: 3, count: 5), pixels) == .limitExceeded)
        }

        /// Memory is reserved by the size of the canvas.
        @Test func aPictureMuchLargerThanItsCanvasIsRefused() {
            func error(_ side: Int, on canvas: Int) -> WebImageError.Code? {
                let set = HEIFMaker.configuration([HEIFMaker.sequenceSet(side, side)])
                let file = HEIFMaker.file(
                    items: [
                        .init(
                            id: 1, type: "iovl",
                            data: HEIFMaker.overlay(fill: [0, 0, 0, 0], canvas, canvas, places: [(0, 0)])),
                        .init(id: 2, properties: [1, 2], data: [0]),
                    ],
                    properties: [set, HEIFMaker.size(side, side)], references: [("dimg", 1, [2])])
                return CoderDecode(HEIFCoder(), file, wantsRows: false).error?.code
            }
            #expect(error(2048, on: 10) == nil)
            #expect(error(2056, on: 10) == .limitExceeded)
            #expect(error(4000, on: 2000) == nil)
            #expect(error(4000, on: 1990) == .limitExceeded)
        }

        @Test func everyCutIsTruncated() {
            let file = Self.file(HEIFMaker.overlay(fill: [0, 0, 0, 0], 30, 14, places: [(0, 0), (5, 5)]), of: [2, 3])
            for length in stride(from: 0, to: file.count - HEIFDeepTests.data.count, by: 7) {
                let result = CoderDecode(HEIFCoder(), Array(file.prefix(length)))
                #expect(result.error?.code == .truncatedData && result.rows == 0, "\(length)")
            }
        }
    }
#endif
