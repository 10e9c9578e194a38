import Testing
import WebImageCodecs
import WebImageCore

@Suite struct BMPDecodeTests {
    @Test(arguments: BMPMaker.samples.indices)
    func everyKindIsRead(sample: Int) {
        let maker = BMPMaker.samples[sample]
        let whole = decode(maker.file)
        #expect(whole.error == nil && whole.wasComplete)
        #expect(whole.pixels == Pixels(maker.shown))
        #expect(whole.header?.hasAlpha == (maker.masks.count == 4))
        let pieces = decode(maker.file, keepsWhole: false, length: randomLengths(seed: 2, most: 30))
        #expect(pieces.error == nil && pieces.pixels == whole.pixels)
    }

    @Test func theDensityIsWrittenWhereMetadataIsKept() throws {
        let image = try Image(size: PixelSize(width: 3, height: 2)) { _ in }.replacingMetadata(
            ImageMetadata(density: PixelDensity(horizontal: 300, vertical: 150)))
        let kept = decode(try BMPCoder().encode(image, as: .bmp, EncodeOptions(keepsMetadata: true)))
        let density = try #require(kept.header?.metadata.density)
        #expect(abs(density.horizontal - 300) < 0.02 && abs(density.vertical - 150) < 0.02)
        let plain = decode(try BMPCoder().encode(image, as: .bmp, EncodeOptions()))
        #expect(abs((plain.header?.metadata.density?.horizontal ?? 0) - 72) < 0.02)
    }

    @Test func runsAreUnpacked() {
        for (bytes, rows) in [(BMPMaker.runs8, BMPMaker.shown8), (BMPMaker.runs4, BMPMaker.shown4)] {
            let expected = Pixels(rows.flatMap { $0 }.flatMap { [$0 * 10, $0 * 10, $0 * 10, 255] })
            #expect(decode(bytes).pixels == expected)
            let pieces = decode(bytes, keepsWhole: false) { 1 }
            #expect(pieces.error == nil && pieces.pixels == expected && pieces.wasComplete)
        }
    }

    @Test func runsMayEndWithTheLastPixel() {
        let whole = decode(BMPMaker.runs4)
        for keepsWhole in [true, false] {
            let unended = decode(Array(BMPMaker.runs4.dropLast(2)), keepsWhole: keepsWhole)
            #expect(unended.error == nil && unended.pixels == whole.pixels)
        }
        let early = decode(Array(BMPMaker.runs4.dropLast(4)))
        #expect(early.error?.code == .truncatedData)
    }

    @Test func anyNumberOfJumpsIsNotTooDeep() {
        let result = decode(BMPMaker.jumps(500_000))
        #expect(
            result.error == nil
                && result.pixels
                    == Pixels(
                        [UInt8](repeating: 0, count: 5 * 5 * 4).enumerated().map {
                            $0.offset % 4 == 3 ? 255 : 0
                        })
        )
    }

    @Test func aPaletteThatContradictsItselfIsReadAsFarAsThereIsRoom() {
        let plain = BMPMaker(8, seed: 4, width: 16, height: 16)
        let tooMany = plain.with { $0.colorsUsed = 100_000 }
        #expect(decode(tooMany.file).pixels == Pixels(plain.shown))
        let tooFew = BMPMaker(8, seed: 4, width: 16, height: 16).with { $0.palette = Array($0.palette.prefix(20)) }
        #expect(decode(tooFew.file).pixels == Pixels(tooFew.shown))
        let overlapping = tooFew.with { $0.colorsUsed = 256 }
        #expect(decode(overlapping.file).pixels == Pixels(tooFew.shown))
        for offset in [0, 20] {
            #expect(decode(plain.with { $0.pixelOffset = offset }.file).pixels == Pixels(plain.shown))
        }
        let colorsOfNoUse = BMPMaker(24, seed: 4).with { ($0.palette, $0.colorsUsed) = ([[1, 2, 3]], 1) }
        #expect(decode(colorsOfNoUse.file).pixels == Pixels(colorsOfNoUse.shown))
    }

    @Test func rowsOfATopDownFileComeAtOnce() {
        let maker = BMPMaker(24, width: 10, height: 40).with { $0.isTopDown = true }
        let cut = decode(Array(maker.file.dropLast(40)), keepsWhole: false) { 100 }
        #expect(cut.error?.code == .truncatedData && cut.rows == 38 && cut.commits > 5)
        #expect(cut.pixels == Pixels(maker.shown).prefix(38 * 40))
    }

    @Test(arguments: [1, 4, 8, 16, 24, 32], [false, true])
    func aWholeFileGivesTheSameRowsAsItsPieces(_ bits: Int, isTopDown: Bool) {
        let file = BMPMaker(bits, width: 13, height: 150).with { $0.isTopDown = isTopDown }.file
        let whole = decode(file, keepsWhole: false)
        let pieces = decode(file, keepsWhole: false) { 77 }
        #expect(whole.error == nil && pieces.error == nil && whole.rows == 150 && pieces.rows == 150)
        #expect(whole.pixels == pieces.pixels && whole.pixels == decode(file).pixels)
    }

    @Test func aCutFileThatBeginsAtTheBottomHasItsLowerRows() {
        let maker = BMPMaker(24, width: 8, height: 10)
        let cut = decode(Array(maker.file.dropLast(24 * 3 + 1)), keepsWhole: false)
        #expect(cut.error?.code == .truncatedData && cut.rows == 10)
        let black = [[UInt8]](repeating: [0, 0, 0, 255], count: 8 * 4).flatMap { $0 }
        #expect(cut.pixels == Pixels(black + maker.shown.suffix(8 * 6 * 4)))
    }

    @Test func impossibleHeadersAreRefused() {
        func changed(_ offset: Int, _ values: [UInt8]) -> WebImageError.Code? {
            var bytes = BMPMaker(24).file
            bytes.replaceSubrange(offset..<offset + values.count, with: values)
            return decode(bytes).error?.code
        }
        #expect(changed(14, [13, 0, 0, 0]) == .corruptData || changed(14, [13, 0, 0, 0]) == .unknownFormat)
        #expect(changed(18, [0, 0, 0, 0]) == .corruptData)
        #expect(changed(18, [0, 0, 0, 0x80]) == .corruptData)
        #expect(changed(18, [0xFF, 0xFF, 0xFF, 0x7F]) == .limitExceeded)
        #expect(changed(22, [0, 0, 0, 0x80]) == .limitExceeded)
        #expect(changed(28, [7, 0]) == .corruptData)
        #expect(changed(30, [1, 0, 0, 0]) == .corruptData)
        #expect(changed(30, [4, 0, 0, 0]) == .unsupportedFeature)
        #expect(changed(10, [0xFF, 0xFF, 0xFF, 0xFF]) == .truncatedData)
    }

    @Test func theHeaderIsThereBeforeThePalette() throws {
        let bytes = BMPMaker(8).file
        let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
        let state = try bytes[..<54].withUnsafeBytes { (bytes) throws(WebImageError) in try decoder.push(bytes) }
        #expect(decoder.header?.size == PixelSize(width: 5, height: 4))
        guard case .stoppedAtHeader = state else {
            Issue.record("\(state)")
            return
        }
    }
}

@Suite struct BMPEncodeTests {
    @Test(arguments: [1, 2, 3, 4, 7, 31])
    func anEncodedPictureDecodesToTheSamePixels(width: Int) throws {
        for alpha in [AlphaMode.opaque, .straight] {
            let image = try Drawings.picture(width, 9, alpha: alpha)
            let bytes = try BMPCoder().encode(image, as: .bmp, EncodeOptions())
            #expect(ImageFormat(sniffing: bytes) == .bmp)
            let result = decode(bytes)
            #expect(result.error == nil && result.pixels == image.bytes)
            #expect(result.header?.hasAlpha == (alpha == .straight))
        }
    }

    @Test func pixelsAreWrittenStraightUprightAndInEightBits() throws {
        let wide = try Drawings.picture(6, 4, layout: .rgba16)
        let narrow = try Drawings.picture(6, 4)
        let bytes = try BMPCoder().encode(wide, as: .bmp, EncodeOptions())
        #expect(decode(bytes).pixels.meanDifference(to: narrow.bytes) <= 1)
        let turned = narrow.with { $0.orientation = .left }
        let header = decode(try BMPCoder().encode(turned, as: .bmp, EncodeOptions())).header
        #expect(header?.size == PixelSize(width: 4, height: 6) && header?.orientation == .up)
        let premultiplied = try Drawings.picture(12, 9, alpha: .premultiplied)
        let straight = try PNGCoder().encode(premultiplied, as: .png, EncodeOptions())
        let result = decode(try BMPCoder().encode(premultiplied, as: .bmp, EncodeOptions()))
        #expect(result.pixels.meanDifference(to: decode(straight).pixels) < 1)
    }

    @Test(arguments: [false, true], [1, 7, Int.max])
    func aPictureInWhichNothingIsVisibleIsOpaque(isTopDown: Bool, length: Int) throws {
        func pixels(_ bytes: [UInt8]) -> [UInt8] { decode(bytes, keepsWhole: false) { length }.pixels.bytes }
        func alphas(_ bytes: [UInt8]) -> [UInt8] {
            pixels(bytes).enumerated().filter { $0.offset % 4 == 3 }.map(\.element)
        }
        let image = try Drawings.picture(5, 4, alpha: .straight)
        var bytes = try BMPCoder().encode(image, as: .bmp, EncodeOptions())
        // A negative height.
        if isTopDown { bytes.replaceSubrange(22..<26, with: [0xFC, 0xFF, 0xFF, 0xFF]) }
        let visible = pixels(bytes)
        for index in stride(from: bytes.count - 77, to: bytes.count, by: 4) { bytes[index] = 0 }
        let opaque = pixels(bytes)
        #expect(opaque == visible.enumerated().map { $0.offset % 4 == 3 ? 255 : $0.element } && opaque.count == 80)
        // What is there of a truncated file is judged alone; in a file that begins at the bottom, the rest is transparent.
        let truncated = alphas(Array(bytes.dropLast(20)))
        #expect(truncated.filter { $0 == 255 }.count == 15 && truncated.count == (isTopDown ? 15 : 20))
        // One pixel is enough for the file's alpha to count.
        bytes[bytes.count - 1] = 7
        #expect(alphas(bytes).sorted() == [UInt8](repeating: 0, count: 19) + [7])
    }

    @Test func otherFormatsAreRefused() throws {
        let image = try Drawings.picture(2, 2)
        let error = #expect(throws: WebImageError.self) {
            try BMPCoder().encode(image, as: .png, EncodeOptions())
        }
        #expect(error?.code == .cannotEncode)
    }
}
