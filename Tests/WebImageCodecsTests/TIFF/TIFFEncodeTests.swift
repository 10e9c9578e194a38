#if TIFF
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite struct TIFFEncodeTests {
        private static func encode(
            _ image: Image, as format: ImageFormat = .tiff, _ options: EncodeOptions = EncodeOptions()
        ) throws -> [UInt8] {
            try TIFFCoder().encode(image, as: format, options)
        }

        @Test(
            arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
        func everyPixelComesBack(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
            let image = try Drawings.picture(301, 203, layout: layout, alpha: alpha)
            for format in [ImageFormat.tiff, .bigTIFF] {
                for level in [0, 1, 6, 9] {
                    let bytes = try Self.encode(image, as: format, EncodeOptions(compressionLevel: level))
                    let result = decode(bytes, options: DecodeOptions(keepsBitDepth: true))
                    #expect(result.error == nil && result.format?.layout == layout && result.format?.alpha == alpha)
                    #expect(result.header?.format == format && result.header?.bitDepth == layout.bitDepth)
                    if layout == .rgba8 || alpha == .straight { #expect(result.pixels == image.bytes) }
                }
            }
        }

        @Test func xmpAndDensityAreKeptOnRequest() throws {
            let metadata = ImageMetadata(xmp: XMPMaker.packet(orientation: 8), density: PixelDensity(300))
            let image = try Drawings.picture(40, 30).with { $0.metadata = metadata }
            let found = try #require(
                decode(try Self.encode(image, EncodeOptions(keepsMetadata: true))).header?.metadata)
            #expect(found.xmp == XMPMaker.packet(orientation: 1) && found.density == PixelDensity(300))
            let plain = try #require(decode(try Self.encode(image)).header?.metadata)
            #expect(plain.xmp == nil && plain.density == PixelDensity(72))
        }

        @Test func theColourOfPixelsThatCannotBeSeenIsKept() throws {
            let image = try Drawings.noise(64, 33)
            #expect(decode(try Self.encode(image)).pixels == image.bytes)
        }

        @Test(arguments: [PixelLayout.rgba8, .rgba16])
        func premultipliedPixelsAreWrittenStraight(_ layout: PixelLayout) throws {
            let image = try Image(size: PixelSize(width: 2, height: 1), layout: layout, alpha: .premultiplied) {
                bytes in
                let values = [50, 25, 100, 100, 0, 0, 0, 0]
                for (index, value) in values.enumerated() {
                    if layout == .rgba8 {
                        bytes[index] = UInt8(value)
                    } else {
                        bytes.storeBytes(of: UInt16(value * 257), toByteOffset: index * 2, as: UInt16.self)
                    }
                }
            }
            let result = decode(try Self.encode(image))
            #expect(result.format?.alpha == .straight)
            #expect(result.pixels.meanDifference(to: Pixels([128, 64, 255, 100, 0, 0, 0, 0])) <= 0.25)
        }

        @Test func deflatingPaysAndTheSamePictureGivesTheSameBytes() throws {
            let image = try Drawings.picture(200, 200)
            let sizes = try [0, 6].map { try Self.encode(image, EncodeOptions(compressionLevel: $0)).count }
            #expect(sizes[0] > 120_000 && sizes[1] < sizes[0] / 4)
            #expect(try Self.encode(image) == Self.encode(image))
            // There is no tag for the date (306), the program (305) or the machine (316).
            let tags = try Self.tags(of: Self.encode(image))
            #expect(tags.contains(256) && tags.contains(317) && tags.isDisjoint(with: [305, 306, 316]))
        }

        @Test(arguments: Orientation.allCases) func theOrientationIsWritten(_ orientation: Orientation) throws {
            let image = try Drawings.picture(12, 9).with { $0.orientation = orientation }
            #expect(decode(try Self.encode(image)).header?.orientation == orientation)
        }

        @Test func onlyAWantedProfileForRGBIsWritten() throws {
            let profile = EncoderTests.profile(space: "RGB ", count: 5000)
            let image = try Drawings.picture(12, 9).with { $0.iccProfile = profile }
            #expect(decode(try Self.encode(image)).header?.iccProfile.map(Pixels.init) == Pixels(profile))
            let without = try Self.encode(image, EncodeOptions(embedsICCProfile: false))
            #expect(decode(without).header?.iccProfile == nil)
            let other = try Drawings.picture(12, 9).with {
                $0.iccProfile = EncoderTests.profile(space: "CMYK", count: 300)
            }
            #expect(decode(try Self.encode(other)).header?.iccProfile == nil)
        }

        @Test(arguments: [(1, 1), (1, 70_000), (70_000, 1), (30_000, 3)])
        func unusualShapesComeBack(width: Int, height: Int) throws {
            let image = try Drawings.picture(width, height)
            #expect(decode(try Self.encode(image)).pixels == image.bytes)
        }

        @Test func anotherFormatIsRefused() throws {
            let image = try Drawings.picture(2, 2)
            do {
                _ = try Self.encode(image, as: .png)
                Issue.record("a TIFF coder wrote a PNG")
            } catch { #expect((error as? WebImageError)?.code == .cannotEncode) }
        }

        /// The numbers of the tags on the first page of a little-endian file.
        private static func tags(of bytes: [UInt8]) -> Set<Int> {
            func number(_ offset: Int, _ length: Int) -> Int {
                (0..<length).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
            }
            let directory = number(4, 4)
            return Set((0..<number(directory, 2)).map { number(directory + 2 + $0 * 12, 2) })
        }

        private static func encode(_ image: Image, _ options: EncodeOptions) throws -> [UInt8] {
            try encode(image, as: .tiff, options)
        }
    }
#endif
