#if AVIF && JXL
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// Animations in formats whose libraries return whole frames. The files are written by our own encoders.
    @Suite(.enabled(if: !AVIFCoder().encodableFormats.isEmpty)) struct WholeFrameAnimationTests {
        enum Kind: String, CaseIterable, CustomTestStringConvertible {
            case avif, jxl

            var testDescription: String { rawValue }
            var coder: any ImageCoder { self == .avif ? AVIFCoder() : JXLCoder() }
            var format: ImageFormat { self == .avif ? .avifSequence : .jxl }
        }

        static let size = PixelSize(width: 37, height: 22)
        static let delays: [Duration] = [40, 100, 1, 70_000, 250].map { .milliseconds($0) }

        static func frames() throws -> [Image] {
            try (0..<delays.count).map {
                try Drawings.noise(size.width, size.height, alpha: $0 % 2 == 0 ? .straight : .opaque, seed: UInt64($0))
            }
        }

        static func file(
            _ kind: Kind, loopCount: Int? = 0, _ options: EncodeOptions = EncodeOptions(isLossless: true)
        ) throws -> [UInt8] {
            let description = AnimationDescription(size: size, loopCount: loopCount)
            let encoder = try #require(try kind.coder.makeAnimationEncoder(kind.format, description, options))
            for (frame, delay) in zip(try frames(), delays) { try encoder.add(frame, delay: delay) }
            return try encoder.finish()
        }

        struct Reading {
            var decoder: any AnimationDecoder
            var error: WebImageError?
        }

        static func read(
            _ kind: Kind, _ bytes: [UInt8], _ limits: DecodeLimits = .default, length: () -> Int = { .max }
        ) throws -> Reading {
            let options = DecodeOptions(limits: limits)
            var reading = Reading(
                decoder: try #require(try kind.coder.makeAnimationDecoder(kind.format, options)))
            do throws(WebImageError) {
                try pushPieces(of: bytes, length) { piece, _ throws(WebImageError) in
                    try reading.decoder.push(piece)
                }
                try reading.decoder.finish()
            } catch { reading.error = error }
            return reading
        }

        /// The picture's pixels as decoders return them: the stored alpha of an opaque picture is ignored.
        static func pixels(_ image: Image) -> [UInt8] {
            var bytes = image.withPixels { Array($0) }
            if image.alpha == .opaque { for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 } }
            return bytes
        }

        static func pixels(_ buffer: PixelBuffer) -> [UInt8] { buffer.withBytes { Array($0) } }

        @Test(arguments: Kind.allCases)
        func losslessFramesComeBackExactlyInAnyOrder(_ kind: Kind) throws {
            let bytes = try Self.file(kind)
            #expect(ImageFormat(sniffing: bytes) == kind.format)
            let reading = try Self.read(kind, bytes, length: randomLengths(seed: 3, most: 500))
            #expect(reading.error == nil)
            let decoder = reading.decoder
            #expect(decoder.storedDelays == Self.delays)
            #expect(decoder.header?.size == Self.size && decoder.header?.frameCount == Self.delays.count)
            #expect(decoder.header?.hasAlpha == true && decoder.encodedByteCount == bytes.count)
            let expected = try Self.frames().map { Self.pixels($0) }
            var random = SeededGenerator(seed: 11)
            let indices = Array(expected.indices)
            for index in indices + indices.reversed() + indices.shuffled(using: &random) + [2, 2, 4, 0] {
                let isSame = Self.pixels(try decoder.frame(at: index)) == expected[index]
                #expect(isSame, "frame \(index)")
            }
        }

        @Test(arguments: Kind.allCases, [0, 1, 3, nil] as [Int?])
        func theLoopCountIsKept(_ kind: Kind, _ loopCount: Int?) throws {
            let header = try Self.read(kind, Self.file(kind, loopCount: loopCount)).decoder.header
            // A loop count of nil is written as one: a JPEG XL cannot leave it out, and an AVIF without it is played
            // for ever.
            #expect(header?.loopCount == loopCount ?? 1)
        }

        @Test(arguments: Kind.allCases)
        func theStillDecoderKnowsTheAnimation(_ kind: Kind) throws {
            let bytes = try Self.file(kind)
            for wantsRows in [true, false] {
                let result = CoderDecode(kind.coder, bytes, wantsRows: wantsRows, length: { 100 })
                #expect(result.error == nil)
                #expect(result.header?.frameCount == Self.delays.count && result.header?.loopCount == 0)
                let first = Self.pixels(try Self.frames()[0])
                #expect(result.pixels.bytes == (wantsRows ? first : []))
            }
        }

        @Test(arguments: Kind.allCases)
        func framesCanBeShownWhileOthersStillCome(_ kind: Kind) throws {
            let bytes = try Self.file(kind)
            let expected = try Self.frames().map { Self.pixels($0) }
            let decoder = try #require(try kind.coder.makeAnimationDecoder(kind.format, DecodeOptions()))
            var (shown, early) = (0, 0)
            for start in stride(from: 0, to: bytes.count, by: 64) {
                let piece = Array(bytes[start..<min(start + 64, bytes.count)])
                try piece.withUnsafeBytes { try decoder.push($0) }
                while shown < decoder.storedDelays.count {
                    #expect(Self.pixels(try decoder.frame(at: shown)) == expected[shown])
                    shown += 1
                    if start + 64 < bytes.count { early += 1 }
                }
            }
            try decoder.finish()
            shown = decoder.storedDelays.count
            #expect(shown == expected.count && early >= expected.count - 1)
        }

        @Test(arguments: Kind.allCases)
        func aCutFileKeepsTheFramesBeforeTheCut(_ kind: Kind) throws {
            let bytes = try Self.file(kind)
            let expected = try Self.frames().map { Self.pixels($0) }
            var most = 0
            for place in 0..<50 {
                let length = place * (bytes.count - 1) / 49
                let reading = try Self.read(kind, Array(bytes.prefix(length)), length: { 1 + length % 300 })
                #expect(reading.error?.code == .truncatedData, "at \(length)")
                let count = reading.decoder.storedDelays.count
                for index in (0..<count).reversed() {
                    let isSame = Self.pixels(try reading.decoder.frame(at: index)) == expected[index]
                    #expect(isSame, "frame \(index) of a file cut at \(length)")
                }
                most = max(most, count)
            }
            #expect(most >= expected.count - 1)
        }

        @Test(arguments: Kind.allCases)
        func flippedBitsGiveATypedAnswer(_ kind: Kind) throws {
            var generator = SeededGenerator(seed: 21)
            let bytes = try Self.file(kind, EncodeOptions(quality: 50))
            let limits = DecodeLimits(pixels: 1 << 16, animationPixels: 1 << 20, frames: 50)
            var (failures, frames) = (0, 0)
            for _ in 0..<200 {
                let reading = try Self.read(kind, bytes.damaged(by: &generator), limits)
                if let error = reading.error {
                    failures += 1
                    #expect(typedCodes.contains(error.code), "\(error)")
                }
                for index in reading.decoder.storedDelays.indices.reversed() {
                    do throws(WebImageError) {
                        _ = try reading.decoder.frame(at: index)
                        frames += 1
                    } catch {
                        failures += 1
                        #expect(typedCodes.contains(error.code), "\(error)")
                    }
                }
            }
            #expect(failures > 20 && frames > 20)
        }

        @Test(arguments: Kind.allCases)
        func limitsHold(_ kind: Kind) throws {
            let bytes = try Self.file(kind)
            let (count, area) = (Self.delays.count, Self.size.width * Self.size.height)
            for limits in [
                DecodeLimits(frames: count - 1), DecodeLimits(pixels: area - 1),
                DecodeLimits(animationPixels: count * area - 1), DecodeLimits(bytes: ByteCount(bytes.count - 1)),
            ] {
                #expect(try Self.read(kind, bytes, limits).error?.code == .limitExceeded)
            }
            let exact = DecodeLimits(
                pixels: area, animationPixels: count * area, frames: count, bytes: ByteCount(bytes.count))
            #expect(try Self.read(kind, bytes, exact).error == nil)
        }

        /// The picture has 8 x 8 pixels, but one of its layers has 300 x 300. libjxl 0.7 would decode a layer of any
        /// size.
        @Test func aLayerLargerThanTheLimitIsRefused() throws {
            let bytes: [UInt8] = [
                0xFF, 0x0A, 0x41, 0x04, 0x03, 0x88, 0x09, 0x08, 0x22, 0x00, 0x00, 0xC4, 0x82, 0x58, 0x00, 0x02, 0x00,
                0x20, 0x00, 0x00, 0x00, 0x40, 0x00, 0x04, 0x40, 0x00, 0x04, 0x00, 0x4B, 0x12, 0xA5, 0x42, 0x85, 0x24,
                0x1C, 0x00, 0x03, 0x03, 0x03, 0x03, 0x08, 0x02, 0x92, 0x05, 0x00, 0x20, 0x00, 0x4B, 0x12, 0xA5, 0x42,
                0x85, 0x24, 0x1C, 0x00,
            ]
            for (pixels, code) in [(90_000, nil), (89_999, WebImageError.Code.limitExceeded)] {
                let limits = DecodeLimits(pixels: pixels)
                #expect(try Self.read(.jxl, bytes, limits).error?.code == code)
                #expect(CoderDecode(JXLCoder(), bytes, options: DecodeOptions(limits: limits)).error?.code == code)
            }
            let layers = DecodeLimits(animationPixels: 90_063)
            #expect(
                CoderDecode(JXLCoder(), bytes, options: DecodeOptions(limits: layers)).error?.code == .limitExceeded)
        }

        @Test(arguments: Kind.allCases)
        func theCheckpointEndsAFrame(_ kind: Kind) throws {
            let calls = Counter()
            let options = DecodeOptions { () throws(WebImageError) in
                if calls.next() == 1 { throw WebImageError(.cancelled, "enough") }
            }
            let decoder = try #require(try kind.coder.makeAnimationDecoder(kind.format, options))
            try Self.file(kind).withUnsafeBytes { try decoder.push($0) }
            let error = #expect(throws: WebImageError.self) { try decoder.frame(at: 1) }
            #expect(error?.code == .cancelled)
            // The same frame can be requested again.
            #expect(Self.pixels(try decoder.frame(at: 1)) == Self.pixels(try Self.frames()[1]))
        }

        @Test(arguments: Kind.allCases)
        func aFrameOfAnotherSizeAndAnEmptyAnimationAreRefused(_ kind: Kind) throws {
            let description = AnimationDescription(size: Self.size, loopCount: nil)
            let encoder = try #require(
                try kind.coder.makeAnimationEncoder(kind.format, description, EncodeOptions()))
            let other = #expect(throws: WebImageError.self) {
                try encoder.add(Drawings.picture(3, 3), delay: .seconds(1))
            }
            let none = #expect(throws: WebImageError.self) { try encoder.finish() }
            #expect(other?.code == .cannotEncode && none?.code == .cannotEncode)
        }

        /// Chrome plays a sequence without an edit list for ever, because libavif before 1.0 wrote none. A sequence
        /// whose list does not repeat is played once.
        @Test func aSequenceThatSaysNothingIsPlayedForEver() throws {
            let frames = try (0..<2).map { try Drawings.noise(Self.size.width, Self.size.height, seed: UInt64($0)) }
            let bytes = try encodeAnimation(frames, as: .avif, loopCount: 3)
            #expect(try Self.read(.avif, bytes).decoder.header?.loopCount == 3)
            let places = bytes.indices.dropLast(12).filter { bytes[$0..<$0 + 4].elementsEqual("elst".utf8) }
            #expect(places.count == 2)
            var (silent, once) = (bytes, bytes)
            for place in places {
                // The box around the list is removed, too: libavif 1.0 takes an empty box for a list that does not
                // repeat.
                silent.replaceSubrange(place - 8..<place - 4, with: "free".utf8)
                once[place + 7] = 0
            }
            #expect(try Self.read(.avif, silent).decoder.header?.loopCount == 0)
            #expect(try Self.read(.avif, once).decoder.header?.loopCount == 1)
        }

        /// ffmpeg states the largest signed number of ticks for an endless sequence, which was once read as 9 * 10^15
        /// repetitions.
        @Test(arguments: [UInt8(0xFF), 0x7F]) func theLongestDurationIsNoEnd(firstByte: UInt8) throws {
            let frames = try (0..<2).map { try Drawings.noise(Self.size.width, Self.size.height, seed: UInt64($0)) }
            var bytes = try encodeAnimation(frames, as: .avif, loopCount: 3)
            let places = bytes.indices.dropLast(44).filter { bytes[$0..<$0 + 4].elementsEqual("tkhd".utf8) }
            #expect(!places.isEmpty)
            for place in places {
                #expect(bytes[place + 4] == 1)
                // Before the duration are the version and flags, two times of 8 bytes, the track's number, and 4
                // reserved bytes.
                let duration = place + 4 + 28
                bytes.replaceSubrange(duration..<duration + 8, with: [firstByte] + [UInt8](repeating: 0xFF, count: 7))
            }
            #expect(try Self.read(.avif, bytes).decoder.header?.loopCount == 0)
        }

        @Test func aSequenceIsEnteredAtTheNearestKeyframe() throws {
            let encoder = try #require(
                try AVIFCoder().makeAnimationEncoder(
                    .avifSequence, AnimationDescription(size: Self.size, loopCount: nil), EncodeOptions()))
            let frame = try Drawings.picture(Self.size.width, Self.size.height)
            for _ in 0..<40 { try encoder.add(frame, delay: .milliseconds(20)) }
            // Some encoders make the second frame a keyframe too.
            let decoder = try Self.read(.avif, encoder.finish()).decoder
            #expect(decoder.firstFrameNeeded(for: 31) <= 1 && decoder.firstFrameNeeded(for: 35) >= 32)
            _ = try decoder.frame(at: 33)
            #expect(decoder.firstFrameNeeded(for: 35) == 34 && decoder.firstFrameNeeded(for: 33) == 33)
            #expect(decoder.firstFrameNeeded(for: 5) <= 1)
        }

        /// Slow changes of colours and alpha. With them, libaom 3.6 crashed or lost some frames at speeds from 7 on.
        @Test(arguments: [7, 8, 10], [true, false])
        func fastSequencesAreWrittenAsWellAsOthers(speed: Int, isLossless: Bool) throws {
            let size = PixelSize(width: 64, height: 48)
            var options = EncodeOptions(quality: 100, isLossless: isLossless)
            options.avifSpeed = speed
            let frames = try (0..<24).map { number in
                try Image(size: size, alpha: .straight) { bytes in
                    for y in 0..<size.height {
                        for x in 0..<size.width {
                            for channel in 0..<4 {
                                let wave = (x * (3 + channel) + y * (5 - channel) + number * 7) % 512 - 256
                                bytes[(y * size.width + x) * 4 + channel] = UInt8(min(abs(wave), 255))
                            }
                        }
                    }
                }
            }
            let decoder = try Self.read(.avif, encodeAnimation(frames, as: .avif, options)).decoder
            #expect(decoder.storedDelays.count == frames.count)
            for (index, frame) in frames.enumerated() {
                let found = try decoder.frame(at: index)
                if isLossless {
                    #expect(Self.pixels(found) == Self.pixels(frame))
                } else {
                    #expect(Pixels(Self.pixels(found)).meanDifference(to: frame.bytes) < 1.5)
                }
            }
        }

        @Test(arguments: Kind.allCases, [AlphaMode.opaque, .straight])
        func aLosslessStillComesBackExactly(_ kind: Kind, _ alpha: AlphaMode) throws {
            let image = try Drawings.noise(45, 70, alpha: alpha)
            let format: ImageFormat = kind == .avif ? .avif : .jxl
            let bytes = try kind.coder.encode(image, as: format, EncodeOptions(quality: 10, isLossless: true))
            let result = CoderDecode(kind.coder, bytes)
            #expect(result.error == nil && result.pixels.bytes == Self.pixels(image))
        }

        @Test func sixteenBitsAreLosslessAsJXLAndRefusedAsAVIF() throws {
            let image = try Drawings.picture(20, 10, layout: .rgba16)
            let bytes = try JXLCoder().encode(image, as: .jxl, EncodeOptions(isLossless: true))
            let result = CoderDecode(JXLCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.pixels.bytes == image.withPixels { Array($0) })
            let error = #expect(throws: WebImageError.self) {
                try AVIFCoder().encode(image, as: .avif, EncodeOptions(isLossless: true))
            }
            #expect(error?.code == .cannotEncode)
        }
    }
#endif
