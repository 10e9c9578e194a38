#if HEIF
    import Testing
    import WebImageCore
    import WebImageProcessing
    import WebImageTesting

    @testable import WebImageCodecs

    @Suite(.enabled(if: !HEICSequenceCoder().encodableFormats.isEmpty)) struct HEICSequenceEncoderTests {
        private static let delays: [Duration] = [40, 100, 100, 70_000, 250].map { .milliseconds($0) }

        /// - Parameter alphas: The alpha mode of each frame.
        private static func frames(_ size: PixelSize, _ alphas: [AlphaMode]) throws -> [Image] {
            try alphas.enumerated().map { index, alpha in
                try Image(size: size, alpha: alpha) { bytes in
                    for y in 0..<size.height {
                        for x in 0..<size.width {
                            let isLeft = x * 5 < size.width * (index + 1)
                            let color: [UInt8] = isLeft ? [200, UInt8(40 * index), 60] : [30, 90, UInt8(50 * index)]
                            let opacity: UInt8 = alpha == .opaque || isLeft ? 255 : 80
                            for (channel, value) in (color + [opacity]).enumerated() {
                                bytes[(y * size.width + x) * 4 + channel] = value
                            }
                        }
                    }
                }
            }
        }

        private static func file(
            _ frames: [Image], loopCount: Int? = 0, _ options: EncodeOptions = EncodeOptions(quality: 95)
        ) throws -> [UInt8] {
            let description = AnimationDescription(size: try #require(frames.first).displaySize, loopCount: loopCount)
            let encoder = try #require(
                try HEICSequenceCoder().makeAnimationEncoder(.heicSequence, description, options))
            for (frame, delay) in zip(frames, delays) { try encoder.add(frame, delay: delay) }
            return try encoder.finish()
        }

        private static func read(_ bytes: [UInt8], pieces: Int = 1 << 20) throws -> any AnimationDecoder {
            let decoder = try #require(try HEICSequenceCoder().makeAnimationDecoder(.heicSequence, DecodeOptions()))
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                try bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { try decoder.push($0) }
            }
            try decoder.finish()
            return decoder
        }

        private static func image(_ decoder: any AnimationDecoder, _ index: Int) throws -> Image {
            Image(pixels: try decoder.frame(at: index), info: Image.Info(alpha: .straight))
        }

        private static func places(of name: String, in bytes: [UInt8]) -> [Int] {
            bytes.indices.dropLast(3).filter { bytes[$0..<$0 + 4].elementsEqual(name.utf8) }
        }

        /// Two of the sizes are not possible in HEVC, so that the frames are stored larger and cropped.
        @Test(
            arguments: [(128, 96), (67, 45), (9, 5)], [AlphaMode.opaque, .straight]
        ) func framesComeBackWithTheirDelays(size: (Int, Int), alpha: AlphaMode) throws {
            let frames = try Self.frames(
                PixelSize(width: size.0, height: size.1), Array(repeating: alpha, count: Self.delays.count))
            let bytes = try Self.file(frames)
            #expect(ImageFormat(sniffing: bytes) == .heicSequence)
            let decoder = try Self.read(bytes, pieces: 700)
            let header = try #require(decoder.header)
            #expect(header.size == frames[0].size && header.frameCount == frames.count)
            #expect(header.hasAlpha == (alpha != .opaque) && decoder.storedDelays == Self.delays)
            for index in Array(frames.indices) + [3, 0, 4] {
                #expect(try Self.image(decoder, index).bytes.meanDifference(to: frames[index].bytes) < 4)
                #expect(decoder.firstFrameNeeded(for: index) == index)
            }
        }

        @Test(arguments: [0, 1, 3, nil] as [Int?]) func theLoopCountIsKept(_ loopCount: Int?) throws {
            let frames = try Self.frames(PixelSize(width: 64, height: 64), [.opaque, .opaque])
            #expect(try Self.read(Self.file(frames, loopCount: loopCount)).header?.loopCount == loopCount ?? 1)
        }

        /// Opaque frames may come before and after one with alpha. There is no alpha track if all pixels of all frames
        /// are opaque.
        @Test func anAlphaTrackIsWrittenOnlyIfAFrameHasAlpha() throws {
            let size = PixelSize(width: 70, height: 50)
            let frames = try Self.frames(size, [.opaque, .straight, .opaque])
            let decoder = try Self.read(Self.file(frames))
            #expect(decoder.header?.hasAlpha == true)
            for index in 0..<3 {
                #expect(try Self.image(decoder, index).bytes.meanDifference(to: frames[index].bytes) < 4)
            }
            let full = try Self.frames(size, [.opaque, .opaque]).map { $0.with { $0.alpha = .straight } }
            let bytes = try Self.file(full)
            #expect(try Self.read(bytes).header?.hasAlpha == false && Self.places(of: "auxv", in: bytes).isEmpty)
        }

        @Test(arguments: [AlphaMode.opaque, .straight]) func aReaderOfStillsShowsTheFirstFrame(_ alpha: AlphaMode)
            throws
        {
            let frames = try Self.frames(PixelSize(width: 67, height: 45), [alpha, alpha])
            let bytes = try Self.file(frames)
            let (first, still) = (CoderDecode(HEICSequenceCoder(), bytes), CoderDecode(HEIFCoder(), bytes))
            #expect(first.error == nil && still.error == nil && still.header?.size == frames[0].size)
            #expect(still.header?.hasAlpha == (alpha != .opaque) && still.pixels.bytes == first.pixels.bytes)
        }

        @Test func theFirstFrameDecidesTheDepth() throws {
            let deep = try [AlphaMode.straight, .opaque].map {
                try Drawings.picture(64, 48, layout: .rgba16, alpha: $0)
            }
            let shallow = try Self.frames(deep[0].size, [.opaque])
            for (frames, depth) in [(deep, 10), (deep + shallow, 10), (shallow + deep, 8)] {
                let decoder = try Self.read(Self.file(frames))
                #expect(decoder.header?.bitDepth == depth && decoder.header?.hasAlpha == true)
                for (index, frame) in frames.enumerated() where frame.alpha == .opaque {
                    let narrow = Image(pixels: try frame.pixels.narrowed(), info: frame.info)
                    #expect(try Self.image(decoder, index).bytes.meanDifference(to: narrow.bytes) < 4)
                }
            }
        }

        @Test func aStillIsASequenceOfOneFrame() throws {
            let image = try Drawings.picture(67, 141, layout: .rgba16, alpha: .straight)
            let bytes = try HEICSequenceCoder().encode(image, as: .heicSequence, EncodeOptions(quality: 95))
            #expect(ImageFormat(sniffing: bytes) == .heicSequence && bytes[8..<12].elementsEqual("hevx".utf8))
            let result = CoderDecode(HEICSequenceCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(
                result.error == nil && result.format == RowFormat(size: image.size, layout: .rgba16, alpha: .straight))
            #expect(result.header?.bitDepth == 10 && result.header?.frameCount == 1)
            let turned = try Drawings.picture(64, 48).with { $0.orientation = .right }
            let upright = try HEICSequenceCoder().encode(turned, as: .heicSequence, EncodeOptions())
            #expect(CoderDecode(HEICSequenceCoder(), upright).header?.size == turned.displaySize)
        }

        /// The profile of an encoder of stills states that there is only one picture.
        @Test(arguments: [ChromaSubsampling.automatic, .yuv444], [PixelLayout.rgba8, .rgba16])
        func theTracksDoNotClaimToBeStills(_ chroma: ChromaSubsampling, _ layout: PixelLayout) throws {
            var options = EncodeOptions()
            options.chroma = chroma
            let image = try Drawings.picture(64, 64, layout: layout, alpha: .straight)
            let bytes = try HEICSequenceCoder().encode(image, as: .heicSequence, options)
            let still = try HEIFCoder().encode(image, as: .heic, options)
            let all = Self.places(of: "hvcC", in: bytes).map { place in
                let length = bytes[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
                return bytes[place + 4..<place - 4 + length]
            }
            #expect(all.count == Self.places(of: "hvcC", in: still).count * 2)
            // The configurations of the tracks come after those of the items.
            for configuration in all.suffix(all.count / 2) {
                let profile = try HEVCConfiguration(configuration, limits: DecodeLimits()).parameters.profile
                #expect(profile[0] & 31 != 3 && profile[6] & 0x10 == 0)
                #expect(Array(configuration.dropFirst().prefix(12)) == profile)
            }
        }

        @Test func metadataOfTheFirstFrameIsReadBack() throws {
            let profile = try #require(ICCProfile.bytes(for: .described(ColorDescription(primaries: 12, transfer: 13))))
            let metadata = ImageMetadata(exif: EXIFMaker().block(), xmp: XMPMaker.packet(orientation: 1))
            let frames = try Self.frames(PixelSize(width: 64, height: 48), [.opaque, .opaque]).map {
                $0.with {
                    $0.iccProfile = profile
                    $0.metadata = metadata
                }
            }
            var options = EncodeOptions(keepsMetadata: true)
            options.embedsThumbnail = true
            let bytes = try Self.file(frames, options)
            for length in [Int.max, 900] {
                let header = try #require(CoderDecode(HEICSequenceCoder(), bytes, length: { length }).header)
                #expect(header.iccProfile == profile && header.metadata.xmp == metadata.xmp)
                #expect(header.metadata.exif?.isEmpty == false)
            }
            // The EXIF is written once, not in each frame.
            #expect(Self.places(of: "Exif", in: bytes).count == 1)
            let plain = CoderDecode(HEICSequenceCoder(), try Self.file(frames))
            #expect(plain.header?.metadata == ImageMetadata() && plain.header?.iccProfile == profile)
        }

        @Test func everyCutIsTruncatedData() throws {
            let bytes = try Self.file(Self.frames(PixelSize(width: 64, height: 48), [.straight, .opaque, .straight]))
            for length in stride(from: 0, to: bytes.count, by: 61) {
                let cut = CoderDecode(HEICSequenceCoder(), Array(bytes.prefix(length)))
                #expect(cut.error?.code == .truncatedData, "at \(length)")
            }
        }

        @Test func unequalFramesAndUnsupportedOptionsAreRefused() throws {
            let size = PixelSize(width: 64, height: 48)
            let frame = try Self.frames(size, [.opaque])[0]
            func encoder() throws -> any AnimationEncoder {
                try #require(
                    try HEICSequenceCoder().makeAnimationEncoder(
                        .heicSequence, AnimationDescription(size: size, loopCount: nil), EncodeOptions()))
            }
            func refusal(_ body: (any AnimationEncoder) throws -> Void) throws -> WebImageError.Code? {
                let encoder = try encoder()
                return #expect(throws: WebImageError.self) { try body(encoder) }?.code
            }
            #expect(try refusal { try $0.add(Drawings.picture(3, 3), delay: .seconds(1)) } == .cannotEncode)
            #expect(try refusal { _ = try $0.finish() } == .cannotEncode)
            // The colours are described once for all frames, so all frames must have the same.
            let other = frame.with { $0.colorDescription = ColorDescription(primaries: 12, transfer: 13) }
            #expect(
                try refusal {
                    try $0.add(frame, delay: .seconds(1))
                    try $0.add(other, delay: .seconds(1))
                } == .cannotEncode)
            let registry = CoderRegistry.standard
            let lossless = #expect(throws: WebImageError.self) {
                try registry.encode(frame, as: .heicSequence, EncodeOptions(isLossless: true))
            }
            #expect(lossless?.code == .cannotEncode)
            #expect(throws: WebImageError.self) {
                try HEICSequenceCoder().encode(frame, as: .heic, EncodeOptions())
            }
            #expect(
                try HEICSequenceCoder().makeAnimationEncoder(.heic, .init(size: size, loopCount: 0), .init()) == nil)
        }

        @Test func aFileHasLessThanFourGigabytes() throws {
            try HEICSequenceWriter.check(byteCount: 1 << 32 - 1)
            let error = #expect(throws: WebImageError.self) { try HEICSequenceWriter.check(byteCount: 1 << 32) }
            #expect(error?.code == .cannotEncode)
        }

        @Test func lowerQualityIsSmaller() throws {
            let frames = try (0..<3).map { try Drawings.noise(64, 64, alpha: .opaque, seed: UInt64($0)) }
            let sizes = try [20, 60, 90].map { try Self.file(frames, EncodeOptions(quality: $0)).count }
            #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
            #expect(try Self.file(frames, EncodeOptions()).count == sizes[1])
        }
    }

    /// Without an encoder, the same code refuses with the reason.
    @Suite(.enabled(if: HEICSequenceCoder().encodableFormats.isEmpty)) struct NoHEICSequenceEncoderTests {
        @Test func theLackOfAnEncoderIsTold() throws {
            let image = try Drawings.picture(8, 8)
            let refusal = #expect(throws: WebImageError.self) {
                try HEICSequenceCoder().encode(image, as: .heicSequence, EncodeOptions())
            }
            #expect(refusal?.code == .cannotEncode)
            let error = #expect(throws: WebImageError.self) {
                try CoderRegistry.standard.encode(image, as: .heicSequence)
            }
            #expect(error?.code == .formatNotBuilt)
        }
    }
#endif
