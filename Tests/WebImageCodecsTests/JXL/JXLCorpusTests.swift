#if JXL
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    @Suite(.enabled(if: Corpus.isAvailable)) struct JXLCorpusTests {
        private static let rows = Corpus.rows.filter { $0.format == "jxl" }

        @Test(arguments: rows.filter { $0.expected == "ok" })
        func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let whole = decode(bytes)
            #expect(whole.error == nil)
            let header = try #require(whole.header)
            #expect(header.size == PixelSize(width: row.width, height: row.height))
            #expect(Int(header.orientation.rawValue) == row.orientation)
            // The animations have alpha, although every pixel is opaque.
            #expect(header.hasAlpha == row.hasAlpha && header.format == .jxl)
            #expect(row.path.hasPrefix("animated/") ? header.loopCount == 0 : header.frameCount == 1)
            // The manifest's decoders return this lossy picture in linear light, because its profile has no name. We
            // return it with sRGB's curve, for which 8 bits are enough.
            let isLinear = row.path.hasSuffix("conf-grayscale.jxl")
            let means = (isLinear ? whole.pixels.linear : whole.pixels).premultipliedMeans
            let fits = row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }
            #expect(fits, "\(means) is none of \(row.accepted)")
        }

        @Test(arguments: rows.filter { $0.expected == "ok" })
        func piecesGiveTheSamePixels(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let whole = decode(bytes)
            let most = row.byteCount < 10_000 ? max(row.byteCount / 8, 2) : row.byteCount / 6
            let pieces = decode(
                bytes, keepsWhole: false, previewEvery: 5, length: randomLengths(seed: 3, most: most))
            // In a file with boxes, EXIF or XMP may follow the picture, so that only the end of the file completes it.
            let isBoxed = bytes.starts(with: [0, 0, 0, 12])
            #expect(pieces.error == nil && (pieces.wasComplete || isBoxed))
            #expect(pieces.pixels == whole.pixels)
        }

        @Test func aCutPhotoIsShownAsFarAsItIsThere() throws {
            let bytes = try #require(Corpus.read("malformed/truncated-50pct.jxl"))
            let cut = decode(bytes)
            #expect(cut.error?.code == .truncatedData)
            #expect(cut.header?.size == PixelSize(width: 640, height: 360))
            #expect(cut.rows == 360)
        }
    }

    extension Pixels {
        /// The same pixels, converted from sRGB's curve to linear light.
        fileprivate var linear: Pixels {
            let table = (0..<256).map { value -> UInt8 in
                let light = Double(value) / 255
                let linear = light <= 0.04045 ? light / 12.92 : pow((light + 0.055) / 1.055, 2.4)
                return UInt8((linear * 255).rounded())
            }
            return Pixels(bytes.enumerated().map { $0.offset % 4 == 3 ? $0.element : table[Int($0.element)] })
        }
    }
#endif
