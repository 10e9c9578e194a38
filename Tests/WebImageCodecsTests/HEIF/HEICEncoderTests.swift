#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageSystem
    import WebImageTesting

    @Suite(.enabled(if: !HEIFCoder().encodableFormats.isEmpty)) struct HEICEncoderTests {
        static func file(_ image: Image, _ options: EncodeOptions = EncodeOptions()) throws -> [UInt8] {
            try HEIFCoder().encode(image, as: .heic, options)
        }

        @Test(arguments: [
            (PixelLayout.rgba8, AlphaMode.opaque), (.rgba8, .straight), (.rgba16, .opaque), (.rgba16, .straight),
        ])
        func anEncodedPictureDecodesToAlmostTheSamePixels(layout: PixelLayout, alpha: AlphaMode) throws {
            let image = try Drawings.picture(67, 141, layout: layout, alpha: alpha)
            let bytes = try Self.file(image, EncodeOptions(quality: 95))
            #expect([.heic, .heif].contains(ImageFormat(sniffing: bytes)))
            let result = CoderDecode(HEIFCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil)
            #expect(result.format == RowFormat(size: image.size, layout: layout, alpha: alpha))
            #expect(result.header?.bitDepth == (layout == .rgba16 ? 10 : 8))
            #expect(result.header?.hasAlpha == (alpha != .opaque))
            let difference = Self.difference(image, result)
            #expect(difference.colors < 5 && difference.alpha < 2, "\(difference)")
        }

        /// The mean differences of visible pixels, in levels of 255.
        private static func difference(_ image: Image, _ result: CoderDecode) -> (colors: Double, alpha: Double) {
            let step = image.layout == .rgba16 ? 2 : 1
            let original = image.withPixels { Array($0) }
            guard original.count == result.pixels.count else { return (255, 255) }
            var (colors, alpha, seen) = (0, 0, 0)
            for pixel in stride(from: 0, to: original.count, by: 4 * step) {
                let values = (0..<4).map { pixel + $0 * step + step - 1 }
                alpha += abs(Int(original[values[3]]) - Int(result.pixels.bytes[values[3]]))
                guard original[values[3]] >= 16 else { continue }
                seen += 3
                for index in values.prefix(3) { colors += abs(Int(original[index]) - Int(result.pixels.bytes[index])) }
            }
            return (Double(colors) / Double(max(seen, 1)), Double(alpha) / Double(original.count / 4 / step))
        }

        /// HEVC pictures have at least 64 pixels a side here, and even ones. libheif 1.15 wrote smaller ones with `clap` and an
        /// `ispe` of the cropped size, which libheif 1.23 refuses.
        @Test(arguments: [(64, 48), (67, 45), (20, 13), (1, 1)])
        func sizesThatHEVCDoesNotHaveAreCroppedByAGrid(width: Int, height: Int) throws {
            for alpha in [AlphaMode.opaque, .straight] {
                let image = try Drawings.picture(width, height, alpha: alpha)
                let bytes = try Self.file(image)
                #expect(!Self.has("clap", bytes) && Self.has("grid", bytes))
                let result = CoderDecode(HEIFCoder(), bytes)
                #expect(result.error == nil && result.format?.size == image.size)
                #expect(result.header?.hasAlpha == (alpha == .straight))
            }
        }

        /// The error once said "Invalid image size", although the picture is far below the longest side.
        @Test func aPictureTooThinForItsLengthIsRefusedWithTheReason() throws {
            let error = #expect(throws: WebImageError.self) { try Self.file(try Drawings.picture(4, 4500)) }
            #expect(error?.code == .cannotEncode && error?.message.contains("4x4500") == true, "\(error as Any)")
            #expect(error?.message.contains("32 pixels") == true)
            for (width, height) in [(4, 4216), (32, 4500)] {
                #expect(try !Self.file(try Drawings.picture(width, height)).isEmpty)
            }
        }

        private static func has(_ name: String, _ bytes: [UInt8]) -> Bool {
            bytes.indices.dropLast(3).contains { bytes[$0..<$0 + 4].elementsEqual(name.utf8) }
        }

        @Test func premultipliedPicturesAreWrittenStraight() throws {
            let image = try Drawings.picture(64, 64, alpha: .premultiplied)
            let result = CoderDecode(HEIFCoder(), try Self.file(image, EncodeOptions(quality: 95)))
            let straight = try Drawings.picture(64, 64, alpha: .straight)
            #expect(result.error == nil && Self.difference(straight, result).colors < 8)
        }

        @Test(arguments: Orientation.allCases)
        func turnedPicturesAreWrittenUpright(_ orientation: Orientation) throws {
            let image = try Drawings.picture(32, 16).with { $0.orientation = orientation }
            let result = CoderDecode(HEIFCoder(), try Self.file(image))
            #expect(result.error == nil && result.header?.orientation == .up)
            #expect(result.header?.size == orientation.displaySize(of: image.size))
        }

        @Test func theProfileIsKept() throws {
            var profile = [UInt8](repeating: 7, count: 200)
            profile.replaceSubrange(16..<20, with: "RGB ".utf8)
            let image = try Drawings.picture(32, 16).with { [profile] in $0.iccProfile = profile }
            #expect(CoderDecode(HEIFCoder(), try Self.file(image)).header?.iccProfile == profile)
            let without = try Self.file(image, EncodeOptions(embedsICCProfile: false))
            let header = CoderDecode(HEIFCoder(), without).header
            #expect(header != nil && header?.iccProfile == nil)
        }

        /// libheif refuses a thumbnail that is not smaller than the picture.
        @Test(
            arguments: [
                (61, 47, nil), (160, 160, nil), (161, 1, nil), (1, 1, nil), (1000, 12, nil),
                (400, 5, PixelSize(width: 160, height: 2)),
            ] as [(Int, Int, PixelSize?)])
        func smallPicturesGetNoThumbnail(width: Int, height: Int, thumbnail: PixelSize?) throws {
            let size = PixelSize(width: width, height: height)
            var options = EncodeOptions()
            options.embedsThumbnail = true
            let file = try Self.file(SamplePictures.sunset(size), options)
            #expect(CoderDecode(HEIFCoder(), file).format?.size == size)
            #expect(Self.has("thmb", file) == (thumbnail != nil))
            var wanted = DecodeOptions()
            wanted.usesEmbeddedThumbnail = true
            #expect(CoderDecode(HEIFCoder(), file, options: wanted).format?.size == thumbnail ?? size)
        }

        @Test(arguments: [Orientation.up, .right]) func theThumbnailIsDecodedOnRequest(_ orientation: Orientation)
            throws
        {
            let image = try SamplePictures.sunset(PixelSize(width: 640, height: 480)).with {
                $0.orientation = orientation
            }
            var options = EncodeOptions(keepsMetadata: true)
            options.embedsThumbnail = true
            let file = try Self.file(
                image.replacingMetadata(ImageMetadata(xmp: Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))),
                options)
            var wanted = DecodeOptions()
            wanted.usesEmbeddedThumbnail = true
            let (whole, small) = (CoderDecode(HEIFCoder(), file), CoderDecode(HEIFCoder(), file, options: wanted))
            // The orientation is applied when the file is decoded, also to its thumbnail.
            func turned(_ width: Int, _ height: Int) -> PixelSize {
                orientation.storedSize(of: PixelSize(width: width, height: height))
            }
            #expect(whole.format?.size == turned(640, 480))
            #expect(small.error == nil && small.format?.size == turned(160, 120))
            #expect(small.header?.metadata.xmp != nil && small.header?.metadata.xmp == whole.header?.metadata.xmp)
            // The thumbnail is decoded from pieces, too. A file without a thumbnail gives the picture.
            let pieces = CoderDecode(HEIFCoder(), file, options: wanted, length: randomLengths(seed: 3, most: 900))
            #expect(pieces.pixels == small.pixels)
            let plain = CoderDecode(HEIFCoder(), try Self.file(image), options: wanted)
            #expect(plain.format?.size == turned(640, 480))
        }

        @Test func lowerQualityIsSmaller() throws {
            let image = try Drawings.noise(64, 64, alpha: .opaque)
            let sizes = try [20, 60, 90].map { try Self.file(image, EncodeOptions(quality: $0)).count }
            #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
            #expect(try Self.file(image).count == sizes[1])
        }

        @Test(arguments: [(1, 1), (3, 5), (17, 1)])
        func smallPicturesAreWritten(width: Int, height: Int) throws {
            let result = CoderDecode(HEIFCoder(), try Self.file(Drawings.picture(width, height)))
            #expect(result.error == nil && result.header?.size == PixelSize(width: width, height: height))
        }

        @Test func anotherFormatIsNotWritten() throws {
            let image = try Drawings.picture(4, 4)
            let error = #expect(throws: WebImageError.self) {
                try HEIFCoder().encode(image, as: .heif, EncodeOptions())
            }
            #expect(error?.code == .cannotEncode)
        }

        @Test func cutsAreTruncated() throws {
            let bytes = try Self.file(Drawings.picture(80, 60, alpha: .straight))
            for length in stride(from: 0, to: bytes.count, by: 50) {
                let cut = CoderDecode(HEIFCoder(), Array(bytes.prefix(length)), length: { 1 + length % 90 })
                #expect(cut.error?.code == .truncatedData, "at \(length): \(String(describing: cut.error))")
            }
        }

        @Test func flippedBitsGiveATypedAnswer() throws {
            var generator = SeededGenerator(seed: 11)
            let bytes = try Self.file(Drawings.picture(40, 30, alpha: .straight))
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 20))
            var failures = 0
            for _ in 0..<500 {
                let result = CoderDecode(HEIFCoder(), bytes.damaged(by: &generator), options: options)
                guard let error = result.error else { continue }
                failures += 1
                #expect(typedCodes.contains(error.code), "\(error)")
            }
            #expect(failures > 50)
        }

        @Test func theCheckpointEndsADecode() throws {
            let bytes = try Self.file(Drawings.picture(40, 130))
            let calls = Counter()
            let options = DecodeOptions { () throws(WebImageError) in
                if calls.next() == 4 { throw WebImageError(.cancelled, "enough") }
            }
            let result = CoderDecode(HEIFCoder(), bytes, options: options)
            #expect(result.error?.code == .cancelled && result.pixels.count < 40 * 130 * 4)
        }

        @Test func tilesMakeOnePictureAlsoInPiecesAndCropped() throws {
            let image = try Drawings.picture(64, 64)
            let parts = try #require(HEIFParts(Self.file(image, EncodeOptions(quality: 95))))
            let tile = CoderDecode(HEIFCoder(), try Self.file(image, EncodeOptions(quality: 95)))
            for dataFirst in [false, true] {
                let file = HEIFMaker.file(
                    items: [
                        .init(
                            id: 1, type: "grid", properties: [3],
                            data: HEIFMaker.grid(rows: 2, columns: 2, 100, 120)),
                        .init(id: 2, properties: [1, 2], data: parts.data),
                    ],
                    properties: [
                        parts.configuration, HEIFMaker.size(64, 64),
                        // A crop of 80 by 90 around the centre, from column 10 and row 15 on.
                        HEIFMaker.crop(width: 80, height: 90, twiceX: 0, twiceY: 0),
                    ], references: [("dimg", 1, [2, 2, 2, 2])], dataFirst: dataFirst)
                let whole = CoderDecode(HEIFCoder(), file)
                #expect(whole.error == nil && whole.format?.size == PixelSize(width: 80, height: 90))
                #expect(whole.header?.storedSize == PixelSize(width: 100, height: 120))
                let pieces = CoderDecode(HEIFCoder(), file, length: randomLengths(seed: 9, most: 60))
                #expect(pieces.error == nil && pieces.pixels == whole.pixels)
                #expect(pieces.wasComplete)
                var helped = DecodeOptions()
                helped.idleThreads = ThreadPool(name: "idle", width: 4)
                #expect(CoderDecode(HEIFCoder(), file, options: helped).pixels == whole.pixels)
                try #require(tile.pixels.count == 64 * 64 * 4 && whole.pixels.count == 80 * 90 * 4)
                var wrong = 0
                for y in 0..<90 {
                    for x in 0..<80 {
                        let source = ((y + 15) % 64 * 64 + (x + 10) % 64) * 4
                        for channel in 0..<4
                        where whole.pixels.bytes[(y * 80 + x) * 4 + channel] != tile.pixels.bytes[source + channel] {
                            wrong += 1
                        }
                    }
                }
                #expect(wrong == 0)
            }
        }

        /// Nokia's writer makes such files. Alpha is the luma plane, whatever the colour planes hold.
        @Test(arguments: [ChromaSubsampling.yuv444, .yuv422, .yuv420]) func alphaMayHaveColourPlanes(
            _ chroma: ChromaSubsampling
        ) throws {
            var options = EncodeOptions(quality: 95)
            options.chroma = chroma
            let bytes = try Self.file(Drawings.picture(64, 64, alpha: .opaque), options)
            let parts = try #require(HEIFParts(bytes))
            let type = HEIFMaker.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:1".utf8) + [0])
            let file = HEIFMaker.file(
                items: [
                    .init(id: 1, properties: [1, 2], data: parts.data),
                    .init(id: 2, properties: [1, 2, 3], data: parts.data),
                ],
                properties: [parts.configuration, HEIFMaker.size(64, 64), type], references: [("auxl", 2, [1])])
            let result = CoderDecode(HEIFCoder(), file)
            #expect(result.error == nil && result.header?.hasAlpha == true)
            let pixels = result.pixels.bytes
            try #require(pixels.count == 64 * 64 * 4)
            let difference = stride(from: 0, to: pixels.count, by: 4).reduce(0.0) { sum, pixel in
                let colors = zip([0.299, 0.587, 0.114], pixels[pixel...]).map { $0 * Double($1) }
                return sum + abs(colors[0] + colors[1] + colors[2] - Double(pixels[pixel + 3]))
            }
            #expect(difference / (64 * 64) < 3)
        }

        /// libheif once dropped the damage that libde265 reported and showed what was left in memory. A picture that
        /// libheif had begun was never freed.
        @Test func damagedDataIsAnErrorAndNeverChance() throws {
            let file = try Self.file(try Drawings.noise(96, 64, alpha: .opaque), EncodeOptions(quality: 90))
            var random = SeededGenerator(seed: 11)
            var failures = 0
            for _ in 0..<60 {
                var damaged = file
                // The picture's data is nearly all of the file and lies at its end.
                damaged[file.count / 2 + random.below(file.count / 2)] ^= UInt8(1 << random.below(8))
                let (first, second) = (CoderDecode(HEIFCoder(), damaged), CoderDecode(HEIFCoder(), damaged))
                #expect(first.error?.code == second.error?.code && first.pixels == second.pixels)
                if let error = first.error { #expect(error.code == .corruptData) }
                failures += first.error == nil ? 0 : 1
            }
            #expect(failures > 10)
        }
    }

    @Suite(.enabled(if: !HEIFCoder().encodableFormats.isEmpty)) struct HEICMetadataTests {
        private static let kept = EncodeOptions(keepsMetadata: true)

        private static func picture(_ metadata: ImageMetadata, _ orientation: Orientation = .up) throws -> Image {
            try Drawings.picture(40, 30).with {
                $0.metadata = metadata
                $0.orientation = orientation
            }
        }

        @Test func metadataIsWrittenOnlyOnRequestAndReadBack() throws {
            let metadata = ImageMetadata(
                exif: EXIFMaker(density: (300, 300)).block(), xmp: XMPMaker.packet(orientation: 1),
                density: PixelDensity(300))
            let image = try Self.picture(metadata)
            let bytes = try HEICEncoderTests.file(image, Self.kept)
            for length in [Int.max, 1, 700] {
                let result = CoderDecode(HEIFCoder(), bytes, length: { length })
                let found = try #require(result.header?.metadata)
                #expect(found.exif?.count == metadata.exif?.count && found.xmp == metadata.xmp)
                #expect(found.density == PixelDensity(300) && result.error == nil)
            }
            #expect(CoderDecode(HEIFCoder(), try HEICEncoderTests.file(image)).header?.metadata == ImageMetadata())
        }

        @Test func aTurnedPictureIsWrittenUprightWithUprightMetadata() throws {
            let metadata = ImageMetadata(
                exif: EXIFMaker(orientation: 6).block(), xmp: XMPMaker.packet(orientation: 6))
            let bytes = try HEICEncoderTests.file(try Self.picture(metadata, .right), Self.kept)
            let header = try #require(CoderDecode(HEIFCoder(), bytes).header)
            #expect(header.orientation == .up && header.metadata.xmp == XMPMaker.packet(orientation: 1))
            #expect(header.metadata.exif.flatMap { EXIFBlock($0) }?.orientation == .up)
        }

        @Test func longerMetadataThanTheLimitIsLeftOut() throws {
            let metadata = ImageMetadata(
                exif: EXIFMaker().block() + [UInt8](repeating: 9, count: 4000),
                xmp: [UInt8](repeating: 0x41, count: 5000))
            let bytes = try HEICEncoderTests.file(try Self.picture(metadata), Self.kept)
            let limited = DecodeOptions(limits: DecodeLimits(metadata: 2000))
            #expect(CoderDecode(HEIFCoder(), bytes).header?.metadata.xmp?.count == 5000)
            let result = CoderDecode(HEIFCoder(), bytes, options: limited)
            #expect(result.error == nil && result.header?.metadata == ImageMetadata())
        }
    }
#endif
