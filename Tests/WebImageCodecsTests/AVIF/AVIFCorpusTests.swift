#if AVIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite(.enabled(if: Corpus.isAvailable)) struct AVIFCorpusTests {
        static var rows: [CorpusRow] { Corpus.rows.filter { $0.format.hasPrefix("avif") } }
        /// libavif before 1.0 does not find alpha that belongs to the cells of a grid: that picture is decoded as
        /// opaque.
        static var whole: [CorpusRow] {
            rows.filter { $0.expected == "ok" && !$0.path.hasSuffix("/color_grid_alpha_nogrid.avif") }
        }

        @Test(arguments: whole)
        func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let result = CoderDecode(AVIFCoder(), bytes)
            #expect(result.error == nil)
            let header = try #require(result.header)
            #expect(header.size == PixelSize(width: row.width, height: row.height))
            #expect(Int(header.orientation.rawValue) == row.orientation)
            #expect(header.hasAlpha == row.hasAlpha)
            #expect(header.format.rawValue == row.format)
            #expect(header.frameCount == row.frames)
            if let count = row.profileCount { #expect(header.iccProfile?.count == count) }
            let means = result.means
            #expect(row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }, "\(means)")
        }

        @Test(arguments: whole.filter { $0.byteCount < 100_000 })
        func piecesGiveTheSamePixelsAndTheHeaderIsEarly(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let whole = CoderDecode(AVIFCoder(), bytes)
            let pieces = CoderDecode(AVIFCoder(), bytes, length: randomLengths(seed: 5, most: 2000))
            #expect(pieces.error == nil && pieces.pixels == whole.pixels)
            // The tables of a sequence may be at the end of the file.
            guard row.format == "avif" else { return }
            #expect(pieces.wasComplete)
            #expect(try #require(pieces.headerAt) <= 8192 + (row.profileCount ?? 0) * 2)
        }

        @Test(arguments: rows.filter { $0.expected != "ok" })
        func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let error = try #require(CoderDecode(AVIFCoder(), bytes).error)
            #expect(typedCodes.contains(error.code))
            if row.path.contains("truncated") { #expect(error.code == .truncatedData) }
            if row.path.contains("17000") { #expect(error.code == .limitExceeded) }
        }

        @Test func framesOverTheLimitAreRefusedBehindTheOthers() throws {
            let bytes = try #require(Corpus.read("animated/star.avifs"))
            for (frames, code) in [(0, WebImageError.Code.limitExceeded), (4, .limitExceeded), (5, nil)] {
                let options = DecodeOptions(limits: DecodeLimits(frames: frames))
                let decoder = try #require(try AVIFCoder().makeAnimationDecoder(.avifSequence, options))
                var error: WebImageError?
                do throws(WebImageError) {
                    try decoder.push(file: bytes)
                    try decoder.finish()
                } catch let fault { error = fault }
                #expect(error?.code == code && decoder.storedDelays.count == frames)
                for index in 0..<frames { _ = try decoder.frame(at: index) }
            }
        }

        @Test func deepPicturesKeepTheirDepth() throws {
            let path = "formats/fox.profile2.12bpc.yuv422.odd-width.odd-height.avif"
            let bytes = try #require(Corpus.read(path))
            let row = try #require(Self.rows.first { $0.path == path })
            let result = CoderDecode(AVIFCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil && result.header?.bitDepth == 12 && result.format?.layout == .rgba16)
            #expect(zip(row.accepted[0], result.means).allSatisfy { abs($0 - $1) <= 2 })
        }
    }
#endif
