#if AVIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageSystem
    import WebImageTesting

    @Suite(.enabled(if: !AVIFCoder().encodableFormats.isEmpty)) struct AVIFTests {
        static func file(_ image: Image, _ options: EncodeOptions = EncodeOptions()) throws -> [UInt8] {
            try AVIFCoder().encode(image, as: .avif, options)
        }

        @Test(arguments: [(PixelLayout.rgba8, AlphaMode.opaque), (.rgba8, .straight), (.rgba16, .straight)])
        func anEncodedPictureDecodesToAlmostTheSamePixels(layout: PixelLayout, alpha: AlphaMode) throws {
            // The picture has more rows than a band, and odd sides.
            let image = try Drawings.picture(67, 141, layout: layout, alpha: alpha)
            let bytes = try Self.file(image, EncodeOptions(quality: 95))
            #expect(ImageFormat(sniffing: bytes) == .avif)
            let result = CoderDecode(AVIFCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil)
            #expect(result.format == RowFormat(size: image.size, layout: layout, alpha: alpha))
            #expect(result.header?.bitDepth == (layout == .rgba16 ? 10 : 8))
            #expect(result.header?.hasAlpha == (alpha != .opaque))
            let step = layout == .rgba16 ? 2 : 1
            let original = image.withPixels { Array($0) }
            var (difference, count) = (0, 0)
            for index in stride(from: step - 1, to: original.count, by: step) {
                // The colour of nearly transparent pixels may change.
                if original[index / (4 * step) * 4 * step + 4 * step - 1] < 16 { continue }
                difference += abs(Int(original[index]) - Int(result.pixels.bytes[index]))
                count += 1
            }
            #expect(count > 10_000 && Double(difference) / Double(count) < 4)
        }

        /// libavif writes the creation time of a sequence. The same frames once gave another file a second later.
        @Test func aSequenceHoldsNoTimeOfWriting() throws {
            let frame = try Drawings.picture(24, 16)
            let description = AnimationDescription(size: frame.size, loopCount: 1)
            let encoder = try #require(
                try AVIFCoder().makeAnimationEncoder(.avifSequence, description, EncodeOptions()))
            for _ in 0..<2 { try encoder.add(frame, delay: .milliseconds(40)) }
            let bytes = try encoder.finish()
            for name in ["mvhd", "tkhd", "mdhd"] {
                let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) })
                #expect(bytes[start + 4] == 1 && bytes[start + 8..<start + 24].allSatisfy { $0 == 0 }, "\(name)")
            }
        }

        @Test func idleThreadsChangeNoPixel() throws {
            let bytes = try Self.file(Drawings.picture(300, 400, alpha: .straight))
            var helped = DecodeOptions()
            helped.idleThreads = ThreadPool(name: "idle", width: 4)
            let results = [DecodeOptions(), helped].map { CoderDecode(AVIFCoder(), bytes, options: $0) }
            #expect(results[0].error == nil && results[1].error == nil)
            #expect(results[0].pixels == results[1].pixels)
        }

        @Test(arguments: Orientation.allCases)
        func theOrientationIsKept(_ orientation: Orientation) throws {
            let image = try Drawings.picture(16, 8).with { $0.orientation = orientation }
            let result = CoderDecode(AVIFCoder(), try Self.file(image))
            #expect(result.header?.orientation == orientation && result.header?.size == image.size)
            #expect(ItemTransforms(orientation).orientation == orientation)
        }

        @Test func lowerQualityIsSmaller() throws {
            let image = try Drawings.noise(64, 64, alpha: .opaque)
            #expect(
                try Self.file(image, EncodeOptions(quality: 20)).count
                    < Self.file(image, EncodeOptions(quality: 80)).count)
        }

        @Test func anotherFormatIsNotWritten() throws {
            let image = try Drawings.picture(4, 4)
            let error = #expect(throws: WebImageError.self) {
                try AVIFCoder().encode(image, as: .png, EncodeOptions())
            }
            #expect(error?.code == .cannotEncode)
        }

        @Test func everyCutIsTruncated() throws {
            let bytes = try Self.file(Drawings.picture(40, 30, alpha: .straight))
            for length in 0..<bytes.count {
                let cut = CoderDecode(AVIFCoder(), Array(bytes.prefix(length)), length: { 1 + length % 90 })
                #expect(cut.error?.code == .truncatedData, "at \(length): \(String(describing: cut.error))")
            }
        }

        @Test(arguments: 0..<4)
        func flippedBitsGiveATypedAnswer(seed: Int) throws {
            var generator = SeededGenerator(seed: UInt64(seed))
            let bytes = try Self.file(Drawings.picture(40, 30, alpha: .straight))
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 20))
            var failures = 0
            for _ in 0..<150 {
                let result = CoderDecode(AVIFCoder(), bytes.damaged(by: &generator), options: options)
                guard let error = result.error else { continue }
                failures += 1
                #expect(typedCodes.contains(error.code), "\(error)")
            }
            #expect(failures > 10)
        }

        @Test func limitsAreLookedAtBeforeADecode() throws {
            let bytes = try Self.file(Drawings.picture(40, 30))
            for limits in [DecodeLimits(pixels: 1199), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
                let result = CoderDecode(AVIFCoder(), bytes, options: DecodeOptions(limits: limits))
                #expect(result.error?.code == .limitExceeded && result.format == nil)
            }
            let exact = DecodeLimits(pixels: 1200, bytes: ByteCount(bytes.count))
            #expect(CoderDecode(AVIFCoder(), bytes, options: DecodeOptions(limits: exact)).error == nil)
        }

        @Test func aPlanWithoutASinkStopsAtTheHeader() throws {
            let result = CoderDecode(AVIFCoder(), try Self.file(Drawings.picture(40, 30)), wantsRows: false)
            #expect(result.error == nil && result.header?.size == PixelSize(width: 40, height: 30))
            #expect(result.format == nil)
        }

        @Test func theCheckpointEndsADecode() throws {
            let bytes = try Self.file(Drawings.picture(40, 130))
            let calls = Counter()
            let options = DecodeOptions { () throws(WebImageError) in
                if calls.next() == 4 { throw WebImageError(.cancelled, "enough") }
            }
            let result = CoderDecode(AVIFCoder(), bytes, options: options)
            #expect(result.error?.code == .cancelled && result.pixels.count == 64 * 40 * 4)
        }
    }
#endif
