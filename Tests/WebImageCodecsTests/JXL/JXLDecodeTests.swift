#if JXL
    import Testing
    import WebImageCore
    import WebImageTesting

    @testable import WebImageCodecs

    @Suite struct JXLDecodeTests {
        /// Each may become as long as the limit for metadata, and a file has room for thousands.
        @Test func onlyOneCompressedBoxOfEachKindIsRead() {
            func box(_ name: String, _ contents: [UInt8]) -> [UInt8] {
                [0, 0, 0, UInt8(contents.count + 8)] + Array(name.utf8) + contents
            }
            // A stored block of Brotli, and its end.
            let block: [UInt8] = [0, 0, 0, 0, 1, 2, 3]
            let valid = box("brob", Array("Exif".utf8) + [UInt8((block.count - 1) << 4), 0, 0x10] + block + [3])
            let damaged = box("brob", Array("Exif".utf8) + [0xFF, 0xFF])
            let signature: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
            for (boxes, exif) in [
                (valid, [1, 2, 3] as [UInt8]?), (damaged + valid, nil), (valid + damaged, [1, 2, 3]),
            ] {
                var reader = JXLBoxReader(limit: 1000)
                (signature + boxes).withUnsafeBufferPointer { reader.push($0) }
                #expect(reader.exif == exif)
            }
        }

        private static func encoded(_ image: Image, quality: Int? = nil) throws -> [UInt8] {
            try JXLCoder().encode(image, as: .jxl, EncodeOptions(quality: quality))
        }

        @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
        func quality100KeepsEveryPixel(layout: PixelLayout, alpha: AlphaMode) throws {
            let image = try Drawings.picture(37, 29, layout: layout, alpha: alpha)
            let result = decode(
                try Self.encoded(image, quality: 100), options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil)
            #expect(result.format == RowFormat(size: image.size, layout: layout, alpha: alpha))
            #expect(result.pixels == image.bytes)
            #expect(result.header?.bitDepth == layout.bitDepth)
            #expect(result.header?.iccProfile == nil)
        }

        @Test func sixteenBitsBecomeEightUnlessWished() throws {
            let image = try Drawings.picture(16, 16, layout: .rgba16)
            let result = decode(try Self.encoded(image, quality: 100))
            #expect(result.format?.layout == .rgba8)
            let upper = image.bytes.bytes.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            #expect(result.pixels.meanDifference(to: Pixels(upper)) < 1)
        }

        @Test func aLossyPictureIsAlike() throws {
            let image = try Drawings.picture(120, 90)
            let low = try Self.encoded(image, quality: 20)
            let high = try Self.encoded(image, quality: 90)
            #expect(low.count < high.count)
            #expect(decode(high).pixels.meanDifference(to: image.bytes) < 6)
            // The header of a JPEG XL does not state whether it has passes.
            #expect(decode(high).header?.isProgressive == false)
            #expect(decode(low).pixels.meanDifference(to: image.bytes) < 30)
        }

        @Test(arguments: Orientation.allCases)
        func theOrientationIsToldAndNotApplied(_ orientation: Orientation) throws {
            let image = try Drawings.picture(21, 13).with { $0.orientation = orientation }
            let result = decode(try Self.encoded(image, quality: 100))
            #expect(result.header?.orientation == orientation)
            #expect(result.header?.size == image.size)
            #expect(result.pixels == image.bytes)
        }

        @Test func premultipliedPicturesComeBackStraight() throws {
            let image = try Image(size: PixelSize(width: 8, height: 8), alpha: .premultiplied) { bytes in
                for index in 0..<256 { bytes[index] = [50, 25, 100, 128][index % 4] }
            }
            let result = decode(try Self.encoded(image, quality: 100))
            #expect(result.format?.alpha == .straight)
            let wanted: [Int] = [100, 50, 199, 128]
            let isRight = zip(result.pixels.bytes, wanted).allSatisfy { abs(Int($0) - $1) <= 1 }
            #expect(isRight, "\(result.error.debugDescription) \(result.pixels)")
        }

        @Test func theHeaderIsEnoughWithoutASink() throws {
            let bytes = try Self.encoded(try Drawings.picture(300, 200, alpha: .straight))
            let header = try CoderRegistry.standard.readHeader(of: Array(bytes.prefix(200)))
            #expect(header.size == PixelSize(width: 300, height: 200) && header.hasAlpha && header.frameCount == 1)
        }

        @Test func previewsComeBeforeTheEnd() throws {
            let image = try Drawings.picture(700, 500)
            let bytes = try Self.encoded(image, quality: 90)
            let result = decode(bytes, previewEvery: 1, length: { bytes.count / 20 })
            #expect(result.error == nil && !result.previews.isEmpty)
            #expect(result.pixels == decode(bytes).pixels)
            let last = try #require(result.previews.last)
            #expect(last.meanDifference(to: result.pixels) < 60)
        }

        @Test func aLargePictureIsRefusedBeforeItsMemoryIsAsked() throws {
            let bytes = try Self.encoded(try Drawings.picture(100, 100))
            let few = decode(bytes, options: DecodeOptions(limits: DecodeLimits(pixels: 9_999)))
            #expect(few.error?.code == .limitExceeded && few.format == nil)
            let short = DecodeLimits(bytes: ByteCount(bytes.count - 1))
            #expect(decode(bytes, options: DecodeOptions(limits: short)).error?.code == .limitExceeded)
        }

        @Test func theCheckpointEndsADecode() throws {
            let bytes = try Self.encoded(try Drawings.picture(64, 64))
            for allowed in 0..<6 {
                let calls = Counter()
                let options = DecodeOptions(checkpoint: { () throws(WebImageError) in
                    if calls.next() > allowed { throw WebImageError(.cancelled, "enough") }
                })
                #expect(decode(bytes, options: options).error?.code == .cancelled)
            }
        }

        @Test func everyCutIsTruncatedData() throws {
            for (image, quality) in [
                (try Drawings.picture(40, 30), 80), (try Drawings.picture(24, 20, alpha: .straight), 100),
            ] {
                let bytes = try Self.encoded(image, quality: quality)
                let whole = decode(bytes)
                for length in stride(from: 12, to: bytes.count, by: 5) {
                    let cut = decode(Array(bytes.prefix(length)), length: { 1 + length % 70 })
                    if let error = cut.error {
                        #expect(error.code == .truncatedData, "at \(length): \(error)")
                    } else {
                        #expect(cut.pixels == whole.pixels)
                    }
                }
            }
        }

        @Test(arguments: 0..<6)
        func flippedBitsGiveATypedAnswer(seed: Int) throws {
            let typed: Set<WebImageError.Code> = [
                .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded, .unknownFormat, .formatNotBuilt,
            ]
            var generator = SeededGenerator(seed: UInt64(seed))
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 18))
            var failures = 0
            for bytes in [
                try Self.encoded(try Drawings.picture(40, 30, alpha: .straight)),
                try Self.encoded(try Drawings.picture(33, 21, layout: .rgba16), quality: 100),
            ] {
                for _ in 0..<60 {
                    var damaged = bytes
                    for _ in 0..<Int.random(in: 1...4, using: &generator) {
                        damaged[Int.random(in: 2..<bytes.count, using: &generator)] ^=
                            1 << UInt8.random(in: 0...7, using: &generator)
                    }
                    let result = decode(
                        damaged, keepsWhole: false, options: options, previewEvery: 3,
                        length: randomLengths(seed: UInt64(seed), most: 90))
                    if let error = result.error {
                        failures += 1
                        #expect(typed.contains(error.code), "\(error)")
                    }
                }
            }
            #expect(failures > 10)
        }

        @Test func otherFormatsAreNotWritten() throws {
            let image = try Drawings.picture(2, 2)
            let error = #expect(throws: WebImageError.self) {
                try JXLCoder().encode(image, as: .png, EncodeOptions())
            }
            #expect(error?.code == .cannotEncode)
        }
    }
#endif
