#if SVG && PDF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite(.enabled(if: Corpus.isAvailable)) struct VectorCorpusTests {
        private static let rows = Corpus.rows.filter { ["svg", "svgz", "pdf"].contains($0.format) }

        @Test(arguments: rows.filter { $0.expected == "ok" })
        func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let coder: any ImageCoder = row.format == "pdf" ? PDFCoder() : SVGCoder()
            let whole = CoderDecode(coder, bytes)
            #expect(whole.error == nil)
            let header = try #require(whole.header)
            #expect(header.size == PixelSize(width: row.width, height: row.height))
            #expect(header.format.rawValue == row.format && header.isVector)
            // The reference has an alpha channel for PDF, in which the paper is opaque.
            #expect(header.hasAlpha == (row.format != "pdf"))
            let means = whole.means
            let fits = row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
            #expect(fits, "\(means) is none of \(row.accepted)")
            let pieces = CoderDecode(coder, bytes, length: randomLengths(seed: 3, most: row.byteCount / 3))
            #expect(pieces.error == nil && pieces.pixels == whole.pixels)
        }

        @Test(arguments: rows.filter { $0.expected != "ok" })
        func hostileFilesAreRefused(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let error = try #require(CoderDecode(SVGCoder(), bytes).error)
            #expect(typedCodes.contains(error.code), "\(error)")
        }

        @Test(arguments: rows.filter { $0.expected == "ok" })
        func flippedBitsGiveATypedAnswer(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let coder: any ImageCoder = row.format == "pdf" ? PDFCoder() : SVGCoder()
            var generator = SeededGenerator(seed: 5)
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16))
            let small = VectorRaster(
                part: PixelRect(PixelSize(width: row.width, height: row.height)), size: .init(width: 60, height: 60))
            for _ in 0..<100 {
                let damaged = bytes.damaged(by: &generator)
                if let error = CoderDecode(coder, damaged, options: options, raster: small).error {
                    #expect(typedCodes.contains(error.code), "\(error)")
                }
            }
        }
    }
#endif
