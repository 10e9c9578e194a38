#if TIFF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite(.enabled(if: Corpus.isAvailable)) struct TIFFCorpusTests {
        private static let rows = Corpus.rows.filter { ["tiff", "bigtiff"].contains($0.format) }

        @Test(arguments: rows.filter { $0.expected == "ok" })
        func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let whole = decode(bytes)
            #expect(whole.error == nil)
            let header = try #require(whole.header)
            #expect(header.size == PixelSize(width: row.width, height: row.height))
            #expect(Int(header.orientation.rawValue) == row.orientation)
            #expect(header.hasAlpha == row.hasAlpha && header.format.rawValue == row.format)
            #expect(header.frameCount == (row.path.contains("multipage") ? 3 : 1))
            let means = whole.pixels.premultipliedMeans
            let fits = row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
            #expect(fits, "\(means) is none of \(row.accepted)")
            let pieces = decode(bytes, keepsWhole: false, length: randomLengths(seed: 3, most: row.byteCount / 3))
            #expect(pieces.error == nil && pieces.pixels == whole.pixels)
        }

        @Test(arguments: rows.filter { $0.expected != "ok" })
        func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let error = try #require(decode(bytes).error)
            #expect([.corruptData, .truncatedData, .unsupportedFeature].contains(error.code), "\(error)")
        }

        @Test(arguments: rows.filter { $0.expected == "ok" && $0.byteCount < 100_000 })
        func flippedBitsGiveATypedAnswer(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let typed: Set<WebImageError.Code> = [
                .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded, .unknownFormat, .formatNotBuilt,
            ]
            var generator = SeededGenerator(seed: 5)
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 18))
            // The tags may be at either end of the file.
            let ends = Array(0..<min(300, bytes.count)) + Array(max(0, bytes.count - 300)..<bytes.count)
            for round in 0..<150 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place =
                        round % 3 == 0
                        ? Int.random(in: 0..<bytes.count, using: &generator)
                        : ends.randomElement(using: &generator) ?? 0
                    damaged[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                }
                if let error = decode(damaged, keepsWhole: false, options: options).error {
                    #expect(typed.contains(error.code), "\(error)")
                }
            }
        }
    }
#endif
