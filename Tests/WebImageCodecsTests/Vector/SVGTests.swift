#if SVG
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    @Suite struct SVGTests {
        @Test(arguments: [
            ("width='40' height='30'", 40, 30), ("width='40px' height='30px' viewBox='0 0 400 400'", 40, 30),
            ("width='1in' height='25.4mm'", 96, 96), ("width='72pt' height='6pc'", 96, 96),
            ("viewBox='0 0 24 12'", 24, 12), ("width='100%' height='100%' viewBox='5 5 60 20'", 60, 20),
            ("width='50' viewBox='0 0 100 40'", 50, 20), ("height='50' viewBox='0 0 100 40'", 125, 50),
            ("", 300, 150), ("width='70'", 70, 150), ("width='20.4' height='20.5'", 20, 21),
            ("width='0.2' height='3'", 1, 3),
        ])
        func theNaturalSizeIsWhatTheRootElementSays(_ attributes: String, _ width: Int, _ height: Int) throws {
            let header = try CoderRegistry.standard.readHeader(of: Drawn.svg(attributes, ""))
            #expect(header.size == PixelSize(width: width, height: height))
            #expect(header.format == .svg && header.isVector && header.hasAlpha && header.frameCount == 1)
        }

        @Test func coloursAndAlphaAreStraight() throws {
            let shapes = """
                <rect width='2' height='4' fill='#ff8040'/>
                <rect x='2' width='2' height='2' fill='#ff8040' fill-opacity='.5'/>
                """
            let result = CoderDecode(SVGCoder(), Drawn.svg("width='4' height='4'", shapes))
            #expect(result.error == nil && result.format?.alpha == .straight)
            #expect(result.pixel(0, 0) == [255, 128, 64, 255] && result.pixel(1, 3) == [255, 128, 64, 255])
            let half = result.pixel(3, 1)
            #expect(half[3] == 128 && zip(half, [255, 128, 64]).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(half)")
            #expect(result.pixel(3, 3) == [0, 0, 0, 0])
        }

        @Test func shapesAreDrawnSharpAtTheSizeAsked() throws {
            let bytes = Drawn.svg("width='8' height='8'", "<rect x='2' y='2' width='3' height='4' fill='#00f'/>")
            let all = VectorRaster(
                part: PixelRect(x: 0, y: 0, width: 8, height: 8), size: .init(width: 800, height: 800))
            let result = CoderDecode(SVGCoder(), bytes, raster: all)
            #expect(result.error == nil && result.format?.size == all.size)
            // An enlarged bitmap would have soft edges; this drawing has none.
            var inside = 0
            for y in 0..<800 {
                for x in 0..<800 {
                    let isBlue = (200..<500).contains(x) && (200..<600).contains(y)
                    inside += result.pixel(x, y) == (isBlue ? [0, 0, 255, 255] : [0, 0, 0, 0]) ? 1 : 0
                }
            }
            #expect(inside == 640_000)
        }

        @Test func aPartIsStretchedToTheSize() throws {
            // The aspect ratio is the responsibility of the pipeline, not of the document.
            let bytes = Drawn.svg(
                "viewBox='0 0 10 10' preserveAspectRatio='xMidYMid meet'",
                "<rect width='10' height='10' fill='red'/><rect x='5' width='5' height='5' fill='lime'/>")
            let right = VectorRaster(
                part: PixelRect(x: 5, y: 0, width: 5, height: 10), size: .init(width: 30, height: 8))
            let result = CoderDecode(SVGCoder(), bytes, raster: right)
            #expect(result.pixel(0, 0) == [0, 255, 0, 255] && result.pixel(29, 3) == [0, 255, 0, 255])
            #expect(result.pixel(0, 4) == [255, 0, 0, 255] && result.pixel(29, 7) == [255, 0, 0, 255])
        }

        @Test func piecesAndPackingGiveTheSamePixels() throws {
            let bytes = Drawn.svg("width='64' height='40'", Drawn.shapes)
            let whole = CoderDecode(SVGCoder(), bytes)
            #expect(whole.error == nil && whole.pixels.bytes.contains(255))
            let pieces = CoderDecode(SVGCoder(), bytes, length: randomLengths(seed: 4, most: 30))
            #expect(pieces.error == nil && pieces.pixels == whole.pixels)
            let packed = DeflateWriter.gzip(bytes)
            #expect(ImageFormat(sniffing: packed) == .svgz)
            let unpacked = CoderDecode(SVGCoder(), packed, length: randomLengths(seed: 5, most: 30))
            #expect(unpacked.error == nil && unpacked.pixels == whole.pixels && unpacked.header?.format == .svgz)
        }

        @Test func textInUTF16IsRead() throws {
            let text = Drawn.svg("width='3' height='3'", "<rect width='3' height='3' fill='red'/>")
            let result = CoderDecode(SVGCoder(), [0xFF, 0xFE] + text.flatMap { [$0, 0] })
            #expect(result.error == nil && result.pixel(1, 1) == [255, 0, 0, 255])
        }

        @Test func aDocumentMayBeOnOneThreadWhileAnotherIsDrawn() async throws {
            let bytes = Drawn.svg("width='64' height='40'", Drawn.shapes)
            let expected = CoderDecode(SVGCoder(), bytes).pixels
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 { group.addTask { CoderDecode(SVGCoder(), bytes).pixels == expected } }
                for await isSame in group { #expect(isSame) }
            }
        }

        @Test func aPlanWithoutASinkStopsAtTheHeader() throws {
            let bytes = Drawn.svg("width='1000000' height='1000000'", Drawn.shapes)
            let result = CoderDecode(SVGCoder(), bytes, wantsRows: false)
            #expect(result.error == nil && result.format == nil)
            #expect(result.header?.size == PixelSize(width: 1_000_000, height: 1_000_000))
        }

        @Test func theCheckpointEndsADecode() throws {
            let bytes = Drawn.svg("width='40' height='130'", Drawn.shapes)
            let calls = Counter()
            let options = DecodeOptions { () throws(WebImageError) in
                if calls.next() == 6 { throw WebImageError(.cancelled, "enough") }
            }
            let result = CoderDecode(SVGCoder(), bytes, options: options)
            #expect(result.error?.code == .cancelled && result.pixels.count < 130 * 40 * 4)
        }
    }

    /// SVG documents for tests.
    enum Drawn {
        static let shapes = """
            <defs><linearGradient id='g'><stop offset='0' stop-color='red'/><stop offset='1' stop-color='blue'/>
            </linearGradient><g id='dot'><circle r='4' fill='url(#g)' fill-opacity='.7'/></g></defs>
            <rect width='64' height='20' fill='url(#g)'/><use href='#dot' x='9' y='25'/>
            <path d='M5 5 L 60 35 L 10 30 Z' stroke='#123' fill='none' stroke-width='1.5' opacity='.5'/>
            """

        static func svg(_ attributes: String, _ content: String, before: String = "") -> [UInt8] {
            let names = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
            return Array("\(before)<svg \(names) \(attributes)>\(content)</svg>".utf8)
        }
    }
#endif
#if SVG || PDF
    extension CoderDecode {
        /// Red, green, blue and alpha of a pixel; empty outside of the picture.
        func pixel(_ x: Int, _ y: Int) -> [UInt8] {
            let at = (y * (format?.size.width ?? 0) + x) * 4
            return at + 4 <= pixels.count ? Array(pixels.bytes[at..<at + 4]) : []
        }
    }
#endif
