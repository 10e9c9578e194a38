#if HEIF
    import Testing
    import WebImageCore
    import WebImageTesting

    @testable import WebImageCodecs

    @Suite struct HEICSequenceTests {
        private typealias Maker = HEICSequenceMaker

        /// The decoder of a sequence's frames, and the error at which the file ended.
        private struct Frames {
            var decoder: (any AnimationDecoder)?
            var error: WebImageError?

            init(_ bytes: [UInt8], pieces: Int = 1 << 20, limits: DecodeLimits = DecodeLimits()) {
                do throws(WebImageError) {
                    let decoder = try HEICSequenceCoder().makeAnimationDecoder(
                        .heicSequence, DecodeOptions(limits: limits))
                    self.decoder = decoder
                    for start in stride(from: 0, to: bytes.count, by: pieces) {
                        let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
                        try piece.withUnsafeBufferPointer { piece throws(WebImageError) in
                            try decoder?.push(UnsafeRawBufferPointer(piece))
                        }
                    }
                    try decoder?.finish()
                } catch {
                    self.error = error
                }
            }

            func frame(_ index: Int) throws -> Pixels {
                let buffer = try #require(decoder).frame(at: index)
                return buffer.withBytes { Pixels(Array($0)) }
            }
        }

        /// Whether the pixels are those of this frame: the square, and the background around it.
        private func shows(_ pixels: Pixels, _ frame: Int, alpha: UInt8 = 255, by tolerance: Int = 14) -> Bool {
            let (square, background) = (Maker.square(of: frame), Maker.background(of: frame))
            func isNear(_ x: Int, _ y: Int, _ color: [UInt8]) -> Bool {
                let place = (y * 64 + x) * 4
                return (0..<4).allSatisfy { abs(Int(pixels.bytes[place + $0]) - Int(color[$0])) <= tolerance }
            }
            let outside = Array(background.dropLast()) + [alpha]
            return isNear(square.x.lowerBound + 8, 32, [255, 255, 255, 255])
                && isNear((square.x.lowerBound + 40) % 64, 32, outside) && isNear(3, 3, outside)
                && isNear(60, 60, outside)
        }

        @Test func framesComeInTheOrderOfShowing() throws {
            let frames = Frames(Maker().file())
            #expect(frames.error == nil)
            let header = try #require(frames.decoder?.header)
            #expect(header.format == .heicSequence && header.size == PixelSize(width: 64, height: 64))
            #expect(header.frameCount == 6 && header.loopCount == 0 && !header.hasAlpha)
            #expect(
                frames.decoder?.storedDelays == [100, 150, 50, 100, 100, 100].map { Duration.milliseconds($0) })
            for index in 0..<6 { #expect(shows(try frames.frame(index), index)) }
        }

        @Test func anyFrameCanBeAskedForAtAnyTime() throws {
            let frames = Frames(Maker().file())
            let all = try (0..<6).map { try frames.frame($0) }
            for index in [5, 0, 3, 3, 1, 4, 2, 5, 5, 4, 0] { #expect(try frames.frame(index) == all[index]) }
        }

        /// The fifth frame needs no other, so the first four are not decoded for those after it.
        @Test func decodingBeginsAtTheNearestPictureThatNeedsNoOther() throws {
            let decoder = try #require(Frames(Maker().file()).decoder)
            #expect(decoder.firstFrameNeeded(for: 3) == 0 && decoder.firstFrameNeeded(for: 5) == 4)
            _ = try decoder.frame(at: 1)
            #expect(decoder.firstFrameNeeded(for: 3) == 2 && decoder.firstFrameNeeded(for: 1) == 1)
            #expect(decoder.firstFrameNeeded(for: 0) == 0 && decoder.firstFrameNeeded(for: 5) == 4)
        }

        @Test func alphaIsATrackOfItsOwn() throws {
            let frames = Frames(Maker(hasAlpha: true).file())
            #expect(frames.error == nil && frames.decoder?.header?.hasAlpha == true)
            for index in [0, 4, 2, 5, 1, 3] {
                #expect(shows(try frames.frame(index), index, alpha: Maker.clear))
            }
        }

        /// Premultiplied colours are divided by alpha. A value of 100 at an alpha of 40 exceeds the range and becomes
        /// 255.
        @Test func premultipliedColoursAreDivided() throws {
            let pixels = try Frames(Maker(hasAlpha: true, isPremultiplied: true).file()).frame(0).bytes
            let corner = (3 * 64 + 3) * 4
            #expect(pixels[corner + 1] == 255 && (30..<50).contains(pixels[corner + 3]))
        }

        @Test(arguments: [(nil, 0), (0, 0), (1, 1), (3, 3)] as [(Int?, Int)])
        func repetitionsAreRead(_ loops: Int?, _ expected: Int) {
            #expect(Frames(Maker(loops: loops).file()).decoder?.header?.loopCount == expected)
        }

        @Test func piecesAndTheOrderOfBoxesDoNotMatter() throws {
            let whole = Frames(Maker().file())
            for dataFirst in [false, true] {
                let frames = Frames(Maker(dataFirst: dataFirst).file(), pieces: 7)
                #expect(frames.error == nil)
                for index in 0..<6 { #expect(try frames.frame(index) == whole.frame(index)) }
            }
        }

        @Test func aStillIsTheFirstFrame() throws {
            let bytes = Maker(hasAlpha: true).file()
            #expect(ImageFormat(sniffing: bytes) == .heicSequence)
            let still = CoderDecode(HEICSequenceCoder(), bytes)
            #expect(still.error == nil && still.header?.frameCount == 6)
            #expect(try still.pixels == Frames(bytes).frame(0))
            #expect(CoderDecode(HEICSequenceCoder(), bytes, wantsRows: false).error == nil)
            #expect(CoderDecode(HEICSequenceCoder(), bytes, length: { 5 }).pixels == still.pixels)
        }

        @Test func turnsAndCropsOfATrackAreApplied() throws {
            let crop = BoxWriter.box("clap", [32, 1, 16, 1, 0, 1, 0, 1].flatMap { BoxWriter.number($0, 4) })
            let quarter = [0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30]
            let frames = Frames(Maker(matrix: quarter, properties: crop).file())
            let header = try #require(frames.decoder?.header)
            #expect(header.size == PixelSize(width: 32, height: 16) && header.orientation == .right)
            #expect(header.storedSize == PixelSize(width: 64, height: 64))
            // The square of the third frame spans columns 16 to 32, which are the left half of the crop.
            let pixels = try frames.frame(2).bytes
            let row = 8 * 32 * 4
            #expect(pixels.count == 32 * 16 * 4 && pixels[row + 4 * 4] > 240 && pixels[row + 24 * 4] < 80)
        }

        // MARK: Damage

        @Test func everyCutIsTruncatedData() throws {
            let bytes = Maker(hasAlpha: true).file()
            for length in stride(from: 40, to: bytes.count, by: 97) {
                let frames = Frames(Array(bytes[..<length]))
                #expect(frames.error?.code == .truncatedData)
                for index in 0..<(frames.decoder?.storedDelays.count ?? 0) { _ = try frames.frame(index) }
                #expect(CoderDecode(HEICSequenceCoder(), Array(bytes[..<length])).error != nil)
            }
        }

        /// For pictures that are never shown, a decoder asks for all that follow. Their bytes may not have arrived.
        @Test func aFrameIsAnErrorUntilItsHiddenPicturesHaveArrived() throws {
            let bytes = Maker(change: { samples in
                var hidden = samples[1]
                // A picture of this kind needs pictures before the first one, which begins the sequence (H.265, table
                // 7-1).
                hidden[4] = 8 << 1
                samples = [samples[0]] + [[UInt8]](repeating: hidden, count: 23)
            }).file()
            #expect(shows(try Frames(bytes).frame(0), 0))
            let frames = Frames(Array(bytes.dropLast(100)))
            #expect(frames.error?.code == .truncatedData)
            #expect(try #require(frames.decoder).storedDelays.count > 0)
            #expect(throws: WebImageError.self) { try frames.frame(0) }
        }

        /// A picture that depends on a damaged one is not shown; one that needs no other is.
        @Test func aDamagedPictureIsAnErrorAndNotItsNeighboursColours() throws {
            let frames = Frames(
                Maker(change: { samples in
                    for index in 30..<44 { samples[1][index] ^= 0x5A }
                }).file())
            #expect(frames.error == nil)
            #expect(throws: WebImageError.self) { try frames.frame(3) }
            for index in 4..<6 { #expect(shows(try frames.frame(index), index)) }
        }

        @Test func noChangeOfAByteCrashes() {
            let bytes = Maker(hasAlpha: true).file()
            var (refused, decoded) = (0, 0)
            for place in stride(from: 0, to: bytes.count, by: 23) {
                var changed = bytes
                changed[place] = changed[place] ^ 0x81
                let frames = Frames(changed)
                if frames.error != nil { refused += 1 }
                for index in 0..<(frames.decoder?.storedDelays.count ?? 0) where (try? frames.frame(index)) != nil {
                    decoded += 1
                }
                _ = CoderDecode(HEICSequenceCoder(), changed)
            }
            #expect(refused > 5 && decoded > 5)
        }

        @Test func tablesThatContradictThemselvesAreCorrupt() {
            for claimed in [0, 7, 1 << 31] {
                #expect(Frames(Maker(claimed: claimed).file()).error?.code == .corruptData)
            }
            // If a table claims fewer frames than there are, the rest is ignored.
            #expect(Frames(Maker(claimed: 2).file()).decoder?.storedDelays.count == 2)
        }

        /// The decoder once counted to four thousand million, which took seconds.
        @Test(.timeLimit(.minutes(1))) func aTableThatClaimsTooManyChunksIsReadToItsEnd() throws {
            var bytes = Maker().file()
            let table = try #require(bytes.firstRange(of: Array("stco".utf8)))
            bytes.replaceSubrange(table.upperBound + 4..<table.upperBound + 8, with: [255, 255, 255, 255])
            let frames = Frames(bytes)
            #expect(frames.error == nil && frames.decoder?.storedDelays.count == Maker.count)
        }

        /// Such a table once ended the process.
        @Test func aTableOfStartsWithoutACountIsCorrupt() throws {
            var bytes = Maker().file()
            let table = try #require(bytes.firstRange(of: Array("stss".utf8)))
            // The rest of its 24 bytes is a box of its own.
            bytes.replaceSubrange(table.lowerBound - 4..<table.lowerBound, with: [0, 0, 0, 12])
            bytes.replaceSubrange(
                table.upperBound + 4..<table.upperBound + 12, with: [0, 0, 0, 12] + Array("free".utf8))
            #expect(Frames(bytes).error?.code == .corruptData)
            #expect(decode(bytes).error?.code == .corruptData)
        }

        /// The decoder once copied each picture before the wanted one to find out with which it may begin.
        @Test func withoutATableOfStartsTheyAreFound() throws {
            var bytes = Maker().file()
            let table = try #require(bytes.firstRange(of: Array("stss".utf8)))
            bytes.replaceSubrange(table, with: Array("free".utf8))
            let frames = Frames(bytes)
            for index in [5, 1, 3, 0, 4] { #expect(shows(try frames.frame(index), index)) }
        }

        @Test func limitsHold() {
            let bytes = Maker().file()
            #expect(Frames(bytes, limits: DecodeLimits(frames: 3)).error?.code == .limitExceeded)
            #expect(Frames(bytes, limits: DecodeLimits(frames: 3)).decoder?.storedDelays.count == 3)
            // The limit counts all pictures that the decoder may have to keep for later ones.
            #expect(Frames(bytes, limits: DecodeLimits(pixels: 64 * 64 * 8 - 1)).error?.code == .limitExceeded)
            #expect(Frames(bytes, limits: DecodeLimits(pixels: 64 * 64 * 8)).error == nil)
            #expect(
                CoderDecode(HEICSequenceCoder(), bytes, options: DecodeOptions(limits: DecodeLimits(frames: 1))).error
                    == nil)
        }

        /// The brand of a sequence alone does not make the file a sequence.
        @Test func aStillThatClaimsToBeASequenceIsDecoded() {
            let bytes = HEIFMaker.file(items: [], properties: [], brand: "hevc")
            #expect(CoderDecode(HEICSequenceCoder(), bytes).error?.code == .corruptData)
            let track = BoxWriter.box("moov", [])
            let error = CoderDecode(
                HEICSequenceCoder(), BoxWriter.box("ftyp", Array("hevc".utf8) + [0, 0, 0, 0]) + track
            ).error
            #expect(error?.code == .unsupportedFeature)
        }
    }
#endif
