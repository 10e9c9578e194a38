#if TIFF
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// EXIF as fields of a TIFF, and frames of an animation as pages.
    @Suite struct TIFFMetadataTests {
        private static let kept = EncodeOptions(keepsMetadata: true)

        /// An EXIF block as cameras write it: a model, an EXIF directory, a GPS directory with a longer value, and an
        /// interoperability directory.
        private static func block(isBigEndian: Bool) -> [UInt8] {
            func number(_ value: Int, _ length: Int) -> [UInt8] {
                isBigEndian ? big(value, length) : big(value, length).reversed()
            }
            func line(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
                number(tag, 2) + number(type, 2) + number(count, 4) + value
            }
            func directory(_ lines: [[UInt8]]) -> [UInt8] { number(lines.count, 2) + lines.joined() + number(0, 4) }
            let order: [UInt8] = isBigEndian ? [0x4D, 0x4D] : [0x49, 0x49]
            // After 8 bytes and 5 fields: the EXIF directory at 74, the GPS directory at 104, interoperability at 134,
            // long values at 152.
            let main = directory([
                line(0x0110, 2, 4, Array("cam".utf8) + [0]), line(0x0111, 4, 1, number(9, 4)),
                line(0x0132, 2, 20, number(152, 4)), line(0x8769, 4, 1, number(74, 4)),
                line(0x8825, 4, 1, number(104, 4)),
            ])
            let details = directory([
                line(0x9000, 7, 4, Array("0230".utf8)), line(0xA005, 4, 1, number(134, 4)),
            ])
            let place = directory([line(0, 1, 4, [2, 3, 0, 0]), line(2, 5, 3, number(172, 4))])
            let inner = directory([line(1, 2, 4, Array("R98".utf8) + [0])])
            return order + number(42, 2) + number(8, 4) + main + details + place + inner
                + Array("2026:11:22 01:02:03".utf8) + [0]
                + [(48, 1), (51, 1), (2999, 100)].flatMap { number($0.0, 4) + number($0.1, 4) }
        }

        @Test(arguments: [true, false], [ImageFormat.tiff, .bigTIFF])
        func exifIsTakenApartAndPutTogetherAgain(isBigEndian: Bool, _ format: ImageFormat) throws {
            let block = Self.block(isBigEndian: isBigEndian)
            let image = try Drawings.picture(40, 30).with {
                $0.orientation = .left
                $0.iccProfile = EncoderTests.profile(space: "RGB ", count: 3001)
                $0.metadata = ImageMetadata(exif: block, density: PixelDensity(300))
            }
            let bytes = try TIFFCoder().encode(image, as: format, Self.kept)
            let result = decode(bytes)
            #expect(result.error == nil && result.pixels == image.bytes && result.header?.orientation == .left)
            #expect(result.header?.metadata.density == PixelDensity(300))
            #expect(result.header?.iccProfile?.count == 3001 && result.header?.format == format)
            let found = try #require(result.header?.metadata.exif)
            #expect(found[0] == (isBigEndian ? 0x4D : 0x49))
            // Each value occurs once, and the field with the place of the pixels is left out.
            for value in [Array("cam".utf8) + [0], Array("2026:11:22".utf8), Array("0230".utf8), Array("R98".utf8)] {
                #expect(found.indices.count { found[$0...].starts(with: value) } == 1)
            }
            #expect(found.count == block.count - 12)
            let excerpts = TIFFExcerpts(bytes, limit: 1, metadataLimit: block.count)
            let excerpt = decode(try #require(excerpts.file(ofPage: 0)))
            #expect(excerpt.header == result.header && excerpt.pixels == result.pixels)
            #expect(TIFFExcerpts(bytes, limit: 1, metadataLimit: 10).file(ofPage: 0) == nil)
            // The EXIF that was read is written unchanged, also into another format.
            let again = image.with { $0.metadata.exif = found }
            #expect(try TIFFCoder().encode(again, as: format, Self.kept) == bytes)
            let jpeg = try JPEGCoder().encode(again, as: .jpeg, Self.kept)
            let exif = try #require(decode(jpeg).header?.metadata.exif)
            #expect(exif.indices.contains { exif[$0...].starts(with: Array("2026:11:22 01:02:03".utf8)) })
            // By default no EXIF is written.
            #expect(decode(try TIFFCoder().encode(image, as: format, EncodeOptions())).header?.metadata.exif == nil)
        }

        @Test func blocksThatSayNothingOrTooMuchAreLeftOut() throws {
            let image = try Drawings.picture(9, 9)
            let plain = try TIFFCoder().encode(image, as: .tiff, Self.kept)
            let empty = Array(EXIFMaker(orientation: 6).block().prefix(8)) + [0, 0]
            for block in [empty, [1, 2, 3], Self.bomb] {
                let with = image.with { $0.metadata.exif = block }
                let bytes = try TIFFCoder().encode(with, as: .tiff, Self.kept)
                #expect(decode(bytes).pixels == image.bytes && decode(bytes).header?.metadata.exif == nil)
                #expect(bytes.count == plain.count)
            }
        }

        /// A thousand fields with the same long value.
        private static var bomb: [UInt8] {
            let start = 8 + 2 + 1000 * 12 + 4
            return [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + big(1000, 2)
                + (0..<1000).flatMap { _ in big(270, 2) + big(2, 2) + big(40_000, 4) + big(start, 4) } + big(0, 4)
                + [UInt8](repeating: 0x41, count: 40_000)
        }

        @Test func damagedFieldsOfAFileAreLeftOut() throws {
            let image = try Drawings.picture(9, 9).with {
                $0.metadata = ImageMetadata(exif: Self.block(isBigEndian: true))
            }
            let bytes = try TIFFCoder().encode(image, as: .tiff, Self.kept)
            for at in bytes.indices {
                var damaged = bytes
                damaged[at] ^= 0x40
                let result = decode(damaged)
                #expect((result.header?.metadata.exif?.count ?? 0) < 4 * bytes.count)
                #expect(result.header != nil || result.error != nil)
            }
            let tight = DecodeOptions(limits: DecodeLimits(metadata: 20))
            #expect(decode(bytes, options: tight).header?.metadata.exif == nil)
        }

        @Test(arguments: [ImageFormat.tiff, .bigTIFF])
        func anAnimationsFramesBecomePages(_ format: ImageFormat) throws {
            let frames = try (1...4).map { index in
                try index == 3 ? Drawings.noise(30, 20, alpha: .straight) : Drawings.picture(30, 20)
            }
            let animation = AnimationDescription(size: PixelSize(width: 30, height: 20), loopCount: 0)
            let encoder = try #require(try TIFFCoder().makeAnimationEncoder(format, animation, EncodeOptions()))
            for frame in frames { try encoder.add(frame, delay: .milliseconds(40)) }
            let bytes = try encoder.finish()
            let reader = try TIFFPageReader(bytes)
            #expect(reader.pageCount == 4)
            for (index, frame) in frames.enumerated() {
                let page = try reader.readPage(index)
                #expect(page.bytes == frame.bytes && page.alpha == frame.alpha)
            }
            #expect(decode(bytes).header?.frameCount == 4 && decode(bytes).header?.format == format)
            let other = try #require(try TIFFCoder().makeAnimationEncoder(format, animation, EncodeOptions()))
            #expect(throws: WebImageError.self) { try other.add(Drawings.picture(30, 21), delay: .zero) }
            #expect(throws: WebImageError.self) { try other.finish() }
        }
    }
#endif
