#if SVG && PDF
    import Testing
    import WebImageCore
    import WebImageTesting

    @testable import WebImageCodecs

    /// Small documents that are costly to draw. `webimage-bench documents` draws them at 4096 by 4096, in processes of
    /// their own.
    @Suite struct CostlyDocumentTests {
        /// Drawing these takes minutes, whatever the size of the canvas. They would hold up all other drawings of this
        /// process.
        private static let endless: Set<String> = [
            "pdf tiles of a thousandth", "pdf overlapping tiles", "pdf groups of four groups", "pdf forms of ten forms",
            "pdf a million fills", "pdf 5000 shadings", "pdf 2000 times a bitmap",
        ]

        private func decode(_ document: CostlyDocument, side: Int) -> CoderDecode {
            decode(document.format, document.bytes, side: side)
        }

        private func decode(_ format: ImageFormat, _ bytes: [UInt8], side: Int) -> CoderDecode {
            let coder: any ImageCoder = format == .pdf ? PDFCoder() : SVGCoder()
            let part = PixelRect(PixelSize(width: 1000, height: 1000))
            let raster = VectorRaster(part: part, size: PixelSize(width: side, height: side))
            return CoderDecode(coder, bytes, raster: raster)
        }

        @Test(arguments: CostlyDocument.all.filter { !endless.contains($0.name) })
        func thereIsAPictureOrATypedError(_ document: CostlyDocument) throws {
            let result = decode(document, side: 64)
            if let error = result.error {
                #expect([.limitExceeded, .corruptData, .unsupportedFeature].contains(error.code), "\(error)")
            } else {
                let (size, count) = (result.format?.size, result.pixels.count)
                #expect(size == PixelSize(width: 64, height: 64) && count == 64 * 64 * 4)
            }
        }

        /// A cost that is visible in the document is refused before the library sees the document.
        @Test(arguments: [
            "svg a kernel of 99 a side", "svg 40 floods that are kept", "svg 2000 blurs", "svg a window of 1000",
            "svg feTurbulence numOctaves=256000000", "svg feMorphology radius=1e30", "svg uses of ten uses",
            "svg symbols of ten symbols", "svg markers of markers", "svg 60 masks within each other",
            "svg 200 groups with opacity", "svg a font of 1e9", "svg dashes of a curve", "pdf a million saved states",
            "pdf a bitmap of 60 000 a side", "pdf a bitmap of 2 billion a side", "pdf dashes of 5000 curves",
        ])
        func visiblyCostlyDocumentsAreRefusedBeforeDrawing(_ name: String) throws {
            let document = try #require(CostlyDocument.all.first { $0.name == name })
            let error = decode(document, side: 4096).error
            #expect(error?.code == .limitExceeded && error?.message.contains("took longer") == false, "\(error as Any)")
        }

        /// Ordinary documents are still drawn, also at large sizes.
        @Test(arguments: [
            "<filter id='f'><feGaussianBlur stdDeviation='4'/></filter><rect width='900' height='900' filter='url(#f)'/>",
            "<filter id='f'><feDropShadow dx='4' dy='4' stdDeviation='3'/></filter><circle r='400' filter='url(#f)'/>",
            "<rect width='900' height='900' style='filter:drop-shadow(3px 3px 3px black)' opacity='.5'/>",
            "<mask id='m'><rect width='900' height='900' fill='white'/></mask><rect width='999' height='999' mask='url(#m)'/>",
            "<pattern id='p' width='.1' height='.1'><circle r='9'/></pattern><rect width='999' height='999' fill='url(#p)'/>",
            "<path d='M0 0L999 999' stroke='red' stroke-width='9' stroke-dasharray='5 3'/>",
            "<g opacity='.5'><g opacity='.5'><text y='500' font-size='300'>WebImage</text></g></g>",
        ])
        func ordinaryDocumentsAreDrawnAtLargeSizes(_ content: String) throws {
            let bytes = Drawn.svg("width='1000' height='1000' viewBox='0 0 1000 1000'", content)
            let result = decode(.svg, bytes, side: 2048)
            let (error, count) = (result.error, result.pixels.count)
            #expect(error == nil && count == 2048 * 2048 * 4)
        }

        /// Operators are distinguished from text that only looks like them.
        @Test func operatorsOfAPageAreRead() {
            func read(_ content: String) -> PDFOperators {
                var content = content
                return content.withUTF8 { PDFOperators(UnsafeRawBufferPointer($0)) }
            }
            let path = read(
                "q q Q q 10 20 m 13 24 l 0 0 1 1 1 2 c % 9 9 l\n(S) /S <53> 1 2 3 4 re [3 5] 0 d S 1 1 m 2 2 l S")
            #expect(path.saved == 2 && path.points == 14 && path.dash == 4)
            #expect(path.length == 7 + 37 + 2 + 1 + 14)
            let hidden = read("0 0 m (a\\)S( b) S) 9 0 l BI /W 1 ID S S\u{1}S EI 9 9 l -.5 -1.5 l")
            #expect(hidden.points == 4 && hidden.length == 9 + 9 + 9.5 + 10.5 && hidden.dash == .infinity)
            for broken in ["(", "<", "[", "/", "-", ".", "ID", "BI ID E", "%", "\\", "1 2 m (((", "<<"] {
                #expect(read(broken).points <= 1)
            }
        }
    }
#endif
