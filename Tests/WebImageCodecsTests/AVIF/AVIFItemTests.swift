#if AVIF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// Crops, orientations and thumbnails that are stated in a file's boxes.
    @Suite(.enabled(if: !AVIFCoder().encodableFormats.isEmpty)) struct AVIFItemTests {
        private static let size = PixelSize(width: 67, height: 141)

        /// A file with these pictures. By a reference, the second can be a thumbnail of the first.
        private func file(
            _ images: [Image], chroma: ChromaSubsampling = .yuv420, properties more: [[UInt8]] = [],
            references: [(type: String, from: Int, to: [Int])] = []
        ) throws -> [UInt8] {
            var items: [HEIFMaker.Item] = []
            var properties: [[UInt8]] = []
            for (index, image) in images.enumerated() {
                var options = EncodeOptions(quality: 95)
                options.chroma = chroma
                let encoded = try AVIFCoder().encode(image, as: .avif, options)
                properties.append(HEIFMaker.size(image.size.width, image.size.height))
                properties.append(try #require(Self.box("av1C", in: encoded)))
                items.append(
                    HEIFMaker.Item(
                        id: index + 1, type: "av01", properties: [2 * index + 1, 2 * index + 2],
                        data: Array(try #require(Self.box("mdat", in: encoded)).dropFirst(8))))
            }
            for (index, property) in more.enumerated() {
                properties.append(property)
                items[0].properties.append(2 * images.count + 1 + index)
            }
            return HEIFMaker.file(items: items, properties: properties, references: references, brand: "avif")
        }

        private static func box(_ type: String, in bytes: [UInt8]) -> [UInt8]? {
            let name = Array(type.utf8)
            guard let at = (4...bytes.count - 4).first(where: { Array(bytes[$0..<$0 + 4]) == name }) else { return nil }
            let length = bytes[at - 4..<at].reduce(0) { $0 << 8 | Int($1) }
            return Array(bytes[at - 4..<at - 4 + length])
        }

        private func cropped(_ whole: CoderDecode, _ columns: Range<Int>, _ rows: Range<Int>) -> [UInt8] {
            rows.flatMap { row in
                let start = row * Self.size.width
                return whole.pixels.bytes[(start + columns.lowerBound) * 4..<(start + columns.upperBound) * 4]
            }
        }

        @Test(arguments: [ChromaSubsampling.yuv420, .yuv444])
        func aCropGivesThatPartOfThePicture(_ chroma: ChromaSubsampling) throws {
            let image = try Drawings.picture(Self.size.width, Self.size.height)
            let whole = CoderDecode(AVIFCoder(), try file([image], chroma: chroma))
            try #require(whole.error == nil && whole.header?.size == Self.size)
            #expect(whole.header?.sizeBeforeCrop == nil)
            // Crops of all but an edge, with odd and even starts, of more rows than a band has, and of single pixels.
            for (columns, rows) in [
                (0..<67, 0..<140), (1..<67, 1..<141), (2..<40, 64..<128), (3..<10, 33..<140), (66..<67, 140..<141),
                (5..<6, 0..<141),
            ] {
                let twice = (columns.lowerBound + columns.upperBound - 67, rows.lowerBound + rows.upperBound - 141)
                let clap = HEIFMaker.crop(
                    width: columns.count, height: rows.count, twiceX: twice.0, twiceY: twice.1)
                let bytes = try file([image], chroma: chroma, properties: [clap])
                let part = CoderDecode(AVIFCoder(), bytes, length: randomLengths(seed: 1, most: 400))
                try #require(part.error == nil)
                #expect(part.header?.size == PixelSize(width: columns.count, height: rows.count))
                #expect(part.header?.sizeBeforeCrop == Self.size)
                #expect(part.pixels.bytes == cropped(whole, columns, rows), "\(columns) \(rows)")
                let decoder = try #require(try AVIFCoder().makeAnimationDecoder(.avifSequence, DecodeOptions()))
                try bytes.withUnsafeBytes { try decoder.push($0) }
                try decoder.finish()
                let frame = try decoder.frame(at: 0)
                #expect(frame.withBytes { Array($0) } == cropped(whole, columns, rows), "\(columns) \(rows)")
            }
        }

        @Test func aCropThatIsNoPartIsNotLookedAt() throws {
            let image = try Drawings.picture(Self.size.width, Self.size.height)
            for clap in [
                HEIFMaker.crop(width: 68, height: 10, twiceX: 0, twiceY: 0),
                HEIFMaker.crop(width: 10, height: 10, twiceX: 1000, twiceY: 0),
                HEIFMaker.crop(width: 0, height: 10, twiceX: 0, twiceY: 0),
            ] {
                let result = CoderDecode(AVIFCoder(), try file([image], properties: [clap]))
                #expect(result.error == nil && result.header?.size == Self.size)
                #expect(result.header?.sizeBeforeCrop == nil)
            }
        }

        @Test func thePixelLimitCountsTheUncroppedPicture() throws {
            let image = try Drawings.picture(Self.size.width, Self.size.height)
            let clap = HEIFMaker.crop(width: 3, height: 3, twiceX: 0, twiceY: 0)
            let options = DecodeOptions(limits: DecodeLimits(pixels: 67 * 141 - 1))
            let result = CoderDecode(AVIFCoder(), try file([image], properties: [clap]), options: options)
            #expect(result.error?.code == .limitExceeded)
        }

        @Test func theThumbnailIsDecodedOnRequest() throws {
            let images = [try Drawings.picture(200, 120), try Drawings.picture(50, 30), try Drawings.picture(20, 12)]
            let copies = [(type: "thmb", from: 2, to: [1]), (type: "thmb", from: 3, to: [1])]
            var wanted = DecodeOptions()
            wanted.usesEmbeddedThumbnail = true
            let bytes = try file(images, references: copies)
            let whole = CoderDecode(AVIFCoder(), bytes)
            #expect(whole.error == nil && whole.header?.size == images[0].size)
            // The largest thumbnail is decoded, from the whole file and in pieces.
            let small = CoderDecode(AVIFCoder(), bytes, options: wanted)
            #expect(small.error == nil && small.header?.size == images[1].size)
            #expect(small.pixels == CoderDecode(AVIFCoder(), try file([images[1]])).pixels)
            let pieces = CoderDecode(AVIFCoder(), bytes, options: wanted, length: randomLengths(seed: 3, most: 90))
            #expect(pieces.error == nil && pieces.pixels == small.pixels)
            // Without a thumbnail the picture itself is decoded. A thumbnail that is cut off is an error.
            let plain = CoderDecode(AVIFCoder(), try file([images[0]]), options: wanted)
            #expect(plain.error == nil && plain.header?.size == images[0].size)
            let cut = CoderDecode(AVIFCoder(), Array(bytes.prefix(600)), options: wanted)
            #expect(cut.error?.code == .truncatedData)
        }
    }
#endif
