#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite(.enabled(if: Corpus.isAvailable)) struct HEIFCorpusTests {
        static var rows: [CorpusRow] { Corpus.rows.filter { $0.format == "heif" } }
        static var whole: [CorpusRow] { rows.filter { $0.expected == "ok" } }

        @Test(arguments: whole)
        func thePictureIsAsTheManifestSays(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let result = CoderDecode(HEIFCoder(), bytes)
            #expect(result.error == nil)
            let header = try #require(result.header)
            #expect(header.storedSize == PixelSize(width: row.width, height: row.height))
            #expect(header.displaySize == row.displaySize && result.format?.size == header.size)
            #expect(Int(header.orientation.rawValue) == row.orientation)
            #expect(header.hasAlpha == row.hasAlpha)
            #expect(header.format == ImageFormat(sniffing: bytes))
            #expect(header.frameCount == row.frames)
            if let count = row.profileCount { #expect(header.iccProfile?.count == count) }
            let means = result.means
            #expect(row.accepted.contains { zip($0, means).allSatisfy { abs($0 - $1) <= 2 } }, "\(means)")
        }

        @Test(arguments: whole.filter { $0.byteCount < 50_000 })
        func piecesGiveTheSamePixels(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let whole = CoderDecode(HEIFCoder(), bytes)
            let pieces = CoderDecode(HEIFCoder(), bytes, length: randomLengths(seed: 5, most: 2000))
            #expect(pieces.error == nil && pieces.pixels == whole.pixels && whole.pixels.count > 0)
        }

        @Test(arguments: rows.filter { $0.expected != "ok" })
        func damagedFilesGiveATypedAnswer(_ row: CorpusRow) throws {
            let bytes = try #require(Corpus.read(row.path))
            let result = CoderDecode(HEIFCoder(), bytes)
            #expect(result.error != nil || row.expected == "partial")
            if let error = result.error { #expect(typedCodes.contains(error.code), "\(error)") }
            if row.path.contains("60pct") { #expect(result.error?.code == .truncatedData) }
        }

        @Test(arguments: ["formats/gradient-10b-displayp3-alpha.heic", "formats/RGB_10__128x128.heif"])
        func deepPicturesKeepTheirDepth(_ path: String) throws {
            let bytes = try #require(Corpus.read(path))
            let row = try #require(Self.rows.first { $0.path == path })
            let result = CoderDecode(HEIFCoder(), bytes, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil && result.header?.bitDepth == 10 && result.format?.layout == .rgba16)
            #expect(zip(row.accepted[0], result.means).allSatisfy { abs($0 - $1) <= 2 })
        }

        @Test func theHeaderIsThereAfterTheFirstBytes() throws {
            let bytes = try #require(Corpus.read("photos/arrow-12mp.heic"))
            let result = CoderDecode(HEIFCoder(), bytes, wantsRows: false, length: { 1000 })
            #expect(result.error == nil && result.headerAt.map { $0 < 20_000 } == true)
        }

        @Test(arguments: ["photos/arrow-12mp.heic", "orientation/irot-imir-6.heic"])
        func exifIsReadWithoutChangingTheOrientation(_ path: String) throws {
            let bytes = try #require(Corpus.read(path))
            let row = try #require(Self.rows.first { $0.path == path })
            let header = try #require(CoderDecode(HEIFCoder(), bytes).header)
            #expect(header.metadata.exif.flatMap { EXIFBlock($0) } != nil)
            #expect(Int(header.orientation.rawValue) == row.orientation)
        }

        @Test func theRowsOfTilesThatAreThereAreGiven() throws {
            let bytes = try #require(Corpus.read("photos/arrow-12mp.heic"))
            let cut = CoderDecode(HEIFCoder(), Array(bytes.prefix(bytes.count / 3)))
            let size = try #require(cut.header?.size)
            let rows = cut.pixels.count / (size.width * 4)
            #expect(cut.error?.code == .truncatedData && rows >= 512 && rows < size.height)
        }

        @Test(arguments: ["formats/gradient-10b-displayp3-alpha.heic", "formats/RGBA_8__128x128.heif"])
        func everyCutIsTruncated(_ path: String) throws {
            let bytes = try #require(Corpus.read(path))
            for length in stride(from: 0, to: bytes.count, by: bytes.count < 2000 ? 1 : 37) {
                let cut = CoderDecode(HEIFCoder(), Array(bytes.prefix(length)))
                #expect(cut.error?.code == .truncatedData, "at \(length): \(String(describing: cut.error))")
            }
        }

        @Test(arguments: [
            "formats/gradient-10b-displayp3-alpha.heic", "formats/L_8__29x100.heif", "formats/rainbow-451x461.heic",
        ])
        func flippedBitsGiveATypedAnswer(_ path: String) throws {
            let bytes = try #require(Corpus.read(path))
            var generator = SeededGenerator(seed: 3)
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 20))
            var failures = 0
            for _ in 0..<150 {
                let result = CoderDecode(HEIFCoder(), bytes.damaged(by: &generator), options: options)
                guard let error = result.error else { continue }
                failures += 1
                #expect(typedCodes.contains(error.code), "\(error)")
            }
            #expect(failures > 5)
        }

        @Test func limitsAreLookedAtBeforeADecode() throws {
            let bytes = try #require(Corpus.read("formats/RGB_8__128x128.heif"))
            for limits in [DecodeLimits(pixels: 16_383), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
                let result = CoderDecode(HEIFCoder(), bytes, options: DecodeOptions(limits: limits))
                #expect(result.error?.code == .limitExceeded && result.format == nil)
            }
            let exact = DecodeLimits(pixels: 16_384, bytes: ByteCount(bytes.count))
            #expect(CoderDecode(HEIFCoder(), bytes, options: DecodeOptions(limits: exact)).error == nil)
            #expect(CoderDecode(HEIFCoder(), bytes, wantsRows: false).error == nil)
        }
    }

    @Suite struct HEIFSequenceTests {
        /// libheif 1.15 reads no sequences. The error says so, instead of calling the file damaged.
        @Test(arguments: ["hevc", "msf1"]) func aSequenceWithoutAStillIsAnUnsupportedFeature(_ brand: String) {
            let type = box("ftyp", Array("\(brand)\0\0\0\0msf1hevc".utf8))
            let file = type + box("moov", box("mvhd", [UInt8](repeating: 0, count: 100))) + box("mdat", [1, 2, 3])
            for bytes in [file, type + box("meta", [0, 0, 0, 0]) + file.dropFirst(type.count)] {
                let result = CoderDecode(HEIFCoder(), bytes)
                #expect(result.error?.code == .unsupportedFeature && result.format == nil)
            }
        }

        private func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let length = content.count + 8
            return [0, 0, UInt8(length >> 8), UInt8(length & 255)] + Array(name.utf8) + content
        }
    }

    @Suite struct ItemFrameTests {
        @Test func aCropAfterATurnIsOfTheTurnedPicture() {
            // After the turn the picture is 40 wide and 60 high. Its upper left 30 by 20 pixels are kept.
            for (turns, axis) in [(0, nil), (1, nil), (2, nil), (3, nil), (0, 1), (1, 1), (2, 0), (3, 0)]
                as [(Int, Int?)]
            {
                var frame = ItemFrame(
                    turns % 2 == 0 ? PixelSize(width: 40, height: 60) : PixelSize(width: 60, height: 40))
                let size = frame.size
                frame.turn(turns)
                if let axis { frame.mirror(axis: axis) }
                frame.crop(width: (30, 1), height: (20, 1), x: (-5, 1), y: (-20, 1))
                #expect(frame.transforms.orientation.displaySize(of: frame.size) == PixelSize(width: 30, height: 20))
                // The stored corner that is shown at the upper left.
                let orientation = frame.transforms.orientation
                let corners: [Orientation: (left: Bool, top: Bool)] = [
                    .up: (true, true), .upMirrored: (false, true), .down: (false, false), .downMirrored: (true, false),
                    .leftMirrored: (true, true), .right: (true, false), .rightMirrored: (false, false),
                    .left: (false, true),
                ]
                let corner = corners[orientation]
                #expect((frame.columns.lowerBound == 0) == corner?.left, "\(orientation)")
                #expect((frame.columns.upperBound == size.width) == (corner?.left == false), "\(orientation)")
                #expect((frame.rows.lowerBound == 0) == corner?.top, "\(orientation)")
            }
        }

        @Test func aCropOutsideThePictureIsIgnored() {
            for numbers in [
                (0, 1, 0, 1), (5, 0, 0, 1), (5, 1, 0, 0), (11, 1, 0, 1), (5, 1, 9, 1), (5, 1, -9, 1), (-5, 1, 0, 1),
            ] {
                var frame = ItemFrame(PixelSize(width: 10, height: 10))
                frame.crop(
                    width: (numbers.0, numbers.1), height: (10, 1), x: (numbers.2, numbers.3), y: (0, 1))
                #expect(frame == ItemFrame(PixelSize(width: 10, height: 10)), "\(numbers)")
            }
        }
    }

    @Suite struct ItemTransformsTests {
        @Test func turnsAndMirroringsCancelInTheirOrder() {
            for orientation in Orientation.allCases {
                var transforms = ItemTransforms(orientation)
                #expect(transforms.orientation == orientation)
                for _ in 0..<4 { transforms.turn(1) }
                for axis in [0, 0, 1, 1] { transforms.mirror(axis: axis) }
                #expect(transforms.orientation == orientation)
            }
        }

        @Test func aTurnAfterAMirroringIsNotTheSameAsBefore() {
            var (before, after) = (ItemTransforms(), ItemTransforms())
            before.turn(1)
            before.mirror(axis: 1)
            after.mirror(axis: 1)
            after.turn(1)
            #expect(before.orientation == .rightMirrored && after.orientation == .leftMirrored)
        }
    }
#endif
