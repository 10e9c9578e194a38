#if TIFF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// Reading and writing the pages of a TIFF.
    @Suite struct TIFFPageTests {
        private static func error(_ body: () throws -> Void) -> WebImageError? {
            do {
                try body()
                return nil
            } catch { return error as? WebImageError }
        }

        /// Three pages that differ in every property that pages can differ in.
        private static func makers(isBig: Bool = false) -> [TIFFMaker] {
            var makers = [
                TIFFMaker.random(21, 7, seed: 1), TIFFMaker.random(5, 40, photometric: 1, samples: 1, seed: 2),
                TIFFMaker.random(9, 9, samples: 4, depth: 16, seed: 3),
            ]
            makers[1].orientation = 6
            makers[2].extraSample = 2
            for index in makers.indices { makers[index].isBig = isBig }
            return makers
        }

        @Test(arguments: [false, true])
        func pagesInAnyOrderDecodeLikeSeparateFiles(isBig: Bool) throws {
            let makers = Self.makers(isBig: isBig)
            let options = DecodeOptions(keepsBitDepth: true)
            let reader = try TIFFPageReader(TIFFMaker.pages(makers), options)
            #expect(reader.pageCount == 3)
            for index in [2, 0, 1, 2, 1] {
                let page = try reader.readPage(index)
                let alone = try CoderRegistry.standard.decode(makers[index].file(), options).image
                #expect(page.size == alone.size && page.bytes == alone.bytes)
                #expect(page.layout == alone.layout && page.alpha == alone.alpha)
                #expect(page.info.orientation == alone.info.orientation && page.info.header?.frameCount == 3)
            }
        }

        /// Each page of a long file was once decoded from all bytes of the file, which took 54 s for 6000 pages.
        @Test(arguments: [false, true], [false, true])
        func anExcerptOfOnePageDecodesLikeThatPage(isBig: Bool, isTiled: Bool) throws {
            var makers = Self.makers(isBig: isBig)
            if isTiled { makers[0].tile = 16 }
            for index in makers.indices { makers[index].isPlanar = isTiled && index == 2 }
            let options = DecodeOptions(keepsBitDepth: true)
            let bytes = TIFFMaker.pages(makers)
            let excerpts = TIFFExcerpts(bytes, limit: 10, metadataLimit: 1000)
            let reader = try TIFFPageReader(bytes, options)
            for index in makers.indices {
                let file = try #require(excerpts.file(ofPage: index))
                #expect(file.count < bytes.count)
                let (alone, page) = (
                    try CoderRegistry.standard.decode(file, options).image, try reader.readPage(index)
                )
                #expect(alone.size == page.size && alone.bytes == page.bytes && alone.layout == page.layout)
                #expect(alone.alpha == page.alpha && alone.info.orientation == page.info.orientation)
            }
            #expect(excerpts.file(ofPage: 3) == nil && excerpts.file(ofPage: -1) == nil)
        }

        @Test func noFileIsMadeOfAPageThatIsDamagedOrWouldBecomeLonger() throws {
            var makers = Self.makers()
            for index in makers.indices { makers[index].isDataLast = true }
            let bytes = TIFFMaker.pages(makers)
            for length in 0..<bytes.count {
                let cut = TIFFExcerpts(Array(bytes.prefix(length)), limit: 10, metadataLimit: 1000)
                #expect(cut.file(ofPage: 2) == nil)
            }
            // A last page whose stated length is one byte too long is refused, too.
            makers[2].excess = 1
            #expect(TIFFExcerpts(TIFFMaker.pages(makers), limit: 10, metadataLimit: 1000).file(ofPage: 2) == nil)
            makers[0].excess = -1
            #expect(TIFFExcerpts(TIFFMaker.pages(makers), limit: 10, metadataLimit: 1000).file(ofPage: 0) == nil)
        }

        @Test(arguments: [ImageFormat.tiff, .bigTIFF])
        func pagesKeepTheirSizesLayoutsAndOrientations(_ format: ImageFormat) throws {
            let options = DecodeOptions(keepsBitDepth: true)
            let reader = try TIFFPageReader(TIFFMaker.pages(Self.makers()), options)
            let encoder = try CoderRegistry.standard.pageEncoder(for: format)
            for index in 0..<3 { try encoder.add(try reader.readPage(index)) }
            let written = try TIFFPageReader(try encoder.finish(), options)
            #expect(written.pageCount == 3)
            for index in 0..<3 {
                let (page, original) = (try written.readPage(index), try reader.readPage(index))
                #expect(page.size == original.size && page.layout == original.layout && page.alpha == original.alpha)
                #expect(page.info.orientation == original.info.orientation && page.bytes == original.bytes)
                #expect(page.info.header?.colorModel == original.info.header?.colorModel)
            }
        }

        @Test func aFormatWithoutPagesIsRefused() {
            #expect(Self.error { _ = try CoderRegistry.standard.pageEncoder(for: .png) }?.code == .cannotEncode)
            let none = Self.error { _ = try CoderRegistry.standard.pageEncoder(for: .tiff).finish() }
            #expect(none?.code == .cannotEncode)
        }

        @Test func pagesInACircleAreRefused() throws {
            for target in 0..<3 {
                let bytes = TIFFMaker.pages(Self.makers(), last: target)
                #expect(Self.error { _ = try TIFFPageReader(bytes) }?.code == .corruptData)
                // The picture itself can still be decoded.
                #expect(decode(bytes).error == nil && decode(bytes).header?.frameCount == 3)
            }
        }

        @Test func everyPageIsHeldAgainstTheLimits() throws {
            let bytes = TIFFMaker.pages(Self.makers())
            let reader = try TIFFPageReader(bytes, DecodeOptions(limits: DecodeLimits(pixels: 150)))
            #expect(try reader.readPage(0).size == PixelSize(width: 21, height: 7))
            #expect(Self.error { _ = try reader.readPage(1) }?.code == .limitExceeded)
            #expect(try reader.readPage(2).size == PixelSize(width: 9, height: 9))
            for limits in [DecodeLimits(frames: 2), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
                #expect(
                    Self.error { _ = try TIFFPageReader(bytes, DecodeOptions(limits: limits)) }?.code == .limitExceeded)
            }
            #expect(try TIFFPageReader(bytes, DecodeOptions(limits: DecodeLimits(frames: 3))).pageCount == 3)
        }

        @Test func everyCutGivesATypedAnswerOfEveryPage() throws {
            let bytes = TIFFMaker.pages(Self.makers())
            let typed: Set<WebImageError.Code> = [.truncatedData, .corruptData]
            for length in 0..<bytes.count {
                let failure = Self.error {
                    let reader = try TIFFPageReader(Array(bytes.prefix(length)))
                    for index in 0..<reader.pageCount { _ = try reader.readPage(index) }
                }
                if let failure { #expect(typed.contains(failure.code), "at \(length): \(failure)") }
            }
        }

        @Test(.enabled(if: Corpus.isAvailable)) func theCorpussPagesAreRedGreenAndBlue() throws {
            let reader = try TIFFPageReader(try #require(Corpus.read("formats/multipage.tiff")))
            let colors = try (0..<reader.pageCount).map { Array(try reader.readPage($0).bytes.bytes.prefix(4)) }
            #expect(colors == [[0, 128, 0, 255], [255, 0, 0, 255], [0, 0, 255, 255]])
        }
    }
#endif
