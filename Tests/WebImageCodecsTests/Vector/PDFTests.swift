#if PDF
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite struct PDFTests {
        @Test func theFirstPageIsDrawnOnWhitePaper() throws {
            let result = CoderDecode(PDFCoder(), PDFMaker(pages: 2).file(), length: randomLengths(seed: 6, most: 40))
            let header = try #require(result.header)
            #expect(result.error == nil && header.size == PixelSize(width: 20, height: 10))
            #expect(header.format == .pdf && header.isVector && header.frameCount == 2 && !header.hasAlpha)
            #expect(result.format?.alpha == .opaque)
            // The origin of a page is its lower left corner.
            #expect(result.pixel(1, 8) == [255, 0, 0, 255] && result.pixel(4, 5) == [255, 0, 0, 255])
            #expect(result.pixel(5, 8) == [255, 255, 255, 255] && result.pixel(1, 4) == [255, 255, 255, 255])
        }

        @Test func shapesAreDrawnSharpAtTheSizeAsked() throws {
            let all = VectorRaster(
                part: PixelRect(x: 0, y: 0, width: 20, height: 10), size: .init(width: 400, height: 100))
            let result = CoderDecode(PDFCoder(), PDFMaker().file(), raster: all)
            #expect(result.error == nil && result.format?.size == all.size)
            var right = 0
            for y in 0..<100 {
                for x in 0..<400 {
                    let isRed = x < 100 && y >= 50
                    right += result.pixel(x, y) == (isRed ? [255, 0, 0, 255] : [255, 255, 255, 255]) ? 1 : 0
                }
            }
            #expect(right == 40_000)
        }

        @Test func aTurnedPageIsUpright() throws {
            let result = CoderDecode(PDFCoder(), PDFMaker(page: "/Rotate 90").file())
            #expect(result.header?.size == PixelSize(width: 10, height: 20) && result.error == nil)
            #expect(result.pixel(1, 1) == [255, 0, 0, 255] && result.pixel(8, 18) == [255, 255, 255, 255])
        }

        @Test func encryptedEmptyAndCutFilesGiveATypedError() throws {
            let encrypted = PDFMaker(isEncrypted: true).file()
            #expect(CoderDecode(PDFCoder(), encrypted).error?.code == .unsupportedFeature)
            #expect(CoderDecode(PDFCoder(), PDFMaker(pages: 0).file()).error?.code == .corruptData)
            #expect(CoderDecode(PDFCoder(), Array("%PDF-1.4\nnothing\n%%EOF".utf8)).error?.code == .corruptData)
            #expect(CoderDecode(PDFCoder(), []).error?.code == .truncatedData)
            let cut = Array(PDFMaker().file().prefix(60))
            #expect(CoderDecode(PDFCoder(), cut).error?.code == .truncatedData)
        }

        @Test func limitsAreLookedAtBeforeADrawing() throws {
            let bytes = PDFMaker().file()
            for limits in [DecodeLimits(pixels: 199), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
                let result = CoderDecode(PDFCoder(), bytes, options: DecodeOptions(limits: limits))
                #expect(result.error?.code == .limitExceeded && result.format == nil)
            }
            let huge = PDFMaker(width: 200_000).file()
            #expect(CoderDecode(PDFCoder(), huge).error?.code == .limitExceeded)
            let header = CoderDecode(PDFCoder(), huge, wantsRows: false)
            #expect(header.error == nil && header.header?.size == PixelSize(width: 200_000, height: 10))
        }

        @Test func theCheckpointEndsADecode() throws {
            let calls = Counter()
            let options = DecodeOptions { () throws(WebImageError) in
                if calls.next() == 4 { throw WebImageError(.cancelled, "enough") }
            }
            #expect(CoderDecode(PDFCoder(), PDFMaker().file(), options: options).error?.code == .cancelled)
        }

        @Test func flippedBitsGiveATypedAnswer() throws {
            var generator = SeededGenerator(seed: 12)
            let bytes = PDFMaker().file()
            let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16))
            var failures = 0
            for _ in 0..<300 {
                guard let error = CoderDecode(PDFCoder(), bytes.damaged(by: &generator), options: options).error
                else { continue }
                failures += 1
                #expect(typedCodes.contains(error.code), "\(error)")
            }
            #expect(failures > 5 && failures < 300)
        }
    }

    /// Makes PDF files whose pages have a red rectangle in the lower left corner.
    struct PDFMaker {
        var pages = 1
        var width = 20
        /// Additional entries of each page's dictionary.
        var page = ""
        var isEncrypted = false

        func file() -> [UInt8] {
            let kids = (0..<pages).map { "\($0 + 4) 0 R" }.joined(separator: " ")
            let content = "1 0 0 rg 0 0 5 5 re f"
            var objects = [
                "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [\(kids)] /Count \(pages) >>",
                "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
            ]
            for _ in 0..<pages {
                objects.append(
                    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 \(width) 10] /Contents 3 0 R \(page) >>")
            }
            var text = "%PDF-1.4\n"
            var places: [Int] = []
            for (index, object) in objects.enumerated() {
                places.append(text.utf8.count)
                text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
            }
            let table = text.utf8.count
            text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
            for place in places { text += "\(String("0000000000\(place)".suffix(10))) 00000 n \n" }
            let key = String(repeating: "ab", count: 32)
            let lock =
                isEncrypted
                ? "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <\(key)> /U <\(key)> >> /ID [<\(key)> <\(key)>]"
                : ""
            text += "trailer << /Size \(objects.count + 1) /Root 1 0 R \(lock) >>\nstartxref\n\(table)\n%%EOF\n"
            return Array(text.utf8)
        }
    }
#endif
